"""Addresses that a server must not connect to on behalf of its users."""

import socket
from ipaddress import ip_address
from typing import Any

import pytest

from arcadia_backend.alerts.addresses import BlockedError, is_public, resolve

PRIVATE = """127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 100.100.100.200 0.0.0.0 224.0.0.1
255.255.255.255 240.0.0.1 168.63.129.16 192.0.2.1 ::1 :: fe80::1 fd00:ec2::254 fc00::1 ff02::1 ::ffff:127.0.0.1
::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 2002:7f00:1:: 2001:db8::1
fec0::1 feff::1 3fff::1 3fff:fff::1 192.88.99.1 192.88.99.254 198.18.0.1 198.51.100.1 203.0.113.1 192.0.0.8 192.0.0.192
2002:101:101:: 2002:a00:1:: 2001::1 2001:0:a00:1::1 ::10.0.0.1 ::1.1.1.1 ::ffff:0:10.0.0.1 64:ff9b:1::a00:1 100::1
2001:2::1 2001:10::1 2001:20::1 5f00::1 4000::1 e000::1 fe80::1%eth0""".split()
PUBLIC = "1.1.1.1 93.184.215.14 2606:4700:4700::1111 ::ffff:1.1.1.1 64:ff9b::101:101".split()


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_address_is_found(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_allowed(address: str) -> None:
    assert is_public(ip_address(address))


def found(*hosts: str) -> list[Any]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 443)) for host in hosts]


def test_a_name_with_one_private_address_is_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_more: found("1.1.1.1", "10.0.0.7"))
    with pytest.raises(BlockedError, match=r"example\.org has the private address 10\.0\.0\.7"):
        resolve("example.org", 443, allow_private=False)
    assert resolve("example.org", 443, allow_private=True) == ["1.1.1.1", "10.0.0.7"]


@pytest.mark.parametrize("host", ["0x7f000001", "2130706433", "127.1", "localhost"])
def test_other_spellings_of_a_loopback_address_are_blocked(host: str) -> None:
    with pytest.raises(BlockedError, match=r"127\.0\.0\.1|::1"):
        resolve(host, 80, allow_private=False)
