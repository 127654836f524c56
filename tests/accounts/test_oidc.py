"""Sign-in at a real OpenID provider, which runs as another process."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from arcadia_backend.config import COOKIE, Settings
from arcadia_backend.web import oidc
from arcadia_backend.web.oidc import OpenIdProvider, ProviderRefused, page_of
from tests.accounts.signing_in import API, create_first, read, stranger
from tests.factories import Response
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

CLAIMS = {"sub": "eve", "name": "Eve", "email": "ana@example.org", "email_verified": True, "groups": ["lab"]}
CALLBACK = f"{API}/session/oidc/callback"
AT_ONCE = 4


@contextmanager
def run_provider(*options: str) -> Iterator[str]:
    """Run a provider, and yield its issuer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--user-claims", json.dumps(CLAIMS)]
    process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    issuer = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: _responds(issuer))
        yield issuer
    finally:
        process.terminate()
        process.wait()


def _responds(issuer: str) -> bool:
    try:
        return httpx.get(issuer).is_success
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with run_provider() as running:
        yield running


@pytest.fixture(scope="module")
def other_issuer() -> Iterator[str]:
    with run_provider() as running:
        yield running


def use(client: TestClient, issuer: str, client_id: str = "arcadia") -> Settings:
    """Let an application use a provider."""
    state = client.app.state  # type: ignore[attr-defined]
    changes = {"oidc_issuer": issuer, "oidc_client_id": client_id, "oidc_client_secret": SecretStr("secret")}
    changed: Settings = state.settings.model_copy(update=changes)
    state.settings, state.openid_provider = changed, None
    return changed


@pytest.fixture
def browser(client: TestClient, issuer: str) -> TestClient:
    """Return a browser of an application that has an account and a provider."""
    create_first(client)
    use(client, issuer)
    return stranger(client)


def start(browser: TestClient, then: str = "/runs/1") -> str:
    """Begin a sign-in, and return the address at the provider."""
    answer = browser.get(f"{API}/session/oidc", params={"then": then}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def approve(address: str, subject: str = "eve") -> str:
    """Sign in at the provider, and return the address to which it sends the browser back."""
    answer = httpx.post(address, data={"sub": subject})
    assert answer.status_code == 302, answer.text
    return str(answer.headers["location"])


def come_back(browser: TestClient, address: str, **changes: str) -> Response:
    query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    return browser.get(CALLBACK, params=query | changes, follow_redirects=False)


def person_of(browser: TestClient) -> dict[str, object]:
    account: dict[str, object] = read(browser.get(f"{API}/account"))["person"]
    return account


def test_a_person_signs_in_at_the_provider(client: TestClient, browser: TestClient) -> None:
    address = start(browser)
    asked = parse_qs(urlsplit(address).query)
    assert (asked["code_challenge_method"], asked["response_type"]) == (["S256"], ["code"])
    answer = come_back(browser, approve(address))
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/1")
    person = person_of(browser)
    # The address belongs to the first account, so it links nothing.
    assert (person["name"], person["email"], person["is_administrator"]) == ("Eve", None, False)
    assert read(browser.get(f"{API}/runs"))["total"] == 0
    groups = read(client.get(f"{API}/groups"))
    assert [group["name"] for group in groups] == ["lab"]
    again = stranger(client)
    come_back(again, approve(start(again)))
    assert person_of(again)["id"] == person["id"]


def test_first_sign_ins_at_once_add_one_person(client: TestClient, issuer: str) -> None:
    create_first(client)
    use(client, issuer)
    browsers = [stranger(client) for _ in range(AT_ONCE)]
    addresses = [approve(start(each)) for each in browsers]
    barrier = Barrier(AT_ONCE)

    def finish(number: int) -> int:
        barrier.wait(PATIENCE_SECONDS)
        return int(come_back(browsers[number], addresses[number]).status_code)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        assert set(threads.map(finish, range(AT_ONCE))) == {303}
    assert len({person_of(each)["id"] for each in browsers}) == 1
    [group] = read(client.get(f"{API}/groups"))
    assert [member["name"] for member in group["members"]] == ["Eve"]
    assert [each["name"] for each in read(client.get(f"{API}/people"))] == ["Ana", "Eve"]


def test_people_with_one_address_at_two_providers_stay_two(
    client: TestClient, browser: TestClient, other_issuer: str
) -> None:
    come_back(browser, approve(start(browser)))
    use(client, other_issuer)
    other = stranger(client)
    come_back(other, approve(start(other)))
    assert person_of(other)["id"] != person_of(browser)["id"]


def test_a_wrong_state_is_refused(browser: TestClient) -> None:
    answer = come_back(browser, approve(start(browser)), state="other")
    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/provider-refused")
    assert COOKIE not in answer.cookies


def test_another_browser_cannot_finish_a_sign_in(client: TestClient, browser: TestClient) -> None:
    address = approve(start(browser))
    assert come_back(stranger(client), address).status_code == 401


def test_a_code_works_once(browser: TestClient) -> None:
    address = approve(start(browser))
    cookie = browser.cookies[oidc.COOKIE]
    assert come_back(browser, address).status_code == 303
    browser.cookies.set(oidc.COOKIE, cookie, domain="localhost.local", path=CALLBACK)
    repeated = come_back(browser, address)
    assert repeated.status_code == 401
    assert COOKIE not in repeated.cookies


def test_a_code_of_another_sign_in_is_refused(client: TestClient, browser: TestClient) -> None:
    other = stranger(client)
    stolen = parse_qs(urlsplit(approve(start(other))).query)["code"][0]
    answer = come_back(browser, approve(start(browser)), code=stolen)
    assert answer.status_code == 401


def id_token(issuer: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Return an ID token that the provider issues to a client, and its nonce."""
    seen: list[tuple[str, str]] = []

    def keep(_self: OpenIdProvider, token: str, nonce: str) -> dict[str, object]:
        seen.append((token, nonce))
        return {}

    provider = OpenIdProvider(settings)
    url, cookie = provider.begin("http://localhost/callback", "/")
    query = {name: values[0] for name, values in parse_qs(urlsplit(approve(url)).query).items()}
    with monkeypatch.context() as patched:
        patched.setattr(OpenIdProvider, "_claims", keep)
        provider.finish(cookie, query["state"], query["code"], "http://localhost/callback")
    assert issuer in url
    return seen[0]


def settings_of(issuer: str, client_id: str = "arcadia") -> Settings:
    return Settings(oidc_issuer=issuer, oidc_client_id=client_id, oidc_client_secret=SecretStr("secret"))


def test_tokens_for_others_are_refused(issuer: str, other_issuer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    token, nonce = id_token(issuer, settings_of(issuer), monkeypatch)
    assert OpenIdProvider(settings_of(issuer))._claims(token, nonce)["sub"] == "eve"
    wrong: dict[str, Callable[[], object]] = {
        "audience": lambda: OpenIdProvider(settings_of(issuer, "other"))._claims(token, nonce),
        "nonce": lambda: OpenIdProvider(settings_of(issuer))._claims(token, "other"),
        "key of another provider": lambda: OpenIdProvider(settings_of(other_issuer))._claims(token, nonce),
        "signature": lambda: OpenIdProvider(settings_of(issuer))._claims(token[:-4] + "AAAA", nonce),
        "no token": lambda: OpenIdProvider(settings_of(issuer))._claims("", nonce),
        "issuer": lambda: OpenIdProvider(settings_of(f"{issuer}/"))._claims(token, nonce),
    }
    for name, check in wrong.items():
        with pytest.raises(ProviderRefused):
            pytest.fail(f"accepted: {name}, {check()}")


def test_an_expired_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with run_provider("--token-max-age", "-3600") as issuer:
        token, nonce = id_token(issuer, settings_of(issuer), monkeypatch)
        with pytest.raises(ProviderRefused, match="Expired"):
            OpenIdProvider(settings_of(issuer))._claims(token, nonce)


def test_a_slow_sign_in_is_refused(browser: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    query = parse_qs(urlsplit(approve(start(browser))).query)
    provider: OpenIdProvider = browser.app.state.openid_provider  # type: ignore[attr-defined]
    cookie = browser.cookies[oidc.COOKIE].strip('"')
    late = time.time() + oidc.FLOW_SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: late)
    with pytest.raises(ProviderRefused, match="too long"):
        provider.finish(cookie, query["state"][0], query["code"][0], "http://localhost/x")


def test_nobody_signs_in_before_the_first_account(client: TestClient, issuer: str) -> None:
    use(client, issuer)
    assert "first" in come_back(client, approve(start(client))).json()["detail"]
    assert read(client.get(f"{API}/session")) == {"required": False, "signed_in": True}


@pytest.mark.parametrize("then", ["//evil.example", "https://evil.example", "/\\evil.example", "evil", "/\n/evil"])
def test_no_link_leads_to_another_site(then: str) -> None:
    assert page_of(then) == "/"


def test_a_server_without_a_provider_says_so(client: TestClient) -> None:
    create_first(client)
    assert stranger(client).get(f"{API}/session/oidc", follow_redirects=False).status_code == 404
    assert read(client.get(f"{API}/session/methods"))["openid"] is False
