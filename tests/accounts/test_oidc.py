"""Sign-in at a real OpenID provider, which runs as another process."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.cookies import SimpleCookie
from threading import Barrier
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import httpx2
import pytest
from authlib.integrations.httpx_client import OAuth2Client
from fastapi.testclient import TestClient
from pydantic import SecretStr

from arcadia_backend.config import COOKIE, Settings
from arcadia_backend.web import oidc
from arcadia_backend.web.oidc import MAX_GROUPS, Claims, OpenIdProvider, ProviderRefused, page_of
from tests.accounts.signing_in import API, PASSWORD, create_first, read, sign_in, stranger
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

    def keep(_self: OpenIdProvider, token: str, nonce: str) -> Claims:
        seen.append((token, nonce))
        return Claims(sub="eve", aud="arcadia")

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
    assert OpenIdProvider(settings_of(issuer))._claims(token, nonce).sub == "eve"
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


def let_claim(monkeypatch: pytest.MonkeyPatch, **claims: Any) -> None:
    """Let the provider claim something else. None leaves a claim out."""
    read_claims = OpenIdProvider._read_claims

    def change(self: OpenIdProvider, given: dict[str, Any]) -> Claims:
        changed = {**given, **claims}
        return read_claims(self, {name: value for name, value in changed.items() if value is not None})

    monkeypatch.setattr(OpenIdProvider, "_read_claims", change)


def test_a_person_without_the_claim_has_no_groups(
    client: TestClient, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    come_back(browser, approve(start(browser)))
    [group] = read(client.get(f"{API}/groups"))
    person = person_of(browser)["id"]
    own = read(client.post(f"{API}/groups", json={"name": "own", "members": [person]}), 201)
    assert [member["name"] for member in group["members"]] == ["Eve"]
    let_claim(monkeypatch, groups=None)
    assert come_back(browser, approve(start(browser))).status_code == 303
    members = {each["name"]: len(each["members"]) for each in read(client.get(f"{API}/groups"))}
    assert members == {"lab": 0, own["name"]: 1}


ODD: dict[str, dict[str, Any]] = {
    "groups that are no names": {"groups": [None]},
    "groups that are objects": {"groups": [{"a": 1}]},
    "a group instead of a list": {"groups": "lab"},
    "an object instead of a list": {"groups": {"lab": True}},
    "too many groups": {"groups": [f"group {number}" for number in range(MAX_GROUPS + 1)]},
    "a name that is too long": {"groups": ["lab", "x" * 101]},
    "a name that is empty": {"groups": ["lab", " "]},
    "groups that were left out": {"groups": None, "_claim_names": {"groups": "src1"}},
    "groups that did not fit": {"groups": None, "hasgroups": True},
    "another program": {"azp": "other"},
    "several audiences": {"aud": ["arcadia", "other"]},
    "a number as subject": {"sub": 5},
    "an object as name": {"name": {"a": 1}},
    "a list as address": {"email": ["eve@example.org"]},
    "a time that is none": {"auth_time": True},
    "a time in the future": {"auth_time": time.time() + 3_600},
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_claims_are_refused_and_create_nothing(
    client: TestClient, browser: TestClient, monkeypatch: pytest.MonkeyPatch, odd: dict[str, Any]
) -> None:
    let_claim(monkeypatch, **odd)
    answer = come_back(browser, approve(start(browser)))
    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/provider-refused")
    assert COOKIE not in answer.cookies
    assert read(client.get(f"{API}/groups")) == []
    assert [each["name"] for each in read(client.get(f"{API}/people"))] == ["Ana"]


def test_usual_claims_are_accepted(browser: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = {"azp": "arcadia", "aud": ["arcadia"], "auth_time": int(time.time()), "email_verified": "true", "amr": [1]}
    let_claim(monkeypatch, **usual, groups=[f"group {number}" for number in range(MAX_GROUPS)])
    assert come_back(browser, approve(start(browser))).status_code == 303


def test_a_name_of_the_provider_gets_more_words_if_somebody_has_it(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_claim(monkeypatch, name="ANA", email="other@example.org")
    come_back(browser, approve(start(browser)))
    assert person_of(browser)["name"] == "ANA (other@example.org)"


ERRORS = {
    f"{library.__name__} {kind}": getattr(library, kind)("cut")
    for library in (httpx, httpx2)
    for kind in ("ConnectError", "RemoteProtocolError", "ReadTimeout", "DecodingError", "InvalidURL")
}


@pytest.mark.parametrize("error", [*ERRORS.values(), ValueError("no JSON"), TypeError("a list")], ids=str)
def test_a_provider_that_fails_is_unavailable(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_given: object, **_named: object) -> None:
        raise error

    address = approve(start(browser))
    monkeypatch.setattr(OAuth2Client, "fetch_token", fail)
    answer = come_back(browser, address)
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/unavailable")
    assert "provider" in answer.json()["detail"]


def test_a_provider_that_drops_the_connection_is_unavailable(browser: TestClient) -> None:
    address = approve(start(browser))
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drop() -> None:
            connection, _address = server.accept()
            connection.recv(10)
            connection.close()

        provider: OpenIdProvider = browser.app.state.openid_provider  # type: ignore[attr-defined]
        provider._metadata["token_endpoint"] = f"http://127.0.0.1:{server.getsockname()[1]}/token"
        dropping = threading.Thread(target=drop)
        dropping.start()
        answer = come_back(browser, address)
        dropping.join()
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/unavailable")


@pytest.mark.parametrize("description", [[], {}, {"jwks_uri": "x"}, {"jwks_uri": 5}, "text"], ids=str)
def test_a_provider_with_an_odd_description_is_unavailable(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch, description: Any
) -> None:
    monkeypatch.setattr(oidc, "_get_json", lambda _url: description)
    answer = browser.get(f"{API}/session/oidc", follow_redirects=False)
    assert answer.status_code == 503, answer.text


def sign_in_again(browser: TestClient, subject: str = "eve") -> Response:
    """Sign in at the provider again, and return to this server without the cookie of the session, as browsers do."""
    begun = browser.get(f"{API}/session/oidc", params={"again": True, "then": "/settings"}, follow_redirects=False)
    address = str(begun.headers["location"])
    asked = parse_qs(urlsplit(address).query)
    assert (asked["prompt"], asked["max_age"]) == (["login"], ["60"])
    session = browser.cookies[COOKIE]
    browser.cookies.delete(COOKIE)
    answer = come_back(browser, approve(address, subject))
    browser.cookies.set(COOKIE, session, domain="localhost.local")
    return answer


def create_token(browser: TestClient) -> Response:
    return browser.post(f"{API}/tokens", json={"name": "a", "scopes": ["read"]})


def test_a_person_of_a_provider_signs_in_again_there(browser: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    # The provider does not say when the person signed in there, so the sign-in proves nothing.
    with monkeypatch.context() as patched:
        let_claim(patched, auth_time=None)
        come_back(browser, approve(start(browser)))
        assert sign_in_again(browser).status_code == 401
    account = read(browser.get(f"{API}/account"))
    assert (account["proofs"], account["fresh_until"]) == (["provider"], None)
    assert create_token(browser).json()["type"] == "/problems/sign-in-again"
    with monkeypatch.context() as patched:
        let_claim(patched, auth_time=time.time() - 120)
        assert sign_in_again(browser).status_code == 401
    assert create_token(browser).status_code == 403
    with monkeypatch.context() as patched:
        let_claim(patched, auth_time=time.time())
        answer = sign_in_again(browser)
    assert (answer.status_code, answer.headers["location"], COOKIE in answer.cookies) == (303, "/settings", False)
    assert create_token(browser).status_code == 201


def test_a_recent_sign_in_at_the_provider_is_a_proof(browser: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds, status in ((600, 201), (1_000, 403)):
        with monkeypatch.context() as patched:
            let_claim(patched, auth_time=time.time() - seconds)
            come_back(browser, approve(start(browser)))
        assert create_token(browser).status_code == status


def test_another_person_of_the_provider_proves_nothing(
    client: TestClient, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        let_claim(patched, auth_time=None)
        come_back(browser, approve(start(browser)))
    let_claim(monkeypatch, auth_time=time.time(), sub="mallory")
    refused = sign_in_again(browser)
    assert (refused.status_code, "another person" in refused.json()["detail"]) == (401, True)
    assert create_token(browser).status_code == 403
    assert [each["name"] for each in read(client.get(f"{API}/people"))] == ["Ana", "Eve"]


def test_a_session_that_has_ended_is_not_proved_again(browser: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    come_back(browser, approve(start(browser)))
    let_claim(monkeypatch, auth_time=time.time())
    begun = browser.get(f"{API}/session/oidc", params={"again": True}, follow_redirects=False)
    address = approve(str(begun.headers["location"]))
    assert browser.delete(f"{API}/sessions").status_code == 204
    assert come_back(browser, address).status_code == 401
    assert browser.get(f"{API}/session/oidc", params={"again": True}, follow_redirects=False).status_code == 401


def test_only_a_link_of_an_administrator_gives_a_person_of_a_provider_a_password(
    client: TestClient, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_claim(monkeypatch, auth_time=time.time(), email="eve@example.org")
    come_back(browser, approve(start(browser)))
    body = {"old_password": "", "new_password": PASSWORD}
    refused = browser.post(f"{API}/account/password", json=body)
    assert (refused.status_code, "one-time link" in refused.json()["detail"]) == (409, True)
    assert sign_in(stranger(client), "Eve").status_code == 401
    path = read(client.post(f"{API}/people/{person_of(browser)['id']}/link"))["path"]
    allowed = {"secret": path.partition("#")[2], "password": PASSWORD}
    read(stranger(client).post(f"{API}/session/password", json=allowed))
    assert sign_in(stranger(client), "Eve").status_code == 200


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


BROWSER = {"accept": "text/html,application/xhtml+xml"}


def failure_of(answer: Response) -> str:
    """Return the reason that a browser keeps for the page to which it is sent."""
    cookie = SimpleCookie(answer.headers["set-cookie"])[oidc.FAILURE_COOKIE]
    assert (cookie["path"], cookie["samesite"], cookie["httponly"]) == ("/", "strict", "")
    return unquote(cookie.value)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"error": "access_denied"}, "it did not allow it, or you cancelled it"),
        ({"error": "server_error"}, "it answered 'server_error'"),
        ({"state": "x", "code": "y"}, "it was started in another browser"),
    ],
)
def test_a_browser_gets_the_page_that_it_wanted_with_the_reason(
    browser: TestClient, query: dict[str, str], reason: str
) -> None:
    start(browser, "/runs/7")
    answer = browser.get(CALLBACK, params=query, headers=BROWSER, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/7")
    assert failure_of(answer) == f"The sign-in at the provider failed: {reason}. Try again."


def test_a_browser_that_began_no_sign_in_gets_the_first_page(browser: TestClient) -> None:
    answer = browser.get(CALLBACK, params={"code": "x"}, headers=BROWSER, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "this browser has not started one" in failure_of(answer)


def test_a_browser_learns_that_the_provider_does_not_respond(browser: TestClient) -> None:
    use(browser, "http://127.0.0.1:9")
    for then, page in (("/runs/7", "/runs/7"), ("//evil.example", "/")):
        answer = browser.get(f"{API}/session/oidc?then={then}", headers=BROWSER, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, page)
        assert failure_of(answer) == "The OpenID provider does not respond. Try again later."


@pytest.mark.parametrize("then", ["//evil.example", "https://evil.example", "/\\evil.example", "evil", "/\n/evil"])
def test_no_link_leads_to_another_site(then: str) -> None:
    assert page_of(then) == "/"


def test_a_server_without_a_provider_says_so(client: TestClient) -> None:
    create_first(client)
    assert stranger(client).get(f"{API}/session/oidc", follow_redirects=False).status_code == 404
    assert read(client.get(f"{API}/session/methods"))["openid"] is False
