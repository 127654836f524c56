"""People whom a reverse proxy has signed in, and names it in a header."""

from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier, Event, Semaphore

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from arcadia_backend.accounts import people, sign_in
from arcadia_backend.accounts.roles import forget_credentials
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Person, PersonIdentity
from arcadia_backend.live.watches import Credentials
from arcadia_backend.web.serving import behind_proxies, server_options
from tests.accounts.signing_in import API, create_first, read
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

HEADER = "X-Remote-User"
PROXY, ELSEWHERE = "10.0.0.5", "10.0.0.6"
AT_ONCE = 6
NAMES = ("bo", "Bo", "BO")


@pytest.fixture
def owner(client: TestClient) -> TestClient:
    """Return the browser of the first account, in front of whose server is a proxy."""
    create_first(client)
    changes = {"trusted_proxies": (PROXY,), "proxy_person_header": HEADER}
    state = client.app.state  # type: ignore[attr-defined]
    state.settings = state.settings.model_copy(update=changes)
    return client


def browser(owner: TestClient, address: str = PROXY, **headers: str) -> TestClient:
    """Return a browser whose requests come from an address, with these headers."""
    settings: Settings = owner.app.state.settings  # type: ignore[attr-defined]
    served = behind_proxies(owner.app, settings)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    client = TestClient(served, base_url="http://localhost", headers=named, client=(address, 50_000))
    client.portal = owner.portal
    return client


def test_a_proxy_names_a_person(owner: TestClient) -> None:
    bo = browser(owner, X_Remote_User="bo")
    person = read(bo.get(f"{API}/account"))["person"]
    assert (person["name"], person["is_administrator"]) == ("bo", False)
    assert read(browser(owner, X_Remote_User="bo").get(f"{API}/account"))["person"]["id"] == person["id"]
    assert read(bo.get(f"{API}/projects")) == []
    assert read(bo.get(f"{API}/tokens")) == []
    assert [each["name"] for each in read(owner.get(f"{API}/people"))] == ["Ana", "bo"]


def test_the_proxy_proves_who_a_person_is(owner: TestClient) -> None:
    person = read(browser(owner, X_Remote_User="bo").get(f"{API}/account"))["person"]
    assert owner.patch(f"{API}/people/{person['id']}", json={"is_administrator": True}).status_code == 200
    bo = browser(owner, X_Remote_User="bo")
    read(bo.post(f"{API}/tokens", json={"name": "a", "scopes": ["read"]}), 201)
    read(bo.post(f"{API}/people/1/link"))
    assert read(bo.get(f"{API}/account"))["proofs"] == []
    # It has no password of its own, with which it could sign in without the proxy.
    body = {"old_password": "", "new_password": "a long password"}
    refused = bo.post(f"{API}/account/password", json=body)
    assert (refused.status_code, "one-time link" in refused.json()["detail"]) == (409, True)


def test_case_does_not_make_another_person(owner: TestClient, database: Database) -> None:
    ids = {
        read(browser(owner, X_Remote_User=name).get(f"{API}/account"))["person"]["id"] for name in ("bo", "BO", "Bo")
    }
    assert len(ids) == 1
    # People from a time when case counted stay two. Other spellings are the earlier one.
    with database.write() as session:
        other = people.add(session, "Another", None)
        session.add(PersonIdentity(person_id=other.id, issuer=people.PROXY_ISSUER, subject="BO"))
        forget_credentials(session)
    found = {name: read(browser(owner, X_Remote_User=name).get(f"{API}/account"))["person"]["id"] for name in NAMES}
    assert found == {"bo": min(ids), "Bo": min(ids), "BO": other.id}


def test_a_name_that_somebody_has_gets_more_words(owner: TestClient) -> None:
    named = [read(browser(owner, X_Remote_User="ana").get(f"{API}/account"))["person"]["name"] for _ in range(2)]
    assert named == ["ana (reverse proxy)"] * 2


def test_entries_of_a_person_have_the_address_of_the_browser(owner: TestClient) -> None:
    bo = browser(owner, X_Remote_User="bo", X_Forwarded_For="192.0.2.7")
    read(bo.get(f"{API}/account"))
    read(bo.patch(f"{API}/account", json={"name": "Bo"}))
    recorded = read(owner.get(f"{API}/audit", params={"kind": "person"}))["items"]
    assert [(each["action"], each["address"]) for each in recorded[:2]] == [
        ("change", "192.0.2.7"),
        ("create", "192.0.2.7"),
    ]


def test_first_requests_at_once_add_one_person(owner: TestClient) -> None:
    barrier = Barrier(AT_ONCE)

    def ask(_number: int) -> int:
        client = browser(owner, X_Remote_User="bo")
        barrier.wait(PATIENCE_SECONDS)
        return int(read(client.get(f"{API}/account"))["person"]["id"])

    with ThreadPoolExecutor(AT_ONCE) as threads:
        assert len(set(threads.map(ask, range(AT_ONCE)))) == 1
    assert [each["name"] for each in read(owner.get(f"{API}/people"))] == ["Ana", "bo"]


def test_a_request_during_the_first_look_for_accounts_waits_for_it(
    owner: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, looks, go = sign_in.find_owner, Semaphore(0), Event()

    def look(session: Session) -> Person | None:
        looks.release()
        assert go.wait(PATIENCE_SECONDS)
        return find(session)

    monkeypatch.setattr(sign_in, "find_owner", look)
    with ThreadPoolExecutor(2) as threads:

        def ask() -> Future[int]:
            return threads.submit(lambda: browser(owner).get(f"{API}/runs").status_code)

        first = ask()
        assert looks.acquire(timeout=PATIENCE_SECONDS)
        second = ask()
        wait_until(lambda: second.done() or looks.acquire(blocking=False))
        go.set()
        assert (first.result(), second.result()) == (401, 401)


def test_the_header_of_another_address_is_ignored(owner: TestClient) -> None:
    assert browser(owner, ELSEWHERE, X_Remote_User="bo").get(f"{API}/account").status_code == 401
    # An address that a proxy forwards is not that of a proxy.
    forwarded = browser(owner, ELSEWHERE, X_Remote_User="bo", X_Forwarded_For=PROXY)
    assert forwarded.get(f"{API}/account").status_code == 401
    direct = TestClient(owner.app, base_url="http://localhost", headers={HEADER: "bo"}, client=(PROXY, 50_000))
    direct.portal = owner.portal
    assert direct.get(f"{API}/account").status_code == 401
    assert len(read(owner.get(f"{API}/people"))) == 1


def test_several_headers_name_nobody(owner: TestClient) -> None:
    client = browser(owner)
    answer = client.get(f"{API}/account", headers=[(HEADER, "bo"), (HEADER, "ana")])
    assert answer.status_code == 401


def test_a_disabled_person_is_refused(owner: TestClient) -> None:
    person = read(browser(owner, X_Remote_User="bo").get(f"{API}/account"))["person"]
    read(owner.patch(f"{API}/people/{person['id']}", json={"disabled": True}))
    assert browser(owner, X_Remote_User="bo").get(f"{API}/account").status_code == 401


def test_a_page_of_a_named_person_keeps_its_credentials() -> None:
    scope = Credentials("http", "localhost", "", "", "bo").scope(f"{API}/runs")
    assert "bo" in scope.values()
    assert "bo" not in Credentials("http", "localhost", "", "").scope(f"{API}/runs").values()


def test_without_a_header_the_server_handles_proxies() -> None:
    settings = Settings(trusted_proxies=(PROXY,))
    assert server_options(settings)["proxy_headers"] is True
    assert server_options(settings.model_copy(update={"proxy_person_header": HEADER}))["proxy_headers"] is False
