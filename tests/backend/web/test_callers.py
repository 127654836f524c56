"""Names of callers where they are shown, such as the history of an alias."""

import contextvars

import pytest
from arcadia.version import user_agent
from starlette.requests import Request

from arcadia_backend.database.scope import MAX_CALLER_LENGTH, NOBODY, Scope, current
from arcadia_backend.web.security import address_of, client_of

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def named(agent: str | None, name: str = "") -> str:
    """Return the name of a caller from 10.0.0.5 with this User-Agent header, and of a person."""
    headers = [] if agent is None else [(b"user-agent", agent.encode("latin-1"))]
    request = Request({"type": "http", "headers": headers, "client": ("10.0.0.5", 5000)})
    client, user = client_of(request)
    return Scope(everything=True, name=name, address=address_of(request), client=client, user=user).caller


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
def test_a_caller_is_named_by_the_headers(agent: str | None, expected: str) -> None:
    assert named(agent) == expected


def test_a_person_is_named_by_the_account() -> None:
    assert named(user_agent("CLI", "root@gpu-box"), "Ana") == "Ana (CLI)"
    assert len(named(FIREFOX, "x" * 200)) == MAX_CALLER_LENGTH


def test_a_caller_without_an_address_is_named_by_the_client() -> None:
    assert Scope(everything=True, client="browser").caller == "browser"


@pytest.mark.parametrize("user", ["<b>ana</b>", "a\tb", "é", "x" * 500, "ana; root"])
def test_odd_names_are_not_shown(user: str) -> None:
    assert named(f"arcadia-client/1 (CLI; {user}) Python/3") == "10.0.0.5 (API)"


def test_code_that_names_no_actor_acts_as_nobody() -> None:
    assert contextvars.Context().run(current) is NOBODY
