"""Access control: no route responds without authentication, and no foreign page can call the API."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy.exc import OperationalError
from starlette.routing import BaseRoute, Route

from arcadia_backend.accounts import sign_in
from arcadia_backend.app import create_app, describe_api
from arcadia_backend.config import API, COOKIE, Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.web import credentials
from arcadia_backend.web.doors import Right, right_of
from arcadia_backend.web.security import MAX_WRONG_TOKENS, SHARED_REPORTS, WrongTokenLimit
from tests.door import listening
from tests.factories import Response
from tests.workers.waiting import PATIENCE_SECONDS

TOKEN, WORKER_TOKEN = "user-secret", "worker-secret"


@pytest.fixture(scope="module")
def guarded_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Return settings of an installation that requires a token from users."""
    folder = tmp_path_factory.mktemp("guarded")
    given = {"data_dir": folder, "token": TOKEN, "worker_token": WORKER_TOKEN, "max_body_bytes": 2_000}
    return Settings.model_validate({**given, "allowed_hosts": "arcadia.example", "sweep_seconds": 60})


@pytest.fixture(scope="module")
def guarded_app(guarded_settings: Settings) -> FastAPI:
    """Return the application of these settings."""
    return create_app(guarded_settings)


@pytest.fixture(scope="module")
def running(guarded_app: FastAPI) -> Iterator[None]:
    """Run the application."""
    with TestClient(guarded_app, base_url="http://localhost:8000"):
        yield


@pytest.fixture
def stranger(guarded_app: FastAPI, running: None) -> TestClient:  # noqa: ARG001 - it must run
    """Return a client without credentials."""
    guarded_app.state.credentials.limit = WrongTokenLimit()
    guarded_app.state.credentials.worker_limit = WrongTokenLimit("wrong worker token")
    return TestClient(guarded_app, base_url="http://localhost:8000", raise_server_exceptions=False)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def every_call(app: FastAPI) -> list[tuple[str, str]]:
    """Return the method and path of every route, documented or not."""

    def walk(routes: list[BaseRoute], prefix: str) -> Iterator[tuple[str, str]]:
        for route in routes:
            included = getattr(route, "include_context", None)
            if included is not None:
                yield from walk(included.included_router.routes, prefix + included.prefix)
            elif isinstance(route, Route):
                for method in (route.methods or set()) - {"HEAD"}:
                    yield method, prefix + route.path

    return sorted({call for call in walk(app.router.routes, "") if call[1].startswith(API)})


def test_every_route_is_found(guarded_app: FastAPI) -> None:
    documented = {(m.upper(), path) for path, item in describe_api(guarded_app)["paths"].items() for m in item}
    found = set(every_call(guarded_app))
    assert documented <= found
    assert len(documented) > 30
    assert ("GET", f"{API}/openapi.json") in found


def test_every_route_refuses_a_client_without_credentials(guarded_app: FastAPI, stranger: TestClient) -> None:
    for method, path in every_call(guarded_app):
        address = path.replace("{path:path}", "x/y")
        for name in ("run_id", "file_id"):
            address = address.replace(f"{{{name}}}", "1")
        # Other sites know neither token. A worker's token does not give access to users' routes.
        wrong = bearer(TOKEN if path.startswith(f"{API}/worker/") else WORKER_TOKEN)
        guarded_app.state.credentials.limit = guarded_app.state.credentials.worker_limit = WrongTokenLimit()
        for headers in ({}, wrong, bearer(""), {"Authorization": "Basic dXNlcjo="}):
            response = stranger.request(method, address, headers=headers, json={})
            if right_of(method, path) == Right.PUBLIC:
                assert response.status_code != 500, (method, path)
            else:
                assert response.status_code == 401, (method, path, headers)
                assert response.headers["content-type"] == "application/problem+json"


def test_the_api_reference_requires_the_same_sign_in_as_the_api_document(stranger: TestClient) -> None:
    for path in ("/api/docs", f"{API}/openapi.json"):
        assert stranger.get(path).status_code == 401
        assert stranger.get(path, headers=bearer(WORKER_TOKEN)).status_code == 401
        assert stranger.get(path, headers=bearer(TOKEN)).status_code == 200


def test_signing_out_has_no_content_and_no_media_type(stranger: TestClient) -> None:
    answer = stranger.delete("/api/v1/session", headers={"Cookie": f"{COOKIE}={signed_in(stranger)}"})
    assert (answer.status_code, answer.content) == (204, b"")
    assert "content-type" not in answer.headers


def test_a_reports_link_makes_only_its_routes_public(guarded_app: FastAPI) -> None:
    opened = {call for call in every_call(guarded_app) if call[1].startswith(SHARED_REPORTS)}
    of_a_link = f"{API}/shared/{{token}}"
    assert opened == {
        ("GET", each) for each in (of_a_link, f"{of_a_link}/blocks/{{position}}", f"{of_a_link}/files/{{file_id}}")
    }


@pytest.mark.parametrize(
    "path", ["//api/v1/runs", "/api/v1//worker/claim", "/api/v1/worker/../runs", "/api/v1/%77orker/x", "/API/v1/runs"]
)
def test_odd_spellings_of_a_path_give_no_access(stranger: TestClient, path: str) -> None:
    response = stranger.get(path, headers=bearer(WORKER_TOKEN))
    assert response.status_code in (401, 404, 503) or "<html" in response.text
    assert "items" not in response.text


def test_the_token_gives_access_to_users_routes(stranger: TestClient) -> None:
    assert stranger.get("/api/v1/runs", headers=bearer(TOKEN)).status_code == 200
    assert stranger.get("/api/v1/runs", headers=bearer(TOKEN + "x")).status_code == 401


def test_signing_in_sets_a_cookie_that_scripts_cannot_read(stranger: TestClient) -> None:
    assert stranger.get("/api/v1/session").json() == {"required": True, "signed_in": False}
    assert stranger.post("/api/v1/session", json={"token": "guess"}).status_code == 401
    answer = stranger.post("/api/v1/session", json={"token": TOKEN})
    assert answer.json() == {"required": True, "signed_in": True}
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert stranger.get("/api/v1/runs").status_code == 200
    assert stranger.get("/api/v1/session").json()["signed_in"] is True
    assert stranger.delete("/api/v1/session").status_code == 204
    assert stranger.get("/api/v1/runs").status_code == 401


def signed_in(client: TestClient) -> str:
    """Sign in, remove the cookie from the client, and return it."""
    client.post("/api/v1/session", json={"token": TOKEN}).raise_for_status()
    cookie: str = client.cookies[COOKIE]
    client.cookies.clear()
    return cookie


def opens(client: TestClient, cookie: str) -> bool:
    """Return whether the cookie gives access to the list of runs."""
    answer = client.get("/api/v1/runs", headers={"Cookie": f"{COOKIE}={cookie}"})
    return bool(answer.status_code == 200)


def test_a_forged_or_expired_cookie_is_refused(
    guarded_app: FastAPI, stranger: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = signed_in(stranger)
    for cookie in (good[:-1], f"{good}x", good.swapcase(), "", ".", "9" * 400):
        assert not opens(stranger, cookie), cookie
    assert opens(stranger, good)
    later = utc_now() + timedelta(days=31)
    monkeypatch.setattr(sign_in, "utc_now", lambda: later)
    monkeypatch.setattr(credentials, "CACHE_SECONDS", 0.0)
    guarded_app.state.credentials._cache.clear()
    assert not opens(stranger, good)


def test_signing_out_ends_only_its_session(stranger: TestClient) -> None:
    mine, other = signed_in(stranger), signed_in(stranger)
    assert stranger.delete("/api/v1/session", headers={"Cookie": f"{COOKIE}={mine}"}).status_code == 204
    assert not opens(stranger, mine)
    assert opens(stranger, other)


@pytest.mark.nightly
def test_sessions_survive_a_restart_and_end_with_the_token(tmp_path: Path) -> None:
    given: dict[str, Any] = {"data_dir": tmp_path, "token": TOKEN, "sweep_seconds": 60}

    def restarted(**changed: Any) -> TestClient:
        return TestClient(create_app(Settings.model_validate(given | changed)), base_url="http://localhost")

    with restarted() as client:
        kept, ended = signed_in(client), signed_in(client)
        client.delete("/api/v1/session", headers={"Cookie": f"{COOKIE}={ended}"})
    with restarted() as client:
        assert (opens(client, kept), opens(client, ended)) == (True, False)
    with restarted(token="another") as client:
        assert not opens(client, kept)


def test_a_session_is_shared_by_all_backend_processes_until_it_ends(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "CACHE_SECONDS", 0.0)
    guarded = settings.model_copy(update={"token": SecretStr(TOKEN)})
    one, other = (TestClient(create_app(guarded), base_url="http://localhost") for _ in range(2))
    with one, other:
        kept, ended = signed_in(one), signed_in(one)
        assert opens(other, kept)
        assert opens(other, ended)
        assert one.delete("/api/v1/session", headers={"Cookie": f"{COOKIE}={ended}"}).status_code == 204
        assert not opens(one, ended)
        assert not opens(other, ended)
        assert opens(other, kept)


def test_a_valid_session_is_cached_for_some_seconds(stranger: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = signed_in(stranger)
    assert opens(stranger, cookie)
    monkeypatch.setattr(sign_in, "session_of", lambda *_: None)
    assert opens(stranger, cookie)


def test_a_sign_out_that_failed_can_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(Settings.model_validate({"data_dir": tmp_path, "token": TOKEN, "sweep_seconds": 60}))
    with TestClient(app, base_url="http://localhost") as client:
        cookie = {"Cookie": f"{COOKIE}={signed_in(client)}"}
        with monkeypatch.context() as broken:
            broken.setattr(app.state.database, "write", locked)
            assert client.delete("/api/v1/session", headers=cookie).status_code == 503
        assert client.get("/api/v1/runs", headers=cookie).status_code == 200
        assert client.delete("/api/v1/session", headers=cookie).status_code == 204
        assert client.get("/api/v1/runs", headers=cookie).status_code == 401
    with TestClient(app, base_url="http://localhost") as client:
        assert client.get("/api/v1/runs", headers=cookie).status_code == 401


def locked() -> None:
    """Raise the error of a database that another program has locked."""
    raise OperationalError("BEGIN IMMEDIATE", None, sqlite3.OperationalError("database is locked"))


def test_wrong_tokens_are_logged_and_limited_but_never_lock_out_right_ones(
    guarded_app: FastAPI, stranger: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    guarded_app.state.credentials.limit = WrongTokenLimit(clock=lambda: now)
    cookie = signed_in(stranger)

    def sign_in(token: str) -> Response:
        return stranger.post("/api/v1/session", json={"token": token})

    def read(token: str) -> Response:
        return stranger.get("/api/v1/runs", headers=bearer(token))

    for number in range(MAX_WRONG_TOKENS):
        assert (sign_in if number % 2 else read)(f"guess {number}").status_code == 401
    assert sum("wrong token from testclient" in line for line in caplog.messages) == MAX_WRONG_TOKENS
    assert "guess" not in caplog.text
    for send in (sign_in, read):
        refused = send("another guess")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
        assert refused.json()["type"] == "/problems/too-many-wrong-tokens"
        assert send(TOKEN).status_code == 200
    assert opens(stranger, cookie)
    now = 60.0
    assert sign_in("another guess").status_code == 401


def test_scripts_with_an_old_token_disturb_nobody(stranger: TestClient) -> None:
    """Five scripts that repeat their requests, each with another old token."""
    for _ in range(2 * MAX_WRONG_TOKENS):
        for script in range(5):
            refused = stranger.get("/api/v1/runs", headers=bearer(f"old {script}"))
            assert (refused.status_code, "This token is wrong" in refused.json()["detail"]) == (401, True)
    assert stranger.get("/api/v1/runs", headers=bearer(TOKEN)).status_code == 200
    assert stranger.post("/api/v1/session", json={"token": "mistyped"}).status_code == 401
    assert stranger.post("/api/v1/session", json={"token": TOKEN}).status_code == 200


def test_wrong_worker_tokens_are_logged_and_limited_but_never_lock_out_workers(
    stranger: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    def goodbye(token: str) -> int:
        status: int = stranger.post("/api/v1/worker/goodbye", json={"name": "w"}, headers=bearer(token)).status_code
        return status

    guesses = [goodbye(f"guess-{number}") for number in range(MAX_WRONG_TOKENS)]
    assert guesses == [401] * MAX_WRONG_TOKENS
    assert sum("wrong worker token from testclient" in line for line in caplog.messages) == MAX_WRONG_TOKENS
    assert "guess" not in caplog.text
    assert goodbye("another-guess") == 429
    assert goodbye("") == 401
    assert goodbye(WORKER_TOKEN) == 204
    assert stranger.get("/api/v1/runs", headers=bearer(TOKEN)).status_code == 200, "users have a separate limit"


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(
    ("proxies", "statuses", "logged"),
    [
        ((), {401: MAX_WRONG_TOKENS, 429: 5}, "from 127.0.0.1,"),
        (("127.0.0.1",), {401: MAX_WRONG_TOKENS + 5}, "from 10.0.14.1,"),
    ],
)
def test_only_a_trusted_proxy_may_name_its_client(
    guarded_settings: Settings,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    proxies: tuple[str, ...],
    statuses: dict[int, int],
    logged: str,
) -> None:
    settings = guarded_settings.model_copy(update={"data_dir": tmp_path, "trusted_proxies": proxies})
    found: Counter[int] = Counter()
    with listening(create_app(settings)) as port, httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as client:
        for number in range(MAX_WRONG_TOKENS + 5):
            headers = {"X-Forwarded-For": f"10.0.{number}.1"}
            url = f"http://127.0.0.1:{port}/api/v1/session"
            found[client.post(url, json={"token": f"guess {number}"}, headers=headers).status_code] += 1
    assert found == statuses
    assert logged in caplog.text


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("192.168.1.20:8000", 200),
        ("ARCADIA.example", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("evil.example:8000", 421),
        ("", 421),
    ],
)
def test_an_unknown_host_name_is_refused(stranger: TestClient, host: str, status: int) -> None:
    response = stranger.get("/api/v1/health", headers={"Host": host})
    assert response.status_code == status
    if status == 421:
        assert "ARCADIA_ALLOWED_HOSTS" in response.json()["detail"]
        assert stranger.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"Origin": "http://localhost:8000"}, True),
        ({"Origin": "http://localhost:8000", "Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "http://localhost:9999"}, False),
        ({"Origin": "null"}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
    ],
)
def test_a_foreign_page_can_change_nothing(stranger: TestClient, headers: dict[str, str], allowed: bool) -> None:
    for method, path in (("POST", "/api/v1/bulk-actions"), ("DELETE", "/api/v1/runs/9"), ("PATCH", "/api/v1/runs/9")):
        response = stranger.request(method, path, headers={**bearer(TOKEN), **headers}, json={})
        assert (response.status_code != 403) == allowed, (method, path)
    if not allowed:
        assert stranger.get("/api/v1/events", headers={**bearer(TOKEN), **headers}).status_code == 403


def test_responses_have_security_headers(stranger: TestClient) -> None:
    for path in ("/", "/api/v1/health", "/api/v1/runs", "/nowhere"):
        headers = stranger.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        policy = headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "script-src 'self';" in policy
    assert stranger.get("/api/v1/health").headers["cache-control"] == "no-store"


def test_a_large_body_is_refused_regardless_of_its_length_header(stranger: TestClient) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * 1_000

    for content in (b" " * 2_001, chunks()):
        response = stranger.post(
            "/api/v1/runs", content=content, headers={**bearer(TOKEN), "Content-Type": "application/json"}
        )
        assert response.status_code == 413
        assert response.headers["content-type"] == "application/problem+json"
    assert stranger.post("/api/v1/runs", content=b" " * 2_000, headers=bearer(TOKEN)).status_code == 422


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.20", "::", "arcadia.example"])  # noqa: S104 - closed
def test_a_server_beyond_loopback_is_closed_without_accounts(tmp_path: Path, host: str) -> None:
    app = create_app(Settings.model_validate({"data_dir": tmp_path, "host": host}))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get("/api/v1/runs").status_code == 401
        new = {"name": "Eve", "email": "eve@example.org", "password": "a long password"}
        assert client.post("/api/v1/people/first", json=new).status_code == 401
        assert client.get("/api/v1/session").json() == {"required": True, "signed_in": False}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_loopback_requires_no_token(tmp_path: Path, host: str) -> None:
    create_app(Settings.model_validate({"data_dir": tmp_path, "host": host}))


def test_workers_are_refused_without_a_worker_token(tmp_path: Path) -> None:
    app = create_app(Settings.model_validate({"data_dir": tmp_path}))
    with TestClient(app, base_url="http://localhost") as client:
        for headers in ({}, bearer(""), bearer("None")):
            response = client.post("/api/v1/worker/claim", json={"name": "w", "queue": "cpu"}, headers=headers)
            assert response.status_code == 401


def test_secrets_are_not_shown(guarded_settings: Settings) -> None:
    assert TOKEN not in repr(guarded_settings)
    assert WORKER_TOKEN not in repr(guarded_settings)
