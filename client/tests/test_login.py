"""The polls of `arcadia login`, and where the token is stored."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import httpx
import pytest
from arcadia import settings
from arcadia._sync.client import Client
from arcadia.cli import login
from arcadia.errors import ArcadiaError
from fake_server import URL, FakeServer

POLL = "/session/device/token"
STARTED = {"secret": "s", "interval": 5}


def refusal(kind: str) -> httpx.Response:
    """Return the answer to a poll."""
    return httpx.Response(400, json={"detail": "The message.", "type": f"/problems/{kind}"})


def collect(monkeypatch: pytest.MonkeyPatch, answers: list[Any]) -> tuple[Any, list[float]]:
    """Poll a server with these answers. Return the result, and the pauses before each poll."""
    pauses: list[float] = []
    monkeypatch.setattr("arcadia.cli.login.time.sleep", pauses.append)
    with Client(URL, transport=FakeServer({POLL: answers}).transport) as client:
        return login._collect(client, STARTED), pauses


def test_each_early_poll_slows_down(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [refusal("authorization-pending"), refusal("slow-down"), refusal("slow-down"), {"secret": "arcadia_x"}]
    token, pauses = collect(monkeypatch, answers)
    assert token == {"secret": "arcadia_x"}
    assert pauses == [5, 5, 10, 15]


@pytest.mark.parametrize("kind", ["access-denied", "expired-token"])
def test_a_login_that_never_succeeds_ends(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    with pytest.raises(ArcadiaError, match=r"Not signed in\. The message\."):
        collect(monkeypatch, [refusal(kind)])


class Ring:
    """A keyring in memory."""

    def __init__(self, priority: float = 5, *, loses: bool = False, error: Exception | None = None) -> None:
        self.priority, self._loses, self._error = priority, loses, error
        self.passwords: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        """Return a password, or fail as a locked keyring."""
        if self._error is not None:
            raise self._error
        return self.passwords.get((service, name))

    def set_password(self, service: str, name: str, password: str) -> None:
        """Store a password, unless this keyring loses all."""
        if not self._loses:
            self.passwords[service, name] = password

    def delete_password(self, service: str, name: str) -> None:
        """Delete a password."""
        del self.passwords[service, name]


@pytest.fixture
def use_ring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return a function that makes a keyring the one of this machine."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("ARCADIA_TOKEN", raising=False)

    def use(ring: Ring) -> Ring:
        fail, null = (type("Keyring", (Ring,), {}) for _ in range(2))
        chosen = fail(0) if ring.priority == 0 else ring
        modules = {"keyring": types.ModuleType("keyring"), "keyring.backends": types.ModuleType("keyring.backends")}
        modules["keyring"].get_keyring = lambda: chosen  # type: ignore[attr-defined]
        modules["keyring.backends"].fail = types.SimpleNamespace(Keyring=fail)  # type: ignore[attr-defined]
        modules["keyring.backends"].null = types.SimpleNamespace(Keyring=null)  # type: ignore[attr-defined]
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, module)
        return ring

    return use


def test_the_keyring_stores_tokens_by_the_url(use_ring: Any) -> None:
    ring = use_ring(Ring())
    assert settings.store_login(URL, "secret") == "the keyring"
    assert ring.passwords == {("arcadia", URL): "secret"}
    assert "secret" not in settings.config_file().read_text()
    assert settings.resolve_token(URL) == "secret"
    assert settings.resolve_token("http://other.test") is None
    settings.delete_login(URL)
    assert ring.passwords == {}
    assert settings.resolve_token(URL) is None


@pytest.mark.parametrize(
    "ring", [Ring(0), Ring(loses=True), Ring(error=RuntimeError("locked"))], ids=["none", "loses", "locked"]
)
def test_a_keyring_that_stores_nothing_is_not_used(use_ring: Any, ring: Ring) -> None:
    use_ring(ring)
    assert settings.store_login(URL, "secret") == str(settings.config_file())
    assert json.loads(settings.config_file().read_text())["tokens"] == {URL: "secret"}
    assert settings.config_file().stat().st_mode & 0o777 == 0o600
    assert settings.resolve_token(URL) == "secret"
    settings.delete_login(URL)
    assert settings.resolve_token(URL) is None
