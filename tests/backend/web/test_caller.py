"""The caller of a request, from its headers."""

import pytest
from arcadia.version import user_agent
from starlette.requests import Request

from backend.web.idempotency import MAX_LENGTH, describe_caller

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def described(agent: str | None, host: str | None = "10.0.0.5") -> str:
    """Return the caller of a request with this User-Agent header."""
    headers = [] if agent is None else [(b"user-agent", agent.encode("latin-1"))]
    return describe_caller(Request({"type": "http", "headers": headers, "client": host and (host, 5000)}))


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
def test_a_caller_is_named_by_its_headers(agent: str | None, expected: str) -> None:
    assert described(agent) == expected


def test_a_caller_without_an_address_has_a_kind() -> None:
    assert described(FIREFOX, None) == "browser"


@pytest.mark.parametrize("user", ["<b>ana</b>", "a\tb", "é", "x" * 500, "ana; root"])
def test_odd_names_are_not_shown(user: str) -> None:
    found = described(f"arcadia-client/1 (CLI; {user}) Python/3")
    assert found == "10.0.0.5 (API)"
    assert len(found) <= MAX_LENGTH
