"""The principal of a request: what the guard has checked, and how it is named where it is shown."""

import asyncio
from types import SimpleNamespace

import pytest
from arcadia.version import user_agent
from starlette.requests import Request
from starlette.websockets import WebSocket

from arcadia_backend.config import API, COOKIE, Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.web.security import MAX_CALLER_LENGTH, Principal, guard, guard_socket, identify
from arcadia_backend.web.sessions import SessionStore, WrongTokenLimit, proof_of
from arcadia_workers.contract.live import ticket

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
TOKEN, WORKER_TOKEN = "user-secret", "worker-secret"


def scope_of(path: str, headers: dict[str, str], token: str, sessions: SessionStore | None = None) -> dict[str, object]:
    """Return the scope of a request from 10.0.0.5 to a server with this user token."""
    state = SimpleNamespace(
        settings=Settings.model_validate({"token": token, "worker_token": WORKER_TOKEN}),
        sessions=sessions,
        user_token_limit=WrongTokenLimit(),
        worker_token_limit=WrongTokenLimit("wrong worker token"),
        installation="here",
    )
    sent = [(name.encode(), text.encode("latin-1")) for name, text in headers.items()]
    app = SimpleNamespace(state=state)
    return {
        "type": "http",
        "path": path,
        "headers": sent,
        "client": ("10.0.0.5", 5000),
        "query_string": b"",
        "app": app,
    }


def caller(path: str = f"{API}/runs", token: str = "", **headers: str) -> Principal:
    """Return the principal that the guard finds."""
    return asyncio.run(guard(Request(scope_of(path, headers, token))))


def named(agent: str | None) -> str:
    """Return the name of a caller with this User-Agent header."""
    return str(caller(**({} if agent is None else {"user-agent": agent})))


def test_a_principal_has_the_kind_of_the_checked_credential() -> None:
    assert caller().kind == "owner"
    assert caller(token=TOKEN, authorization=f"Bearer {TOKEN}").kind == "token"
    assert caller(f"{API}/worker/claim", authorization=f"Bearer {WORKER_TOKEN}").kind == "worker"
    assert caller(f"{API}/health", TOKEN).kind == caller(f"{API}/shared/x", TOKEN).kind == "nobody"


def test_a_signed_in_browser_is_its_session(database: Database) -> None:
    sessions, proof = SessionStore(database), proof_of("c", TOKEN)
    sessions.add(proof)
    for cookie, expected in (("c", ("session", proof)), ("d", ("nobody", None))):
        found = asyncio.run(identify(Request(scope_of("/", {"cookie": f"{COOKIE}={cookie}"}, TOKEN, sessions))))
        assert (found.kind, found.session) == expected


def test_the_process_of_a_live_game_is_its_job() -> None:
    async def no_message(*_: object) -> None:
        raise AssertionError

    scope = scope_of(f"{API}/worker/jobs/7/live", {"authorization": f"Bearer {ticket(WORKER_TOKEN, 7, 2)}"}, TOKEN)
    socket = WebSocket({**scope, "type": "websocket", "query_string": b"attempt=2"}, no_message, no_message)  # type: ignore[arg-type]
    assert asyncio.run(guard_socket(socket)).kind == "job"


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (FIREFOX, "10.0.0.5 (browser)"),
        (user_agent("CLI", "ana@gpu-box"), "ana@gpu-box (CLI)"),
        (user_agent("Python client", "ana@gpu-box"), "ana@gpu-box (Python client)"),
        (user_agent("MCP"), "10.0.0.5 (MCP)"),
        (user_agent(), "10.0.0.5 (API)"),
        ("curl/8.5.0", "10.0.0.5 (API)"),
        ("", "10.0.0.5 (API)"),
        (None, "10.0.0.5 (API)"),
    ],
)
def test_a_principal_is_named_by_the_headers(agent: str | None, expected: str) -> None:
    assert named(agent) == expected


def test_a_principal_without_an_address_is_named_by_its_client() -> None:
    assert str(Principal("owner", client="browser")) == "browser"


@pytest.mark.parametrize("user", ["<b>ana</b>", "a\tb", "é", "x" * 500, "ana; root"])
def test_odd_names_are_not_shown(user: str) -> None:
    found = named(f"arcadia-client/1 (CLI; {user}) Python/3")
    assert found == "10.0.0.5 (API)"
    assert len(found) <= MAX_CALLER_LENGTH
