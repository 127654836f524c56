"""Checks of webhook addresses: valid ones, and those to which a server may connect (docs/decisions/0065-alerts.md)."""

import ipaddress
import socket
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Networks that are not public, in all versions of Python.
DENIED = tuple(
    map(
        ipaddress.ip_network,
        (
            # Clouds use this public address for services of their own hosts.
            "168.63.129.16/32",
            # Addresses of protocols.
            "192.0.0.0/24",
            # Relays of 6to4, which is no longer in use. Its IPv6 addresses contain any IPv4 address.
            "192.88.99.0/24",
            "2002::/16",
            # Teredo, whose addresses contain the IPv4 addresses of a server and a client.
            "2001::/32",
            # NAT64 in local networks.
            "64:ff9b:1::/48",
            # IPv4-compatible and IPv4-translated addresses, ORCHID, and the former site-local addresses.
            "::/96",
            "::ffff:0:0:0/96",
            "2001:10::/28",
            "2001:20::/28",
            "fec0::/10",
            # Benchmarks, documentation, segment routing and addresses that are to be discarded.
            "2001:2::/48",
            "2001:db8::/32",
            "3fff::/20",
            "5f00::/16",
            "100::/64",
        ),
    )
)
# IPv6 addresses that contain an IPv4 address in their last 32 bits: NAT64, whose routers connect to that address.
NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Everything that is assigned to the public internet. The rest of IPv6 is reserved.
GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")


class BlockedError(Exception):
    """The address is private, or belongs to this host or its network."""


def check_webhook_url(url: str) -> None:
    """Raise ValueError if the URL of a webhook is invalid."""
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("must be ASCII; write other characters percent-encoded, and a host name in Punycode")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("is not a valid address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("must be an address such as https://example.org/hook")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not contain a user name or a password")


def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """Return the addresses of a host. Raise BlockedError if one is not public, and OSError if there are none.

    Connect to a returned address rather than to the name, which could resolve to another address next time.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(place[0]) for *_, place in found]
    if not allow_private and (blocked := [each for each in addresses if not is_public(ipaddress.ip_address(each))]):
        fact = "is a private address" if host == blocked[0] else f"has the private address {blocked[0]}"
        raise BlockedError(f"{host} {fact}. Set ARCADIA_ALERTS_PRIVATE=1 on the server to allow it.")
    return list(dict.fromkeys(addresses))


def is_public(address: Address) -> bool:
    """Return True for an address of the public internet."""
    inner = _embedded(address)
    if inner is not None:
        return is_public(inner)
    is_special = address.is_multicast or address.is_unspecified or address.is_reserved
    is_denied = any(address in network for network in DENIED)
    is_assigned = address.version == 4 or address in GLOBAL_UNICAST
    return address.is_global and is_assigned and not is_special and not is_denied


def _embedded(address: Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped
