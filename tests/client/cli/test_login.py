"""`arcadia login` and `logout` at a server with accounts: the code, the browser's answer, and the stored token."""

import io
import json
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.accounts.signing_in import API, PASSWORD, address
from tests.client.cli.conftest import Arcadia
from tests.installation import Installation, PreparedBackend
from tests.workers.waiting import PATIENCE_SECONDS


class NoPipe(io.StringIO):
    """The standard input of a terminal, from which nothing is read."""

    def isatty(self) -> bool:
        """Return True, as for a terminal."""
        return True


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation with accounts."""
    with Installation(tmp_path_factory.mktemp("accounts"), PreparedBackend, lease_seconds=3_600) as installation:
        yield installation


@pytest.fixture(scope="module")
def ana(shared: Installation) -> Iterator[httpx.Client]:
    """Yield the browser of the first person."""
    url = f"http://127.0.0.1:{shared.port}"
    with httpx.Client(base_url=url, timeout=PATIENCE_SECONDS, trust_env=False) as browser:
        body = {"name": "Ana", "email": address("Ana"), "password": PASSWORD}
        browser.post(f"{API}/people/first", json=body).raise_for_status()
        yield browser


@pytest.fixture
def environment(environment: dict[str, str]) -> dict[str, str]:
    """Return the variables of a user who has set neither URL nor token."""
    return {**environment, "ARCADIA_TOKEN": "", "ARCADIA_URL": ""}


@pytest.fixture
def server(ana: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the URL of the server with accounts, for a user without a keyring."""
    monkeypatch.setattr("arcadia.settings._keyring", lambda: None)
    monkeypatch.setattr("sys.stdin", NoPipe())
    return str(ana.base_url).rstrip("/")


@pytest.fixture
def answer(
    ana: httpx.Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """Return a function that lets Ana answer when the command begins to wait. It returns the opened addresses."""

    def prepare(action: str, **body: object) -> list[str]:
        opened: list[str] = []

        def open_browser(url: str) -> bool:
            opened.append(url)
            return True

        def answer_instead_of_waiting(_seconds: float) -> None:
            shown = capsys.readouterr().err
            code = re.search(r"confirm this code: (\S+)", shown)
            assert code is not None, shown
            ana.post(f"{API}/account/device/{action}", json={"code": code[1], **body}).raise_for_status()

        monkeypatch.setattr("webbrowser.open", open_browser)
        monkeypatch.setattr("arcadia.cli.login.time.sleep", answer_instead_of_waiting)
        return opened

    return prepare


def test_a_confirmed_login_serves_all_commands_until_the_logout(
    arcadia: Arcadia, answer: Callable[..., list[str]], server: str, ana: httpx.Client, tmp_path: Path
) -> None:
    opened = answer("confirm", scopes=["read", "write"], days=1)
    signed_in = arcadia("login", server, "--name", "laptop", "--scope", "read", "--scope", "log")
    assert (signed_in.status, signed_in.err) == (0, "")
    stored = tmp_path / "arcadia" / "client.json"
    assert signed_in.out == f"Signed in to {server} as Ana. The token is in {stored}.\n"
    [page] = opened
    assert re.fullmatch(re.escape(server) + r"/device#[A-Z]{4}-[A-Z]{4}", page)
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    [listed] = ana.get(f"{API}/tokens").json()
    assert (listed["name"], listed["scopes"], listed["last_used_at"]) == ("laptop", ["read"], None)
    # Neither an option nor a variable names the server or the token.
    assert arcadia("runs").status == 0
    assert arcadia("projects", "create", "x").err.startswith("arcadia: This token lacks the scope write.")
    out = arcadia("logout").out
    assert out == f"Signed out of {server}.\n"
    assert json.loads(stored.read_text()) == {"tokens": {}}
    [revoked] = ana.get(f"{API}/tokens").json()
    assert revoked["revoked_at"] is not None
    assert "No token" in arcadia("logout", server).err


def test_a_refused_login_stores_nothing(
    arcadia: Arcadia, answer: Callable[..., list[str]], server: str, tmp_path: Path
) -> None:
    opened = answer("refuse")
    refused = arcadia("login", server, "--no-browser")
    assert (refused.status, refused.err) == (1, "arcadia: Not signed in. This login was refused.\n")
    assert opened == []
    assert not (tmp_path / "arcadia" / "client.json").exists()


def test_a_logout_deletes_the_token_even_if_the_server_is_away(
    arcadia: Arcadia, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcadia._sync.transport.FIRST_PAUSE_SECONDS", 0.001)
    stored = tmp_path / "arcadia" / "client.json"
    stored.parent.mkdir()
    stored.write_text(json.dumps({"url": server, "tokens": {"http://127.0.0.1:1": "old", server: "other"}}))
    failed = arcadia("logout", "http://127.0.0.1:1")
    assert failed.status == 1
    assert "Revoke it at http://127.0.0.1:1/settings/tokens" in failed.err
    assert json.loads(stored.read_text()) == {"url": server, "tokens": {server: "other"}}


def test_a_logout_everywhere_revokes_all_tokens(
    arcadia: Arcadia, server: str, ana: httpx.Client, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    for scopes, status in ((["read"], 1), (["read", "write"], 0)):
        created = ana.post(f"{API}/tokens", json={"name": "one", "scopes": scopes}).json()
        file.write_text(created["secret"])
        assert arcadia("login", server, "--token-file", file).status == 0
        done = arcadia("logout", "--everywhere")
        assert (done.status, "scope write" in done.err) == (status, status == 1)
    assert {token["revoked_at"] is None for token in ana.get(f"{API}/tokens").json()} == {False}


def test_a_given_token_is_checked_and_stored(arcadia: Arcadia, server: str, ana: httpx.Client, tmp_path: Path) -> None:
    created = ana.post(f"{API}/tokens", json={"name": "given", "scopes": ["read"]}).json()
    file = tmp_path / "token"
    file.write_text("arcadia_invented")
    refused = arcadia("login", server, "--token-file", file).err
    assert "rejects this token" in refused
    assert "Create one in the settings." in refused
    file.write_text(created["secret"])
    assert arcadia("login", server, "--token-file", file).status == 0
    assert arcadia("runs").status == 0
