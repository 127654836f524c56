"""Logins of a command line by a code that a person confirms in a browser."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update

from arcadia_backend.accounts import device_login
from arcadia_backend.accounts.passwords import digest_of
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import AccessToken, AuditEntry, DeviceLogin
from arcadia_backend.web.security import MAX_WRONG_TOKENS, WrongTokenLimit
from tests.accounts.signing_in import API, PASSWORD, create_first, join, read, stranger
from tests.factories import Response

REQUEST = {"name": "ana@laptop", "scopes": ["read", "write"]}


@pytest.fixture(autouse=True)
def _fresh_limit(app: FastAPI) -> None:
    """Forget wrong codes of other tests."""
    app.state.login_code_limit = WrongTokenLimit("wrong code of a login")


def start(client: TestClient, **more: object) -> dict[str, Any]:
    """Start a login on a command line."""
    started: dict[str, Any] = read(stranger(client).post(f"{API}/session/device", json={**REQUEST, **more}), 201)
    return started


def poll(client: TestClient, started: dict[str, Any]) -> Response:
    """Ask for the token of a login."""
    return stranger(client).post(f"{API}/session/device/token", json={"secret": started["secret"]})


def confirm(client: TestClient, started: dict[str, Any], **more: object) -> Response:
    """Confirm a login in the browser of a person."""
    body = {"code": started["code"], "scopes": ["read", "write"], **more}
    return client.post(f"{API}/account/device/confirm", json=body)


def state_of(response: Response) -> str:
    """Return the kind of the problem of a poll."""
    assert response.status_code == 400, response.text
    return str(response.json()["type"].rpartition("/")[2])


def wait(database: Database) -> None:
    """Let the time between two polls pass."""
    with database.write() as session:
        session.execute(update(DeviceLogin).values(polled_at=None))


def test_a_confirmed_login_gets_a_token_once(client: TestClient, database: Database) -> None:
    create_first(client)
    started = start(client)
    assert started["path_with_code"] == f"/device#{started['code']}"
    assert state_of(poll(client, started)) == "authorization-pending"
    shown = read(client.post(f"{API}/account/device", json={"code": started["code"].lower().replace("-", " ")}))
    assert (shown["name"], shown["address"], shown["scopes"]) == ("ana@laptop", "testclient", ["read", "write"])
    assert confirm(client, started, scopes=["read"], days=7).status_code == 204
    wait(database)
    token = read(poll(client, started), 201)
    assert (token["name"], token["scopes"], token["person"]["name"]) == ("ana@laptop", ["read"], "Ana")
    own = {"Authorization": f"Bearer {token['secret']}"}
    assert stranger(client).get(f"{API}/runs", headers=own).status_code == 200
    assert stranger(client).post(f"{API}/runs", json={}, headers=own).status_code == 403
    # A second one cannot collect it again.
    wait(database)
    assert state_of(poll(client, started)) == "expired-token"
    with database.read() as session:
        [stored] = session.scalars(select(AccessToken)).all()
        assert stored.expires_at is not None
        assert timedelta(days=6) < stored.expires_at - utc_now() < timedelta(days=8)
        actions = session.scalars(select(AuditEntry.action).where(AuditEntry.name == "Ana")).all()
        assert {"confirm login", "create"} <= set(actions)


def test_only_digests_are_stored(client: TestClient, database: Database) -> None:
    create_first(client)
    started = start(client)
    code = started["code"].replace("-", "")
    with database.read() as session:
        row = session.scalars(select(DeviceLogin)).one()
        assert (row.digest, row.code_digest) == (digest_of(started["secret"]), digest_of(code))
        values = " ".join(str(getattr(row, column.key)) for column in DeviceLogin.__table__.columns)
    assert started["secret"] not in values
    assert code not in values


def test_a_login_is_confirmed_or_refused_once(client: TestClient) -> None:
    create_first(client)
    started = start(client)
    assert client.post(f"{API}/account/device/refuse", json={"code": started["code"]}).status_code == 204
    assert state_of(poll(client, started)) == "access-denied"
    assert confirm(client, started).status_code == 404
    confirmed = start(client)
    assert confirm(client, confirmed).status_code == 204
    assert confirm(client, confirmed).status_code == 404
    assert client.post(f"{API}/account/device/refuse", json={"code": confirmed["code"]}).status_code == 404
    assert read(poll(client, confirmed), 201)["person"]["name"] == "Ana"


def test_an_expired_login_is_neither_confirmed_nor_collected(client: TestClient, database: Database) -> None:
    create_first(client)
    late, confirmed = start(client), start(client)
    assert confirm(client, confirmed).status_code == 204
    with database.write() as session:
        session.execute(update(DeviceLogin).values(expires_at=utc_now()))
    assert confirm(client, late).status_code == 404
    assert state_of(poll(client, late)) == "expired-token"
    assert state_of(poll(client, confirmed)) == "expired-token"
    assert state_of(poll(client, {"secret": "invented"})) == "expired-token"
    with database.write() as session:
        device_login.delete_ended(session, utc_now() + device_login.KEPT_AFTER_END + timedelta(minutes=1))
        assert session.scalars(select(DeviceLogin)).all() == []


def test_polling_too_fast_slows_down(client: TestClient, database: Database) -> None:
    create_first(client)
    started = start(client)
    assert state_of(poll(client, started)) == "authorization-pending"
    assert confirm(client, started).status_code == 204
    assert state_of(poll(client, started)) == "slow-down"
    with database.read() as session:
        interval = session.scalars(select(DeviceLogin.interval_seconds)).one()
    assert interval == started["interval"] + device_login.SLOW_DOWN_SECONDS
    wait(database)
    assert read(poll(client, started), 201)["secret"].startswith("arcadia_")


def test_wrong_codes_are_limited_by_person(client: TestClient) -> None:
    create_first(client)
    bo, started = join(client, "Bo"), start(client)
    for number in range(MAX_WRONG_TOKENS):
        assert bo.post(f"{API}/account/device", json={"code": f"BCDF-GHJ{chr(75 + number)}"}).status_code == 404
    refused = bo.post(f"{API}/account/device/confirm", json={"code": "ZZZZ-ZZZZ", "scopes": ["read"]})
    assert refused.status_code == 429
    # Nobody else is refused, at the same address.
    assert read(client.post(f"{API}/account/device", json={"code": started["code"]}))["name"] == "ana@laptop"


def test_many_waiting_logins_keep_nobody_from_signing_in(
    client: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_first(client)
    polled = start(client)
    assert state_of(poll(client, polled)) == "authorization-pending"
    abandoned = start(client)
    flood = [start(client) for _ in range(device_login.MAX_PER_NETWORK)]
    # The oldest ones for whose token no terminal has asked have ended, and there is never more than the limit.
    assert confirm(client, abandoned).status_code == 404
    assert state_of(poll(client, flood[0])) == "expired-token"
    with database.read() as session:
        assert session.scalar(select(func.count()).select_from(DeviceLogin)) == device_login.MAX_PER_NETWORK
    wait(database)
    for started in (polled, flood[-1]):
        assert confirm(client, started).status_code == 204
        assert read(poll(client, started), 201)["person"]["name"] == "Ana"
    # A full server takes the place from the network with the most.
    monkeypatch.setattr(device_login, "MAX_WAITING", device_login.MAX_PER_NETWORK - 1)
    with database.write() as session:
        elsewhere = device_login.start(session, "elsewhere", ["read"], "192.0.2.1", "192.0.2.1")
    newest = start(client)
    with database.read() as session:
        assert device_login.find_waiting(session, elsewhere.code).name == "elsewhere"
        assert device_login.find_waiting(session, newest["code"]).name == "ana@laptop"


def disable_and_enable(ana: TestClient, _bo: TestClient, person: int) -> Response:
    """Disable a person for a moment."""
    read(ana.patch(f"{API}/people/{person}", json={"disabled": True}))
    return ana.patch(f"{API}/people/{person}", json={"disabled": False})


Ending = Callable[[TestClient, TestClient, int], Response]
NEW_PASSWORD = {"old_password": PASSWORD, "new_password": "another long password"}
ENDINGS: dict[str, Ending] = {
    "sign out everywhere": lambda _ana, bo, _id: bo.delete(f"{API}/sessions"),
    "a new password": lambda _ana, bo, _id: bo.post(f"{API}/account/password", json=NEW_PASSWORD),
    "revoke all tokens": lambda _ana, bo, _id: bo.delete(f"{API}/tokens"),
    "an administrator signs the person out": lambda ana, _bo, person: ana.delete(f"{API}/people/{person}/sessions"),
    "an administrator revokes the tokens": lambda ana, _bo, person: ana.delete(f"{API}/people/{person}/tokens"),
    "disabled and enabled again": disable_and_enable,
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_a_confirmed_login_collects_nothing_afterwards(client: TestClient, database: Database, ending: Ending) -> None:
    create_first(client)
    bo, started, other = join(client, "Bo"), start(client), start(client)
    for browser, each in ((bo, started), (client, other)):
        assert confirm(browser, each).status_code == 204
    person = read(bo.get(f"{API}/account"))["person"]["id"]
    assert ending(client, bo, person).is_success
    assert state_of(poll(client, started)) == "access-denied"
    # Those of other people are not affected.
    assert read(poll(client, other), 201)["person"]["name"] == "Ana"
    with database.read() as session:
        assert session.scalars(select(AccessToken).where(AccessToken.person_id == person)).all() == []


def test_a_login_never_gets_more_than_it_asked_for_or_the_person_has(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo")
    started = start(client, scopes=["read", "worker"])
    assert confirm(bo, started, scopes=["worker"]).status_code == 403
    assert confirm(bo, started, scopes=["write"]).status_code == 409
    assert confirm(bo, started, scopes=["read", "write"], project="Main").status_code == 422
    for days in (None, 366):
        assert confirm(bo, started, scopes=["read"], days=days).json()["errors"][0]["field"] == "days"
    assert confirm(bo, started, scopes=["read", "write"]).status_code == 204
    assert read(poll(client, started), 201)["scopes"] == ["read"]


def test_a_disabled_person_gives_no_token(client: TestClient) -> None:
    create_first(client)
    bo, started = join(client, "Bo"), start(client)
    assert confirm(bo, started).status_code == 204
    [person] = [each for each in read(client.get(f"{API}/people")) if each["name"] == "Bo"]
    read(client.patch(f"{API}/people/{person['id']}", json={"disabled": True}))
    assert state_of(poll(client, started)) == "access-denied"


def test_only_a_signed_in_browser_confirms(client: TestClient) -> None:
    create_first(client)
    started = start(client)
    assert confirm(stranger(client), started).status_code == 401
    secret = read(client.post(f"{API}/tokens", json={"name": "script", "scopes": ["read", "write"]}), 201)["secret"]
    headers = {"Authorization": f"Bearer {secret}"}
    body = {"code": started["code"], "scopes": ["read"]}
    assert stranger(client).post(f"{API}/account/device/confirm", json=body, headers=headers).status_code == 403
    foreign = {"Origin": "https://evil.example"}
    assert client.post(f"{API}/account/device/confirm", json=body, headers=foreign).status_code == 403


def test_without_accounts_there_is_no_login(client: TestClient) -> None:
    assert client.post(f"{API}/session/device", json=REQUEST).status_code == 409
    for path in ("account/device", "account/device/refuse"):
        assert client.post(f"{API}/{path}", json={"code": "x"}).status_code == 409


@pytest.mark.parametrize("scopes", [["read", "write"], ["log"]])
def test_a_token_revokes_itself(client: TestClient, database: Database, scopes: list[str]) -> None:
    create_first(client)
    secret = read(client.post(f"{API}/tokens", json={"name": "script", "scopes": scopes}), 201)["secret"]
    headers = {"Authorization": f"Bearer {secret}"}
    assert stranger(client).delete(f"{API}/session/token", headers=headers).status_code == 204
    assert stranger(client).get(f"{API}/account", headers=headers).status_code == 401
    # A session has no token, and stays.
    assert client.delete(f"{API}/session/token").status_code == 404
    assert client.get(f"{API}/account").status_code == 200
    with database.read() as session:
        revoked = session.scalars(select(AuditEntry).where(AuditEntry.action == "revoke")).all()
        assert [(entry.kind, entry.object_name) for entry in revoked] == [("token", "script")]
