"""Requests: retries, idempotency, errors, paging and headers."""

from __future__ import annotations

import asyncio
import getpass
import re
from pathlib import Path

import httpx
import pytest
from arcadia import (
    ArcadiaError,
    AsyncClient,
    Client,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    ServerUnreachableError,
    UnauthorizedError,
    settings,
)
from arcadia._async import transport as async_transport
from arcadia._sync import transport as sync_transport
from fake_server import URL, FakeServer, page, run


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry immediately."""
    monkeypatch.setattr(sync_transport, "FIRST_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(async_transport, "FIRST_PAUSE_SECONDS", 0.0)


def connect(server: FakeServer) -> Client:
    return Client(URL, "secret", transport=server.transport)


def problem(status: int, detail: str, **more: object) -> httpx.Response:
    return httpx.Response(status, json={"detail": detail, **more})


def test_all_tries_of_a_launch_carry_the_same_idempotency_key() -> None:
    failures = [httpx.ConnectError("refused"), httpx.Response(503), httpx.ReadTimeout("slow")]
    server = FakeServer({"/runs": [*failures, run()]})
    assert connect(server).launch("paac-cartpole", seed=3).id == 12
    keys = [request.headers["Idempotency-Key"] for request in server.requests]
    assert len(keys) == 4
    assert len(set(keys)) == 1


def test_two_launches_have_different_idempotency_keys() -> None:
    server = FakeServer({"/runs": run()})
    client = connect(server)
    client.launch("paac-cartpole")
    client.launch("paac-cartpole")
    assert len({request.headers["Idempotency-Key"] for request in server.requests}) == 2


def test_a_rejected_request_is_not_repeated() -> None:
    server = FakeServer({"/runs": problem(422, "wrong", errors=[{"field": "seed", "message": "too small"}])})
    with pytest.raises(InvalidRequestError, match=r"wrong\n  seed: too small"):
        connect(server).launch("paac-cartpole", seed=-1)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "kind"), [(403, UnauthorizedError), (404, NotFoundError), (409, ConflictError)])
def test_each_status_has_its_error(status: int, kind: type[Exception]) -> None:
    server = FakeServer({"/runs/12": problem(status, "The message of the API.")})
    with pytest.raises(kind, match="The message of the API"):
        connect(server).run(12)


@pytest.mark.parametrize(
    ("given", "variable", "stored", "message"),
    [
        ("old", "old", "old", "the argument `token`. Use the server's token there."),
        (None, "old", "old", "the environment variable ARCADIA_TOKEN. Set it to the server's token, or unset it and"),
        (None, None, "old", "client.json. Run `arcadia login http://arcadia.test` again."),
        (None, None, None, "http://arcadia.test needs a token. Run `arcadia login http://arcadia.test`, or set"),
    ],
)
def test_a_wrong_token_is_named_and_not_sent_again(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    given: str | None,
    variable: str | None,
    stored: str | None,
    message: str,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(settings, "_write_keyring", lambda _url, _token: False)
    monkeypatch.setattr(settings, "_read_keyring", lambda _url: None)
    settings.store_login(URL, stored)
    monkeypatch.delenv("ARCADIA_TOKEN", raising=False)
    if variable:
        monkeypatch.setenv("ARCADIA_TOKEN", variable)
    server = FakeServer({"/runs/12": problem(401, "The message of the API.")})
    with Client(URL, given, transport=server.transport) as client, pytest.raises(UnauthorizedError) as refused:
        client.run(12)
    assert message in str(refused.value)
    assert len(server.requests) == 1


def test_an_unreachable_server_is_an_error_with_its_url_and_advice() -> None:
    server = FakeServer({"/runs/12": httpx.ConnectError("refused")})
    with pytest.raises(ServerUnreachableError, match=r"arcadia.test.*arcadia up"):
        connect(server).run(12)
    assert len(server.requests) == sync_transport.MAX_TRIES


def test_requests_carry_the_token_and_the_version() -> None:
    server = FakeServer({"/presets": [[]]})
    connect(server).presets()
    assert server.requests[0].headers["Authorization"] == "Bearer secret"
    agent = server.requests[0].headers["User-Agent"]
    assert re.fullmatch(r"arcadia-client/\S+ \(Python client; [\w.?-]+@[\w.?-]+\) Python/\S+", agent)


def test_lists_read_as_many_pages_as_the_limit_needs() -> None:
    first = page(*[run(id=number) for number in range(1000)], cursor="next")
    server = FakeServer({"/runs": [first, page(run(id=5000), run(id=5001), cursor="more")]})
    found = connect(server).runs(state="finished", limit=1002)
    assert [each.id for each in found[-2:]] == [5000, 5001]
    assert [request.url.params.get("cursor") for request in server.requests] == [None, "next"]
    assert [request.url.params["limit"] for request in server.requests] == ["1000", "2"]
    assert server.requests[0].url.params["state"] == "finished"


def test_the_asynchronous_client_closes_the_connection_of_a_cancelled_request() -> None:
    closed = []

    class Endless(httpx.AsyncBaseTransport):
        def __init__(self) -> None:
            self.started = asyncio.Event()

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            self.started.set()
            try:
                await asyncio.sleep(3600)
            finally:
                closed.append(request.url.path)
            raise AssertionError

    async def cancel() -> None:
        endless = Endless()
        async with AsyncClient(URL, transport=endless) as client:
            waiting = asyncio.create_task(client.run(12))
            await endless.started.wait()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(cancel())
    assert closed == ["/api/v1/runs/12"]


def test_a_user_whose_name_does_not_fit_into_a_header_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "Ana (é)")
    server = FakeServer({"/runs/12": run()})
    connect(server).run(12)
    assert "; Ana????@" in server.requests[0].headers["User-Agent"]


@pytest.mark.parametrize("token", ["secret\r", " secret\n", "\tsecret "])
def test_white_space_around_a_token_is_left_out(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCADIA_TOKEN", token)
    assert settings.resolve_token(URL) == settings.resolve_token(URL, token) == "secret"


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        ("sec\rret", "contains a line break or a control character"),
        ("secrét", "contains a character that is not ASCII"),
        ("secr\udce9t", "contains a character that is not ASCII"),
    ],
)
def test_a_token_that_no_header_can_contain_is_an_error_without_the_token(
    token: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCADIA_TOKEN", token)
    with pytest.raises(
        ArcadiaError, match=f"The token from the environment variable ARCADIA_TOKEN {sentence}"
    ) as raised:
        Client(URL)
    assert "sec" not in str(raised.value)


@pytest.mark.parametrize(
    "url", ["http://:bad", "http://host:port", "http://", "http://[::1", "http://a b", "ftp://host", "host:8000"]
)
def test_a_malformed_url_is_an_error(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCADIA_URL", url)
    with pytest.raises(ArcadiaError, match=r"is not a URL\. Use one such as http"):
        Client()


def test_white_space_around_a_url_is_left_out() -> None:
    assert settings.resolve_url(" http://arcadia.test/\r\n") == "http://arcadia.test"
