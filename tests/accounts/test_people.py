"""People: the first administrator, invitations, roles, passwords, and sessions."""

import time
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from arcadia_backend.accounts import passwords
from arcadia_backend.accounts.passwords import MAX_PER_ACCOUNT, MAX_PER_ADDRESS, PasswordLimit, TooManyWrongPasswords
from arcadia_backend.cli import main
from arcadia_backend.config import COOKIE, Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import OneTimeLink, Person, SignInSession
from arcadia_backend.refusals import RefusedError
from arcadia_backend.startup.up import create_first_link
from tests.accounts.signing_in import API, PASSWORD, address, create_first, invite, join, read, sign_in, stranger
from tests.factories import Api


@pytest.fixture(autouse=True)
def _fresh_limit(app: FastAPI) -> None:
    """Forget the wrong passwords of other tests, which share the application."""
    app.state.password_limit = PasswordLimit()


def names(client: TestClient) -> list[str]:
    """Return the projects that a person sees."""
    return [project["name"] for project in read(client.get(f"{API}/projects"))]


def test_an_open_server_offers_the_first_account_and_then_requires_a_sign_in(api: Api, client: TestClient) -> None:
    run = api.launch()
    assert read(client.get(f"{API}/account"))["can_create_first"] is True
    assert read(stranger(client).get(f"{API}/session")) == {"required": False, "signed_in": True}
    person = create_first(client)
    assert (person["name"], person["email"], person["is_administrator"]) == ("Ana", "ana@example.org", True)
    account = read(client.get(f"{API}/account"))
    assert account["can_create_first"] is False
    assert account["person"]["id"] == person["id"]
    assert read(client.get(f"{API}/runs", params={"filter": "person = me"}))["items"][0]["id"] == run["id"]
    other = stranger(client)
    for path in ("runs", "people", "account", f"runs/{run['id']}", "audit"):
        assert other.get(f"{API}/{path}").status_code == 401
    assert read(other.get(f"{API}/session/methods")) == {"password": True, "token": False, "openid": False}


def test_only_the_first_account_is_free(client: TestClient) -> None:
    create_first(client)
    body = {"name": "Eve", "email": "eve@example.org", "password": PASSWORD}
    assert client.post(f"{API}/people/first", json=body).status_code == 409
    assert stranger(client).post(f"{API}/people/first", json=body).status_code == 401


def test_an_invitation_works_once(client: TestClient) -> None:
    create_first(client)
    secret = invite(client, "Bo")["path"].partition("#")[2]
    browser = stranger(client)
    assert read(browser.post(f"{API}/session/link", json={"secret": secret})) == {
        "purpose": "invite",
        "name": "Bo",
        "email": "bo@example.org",
    }
    short = browser.post(f"{API}/session/password", json={"secret": secret, "password": "short"})
    assert short.status_code == 422
    read(browser.post(f"{API}/session/password", json={"secret": secret, "password": PASSWORD}))
    assert read(browser.get(f"{API}/account"))["person"]["name"] == "Bo"
    again = stranger(client).post(f"{API}/session/password", json={"secret": secret, "password": PASSWORD})
    assert again.status_code == 410
    assert stranger(client).post(f"{API}/session/link", json={"secret": "invented"}).status_code == 410


def test_an_expired_link_is_refused(client: TestClient, database: Database) -> None:
    create_first(client)
    secret = invite(client, "Bo")["path"].partition("#")[2]
    with database.write() as session:
        session.execute(update(OneTimeLink).values(expires_at=utc_now()))
    answer = stranger(client).post(f"{API}/session/password", json={"secret": secret, "password": PASSWORD})
    assert answer.status_code == 410


def test_a_new_person_sees_nothing_until_somebody_gives_them_a_role(api: Api, client: TestClient) -> None:
    api.launch()
    create_first(client)
    bo = join(client, "Bo")
    assert names(bo) == []
    assert read(bo.get(f"{API}/runs"))["total"] == 0
    read(client.post(f"{API}/projects/1/members", json={"email": address("Bo"), "role": "viewer"}))
    assert names(bo) == ["Main"]
    assert read(bo.get(f"{API}/runs"))["total"] == 1
    refused = bo.patch(f"{API}/runs/1", json={"name": "mine"})
    assert refused.status_code == 403
    assert "editor" in refused.json()["detail"]
    assert "Ana" in refused.json()["detail"]


def test_a_project_can_be_open_to_everyone(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo")
    members = read(client.patch(f"{API}/projects/1/members", json={"everyone": "viewer"}))
    assert members["everyone"] == "viewer"
    assert names(bo) == ["Main"]
    read(client.patch(f"{API}/projects/1/members", json={"everyone": None}))
    assert names(bo) == []


def test_a_group_passes_its_roles_to_its_members(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo")
    person_id = read(bo.get(f"{API}/account"))["person"]["id"]
    group = read(client.post(f"{API}/groups", json={"name": "Lab", "members": [person_id]}), 201)
    assert group["members"] == [{"id": person_id, "name": "Bo"}]
    read(client.post(f"{API}/projects/1/members", json={"group": "Lab", "role": "editor"}))
    assert names(bo) == ["Main"]
    held = read(bo.get(f"{API}/account"))["person"]["roles"]
    assert held == [{"project_id": 1, "project": "Main", "role": "editor", "group": "Lab"}]
    read(client.patch(f"{API}/groups/{group['id']}", json={"members": []}))
    assert names(bo) == []
    assert client.post(f"{API}/groups", json={"name": "Lab"}).status_code == 409
    assert client.delete(f"{API}/groups/{group['id']}").status_code == 204
    assert read(client.get(f"{API}/projects/1/members"))["items"] == []


def test_administrators_of_a_project_choose_its_members(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo", project="Main", role="administrator")
    cy = join(client, "Cy")
    added = read(bo.post(f"{API}/projects/1/members", json={"email": address("Cy"), "role": "viewer"}))
    [role] = [each for each in added["items"] if each["person"]["name"] == "Cy"]
    assert cy.patch(f"{API}/projects/1/members/{role['id']}", json={"role": "editor"}).status_code == 403
    changed = read(bo.patch(f"{API}/projects/1/members/{role['id']}", json={"role": "editor"}))
    assert {each["person"]["name"]: each["role"] for each in changed["items"]} == {
        "Bo": "administrator",
        "Cy": "editor",
    }
    assert bo.delete(f"{API}/projects/1/members/{role['id']}").status_code == 204
    assert names(cy) == []
    assert cy.get(f"{API}/projects/1/members").status_code == 404
    unknown = bo.post(f"{API}/projects/1/members", json={"email": "nobody@example.org", "role": "viewer"})
    assert unknown.status_code == 422
    assert bo.get(f"{API}/people").status_code == 403


def test_several_people_are_invited_at_once_or_none(client: TestClient) -> None:
    create_first(client)
    people = [{"name": name, "email": address(name)} for name in ("Bo", "Cy", "Dee")]
    invitations = read(client.post(f"{API}/people", json={"people": people, "project": "Main", "role": "viewer"}), 201)
    assert [(each["person"]["name"], each["email"]) for each in invitations] == [
        ("Bo", "bo@example.org"),
        ("Cy", "cy@example.org"),
        ("Dee", "dee@example.org"),
    ]
    secrets = {each["path"].partition("#")[2] for each in invitations}
    assert len(secrets) == 3
    for secret in secrets:
        browser = stranger(client)
        read(browser.post(f"{API}/session/password", json={"secret": secret, "password": PASSWORD}))
        assert names(browser) == ["Main"]
    more = [{"name": "Eve", "email": address("Eve")}, {"name": "Fay", "email": address("Bo")}]
    refused = client.post(f"{API}/people", json={"people": more})
    assert (refused.status_code, "bo@example.org" in refused.json()["detail"]) == (409, True)
    assert [each["name"] for each in read(client.get(f"{API}/people"))] == ["Ana", "Bo", "Cy", "Dee"]
    assert client.post(f"{API}/people", json={"people": []}).status_code == 422


def test_administrators_of_a_project_invite_people_into_it(client: TestClient) -> None:
    create_first(client)
    read(client.post(f"{API}/projects", json={"name": "Maze"}), 201)
    bo = join(client, "Bo", project="Main", role="administrator")
    editor, _root = join(client, "Cy", project="Main"), invite(client, "Dee", is_administrator=True)
    old = invite(client, "Eve", project="Main", role="administrator")
    path = f"{API}/projects/1/invitations"
    new = {"name": "Fay", "email": "Fay@example.org"}
    known = [{"name": "x", "email": address(name)} for name in ("Dee", "Eve")]
    invited, root, eve = read(bo.post(path, json={"people": [new, *known], "role": "viewer"}), 201)
    # The link belongs to the new person only, who is in this project only.
    assert (root["path"], eve["path"], root["person"]["name"]) == (None, None, "Dee")
    browser = stranger(client)
    secret = invited["path"].partition("#")[2]
    read(browser.post(f"{API}/session/password", json={"secret": secret, "password": PASSWORD}))
    account = read(browser.get(f"{API}/account"))
    assert (account["person"]["email"], account["is_administrator"]) == ("fay@example.org", False)
    assert [(each["project"], each["role"]) for each in account["person"]["roles"]] == [("Main", "viewer")]
    # Inviting never takes a role away, and ends no earlier link.
    held = {each["person"]["name"]: each["role"] for each in read(bo.get(f"{API}/projects/1/members"))["items"]}
    assert held == {"Bo": "administrator", "Eve": "administrator", "Cy": "editor", "Dee": "viewer", "Fay": "viewer"}
    link = {"secret": old["path"].partition("#")[2]}
    assert read(stranger(client).post(f"{API}/session/link", json=link))["name"] == "Eve"
    for wrong in ({"role": "administrator"}, {"role": "viewer", "is_administrator": True}):
        assert bo.post(path, json={"people": [new], **wrong}).status_code == 422
    other = {"people": [{"name": "Gus", "email": "gus@example.org"}], "role": "viewer"}
    assert bo.post(f"{API}/projects/2/invitations", json=other).status_code == 404
    for browser in (editor, stranger(client)):
        assert browser.post(path, json=other).status_code in (401, 403)
    assert "Gus" not in [each["name"] for each in read(client.get(f"{API}/people"))]


# The last ones look like Ana: with another alphabet, width, and letters that show nothing.
@pytest.mark.parametrize("name", ["Ana", " ANA", "a n a", "An\u0430", "\uff21\uff4e\uff41", "A\u200bna", "Ana\u3164"])
def test_nobody_takes_a_name_that_looks_like_that_of_somebody_else(client: TestClient, name: str) -> None:
    create_first(client)
    bo = join(client, "Bo")
    refused = bo.patch(f"{API}/account", json={"name": name})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "name")
    person = {"name": name, "email": "cy@example.org"}
    assert client.post(f"{API}/people", json={"people": [person]}).status_code == 422
    assert client.patch(f"{API}/people/2", json={"name": name}).status_code == 422
    # One's own name may be spelled in another way.
    assert client.patch(f"{API}/account", json={"name": name}).status_code == 200


@pytest.mark.parametrize("name", ["arcadia user", "\u200b\u200b"])
def test_nobody_has_a_name_of_the_audit_log_or_none(client: TestClient, name: str) -> None:
    create_first(client)
    assert client.patch(f"{API}/account", json={"name": name}).status_code == 422


def test_an_administrator_remains(client: TestClient) -> None:
    ana = create_first(client)["id"]
    assert client.patch(f"{API}/people/{ana}", json={"is_administrator": False}).status_code == 409
    assert client.patch(f"{API}/people/{ana}", json={"disabled": True}).status_code == 409
    bo = invite(client, "Bo", is_administrator=True)["person"]["id"]
    read(client.patch(f"{API}/people/{ana}", json={"is_administrator": False}))
    assert client.patch(f"{API}/people/{bo}", json={"is_administrator": False}).status_code == 403


def test_a_disabled_person_is_signed_out(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo", project="Main")
    person_id = read(bo.get(f"{API}/account"))["person"]["id"]
    secret = read(bo.post(f"{API}/tokens", json={"name": "script", "scopes": ["read"]}), 201)["secret"]
    bearer = {"Authorization": f"Bearer {secret}"}
    assert stranger(client).get(f"{API}/runs", headers=bearer).status_code == 200
    read(client.patch(f"{API}/people/{person_id}", json={"disabled": True}))
    assert bo.get(f"{API}/runs").status_code == 401
    assert stranger(client).get(f"{API}/runs", headers=bearer).status_code == 401
    assert sign_in(stranger(client), "Bo").status_code == 401
    read(client.patch(f"{API}/people/{person_id}", json={"disabled": False}))
    assert sign_in(stranger(client), "Bo").status_code == 200


def test_a_reset_ends_the_other_sessions(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo")
    person_id = read(bo.get(f"{API}/account"))["person"]["id"]
    secret = read(client.post(f"{API}/people/{person_id}/link"))["path"].partition("#")[2]
    browser = stranger(client)
    new = "another long password"
    read(browser.post(f"{API}/session/password", json={"secret": secret, "password": new}))
    assert bo.get(f"{API}/account").status_code == 401
    assert sign_in(stranger(client), "Bo").status_code == 401
    assert sign_in(stranger(client), "Bo", new).status_code == 200


def test_a_new_password_needs_the_old_one(client: TestClient) -> None:
    create_first(client)
    other = stranger(client)
    read(sign_in(other, "Ana"))
    wrong = client.post(f"{API}/account/password", json={"old_password": "wrong", "new_password": "x" * 12})
    assert wrong.status_code == 422
    body = {"old_password": PASSWORD, "new_password": "another long password"}
    assert client.post(f"{API}/account/password", json=body).status_code == 204
    assert client.get(f"{API}/account").status_code == 200
    assert other.get(f"{API}/account").status_code == 401


def test_sessions_are_listed_and_end(client: TestClient, database: Database) -> None:
    create_first(client)
    other = stranger(client)
    read(sign_in(other, "Ana"))
    listed = read(client.get(f"{API}/sessions"))
    assert [each["is_current"] for each in listed].count(True) == 1
    assert {each["browser"] for each in listed} == {"testclient"}
    [ended] = [each["id"] for each in listed if not each["is_current"]]
    assert client.delete(f"{API}/sessions/{ended}").status_code == 204
    assert other.get(f"{API}/account").status_code == 401
    read(sign_in(other, "Ana"))
    assert client.delete(f"{API}/sessions").status_code == 204
    assert (client.get(f"{API}/account").status_code, other.get(f"{API}/account").status_code) == (401, 401)
    with database.read() as session:
        stored = session.scalars(select(SignInSession.digest)).all()
    assert all(len(digest) == 64 for digest in stored)
    assert client.cookies[COOKIE] not in stored


def test_people_do_not_end_sessions_of_others(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo")
    [own] = [each["id"] for each in read(client.get(f"{API}/sessions")) if each["is_current"]]
    assert bo.delete(f"{API}/sessions/{own}").status_code == 404
    assert bo.get(f"{API}/sessions", params={"everyone": True}).status_code == 403
    assert len(read(client.get(f"{API}/sessions", params={"everyone": True}))) == 2


def test_a_sign_in_never_adopts_a_given_cookie(client: TestClient) -> None:
    create_first(client)
    victim = stranger(client)
    victim.cookies.set(COOKIE, "chosen-by-an-attacker", domain="localhost.local")
    answer = sign_in(victim, "Ana")
    assert answer.cookies[COOKIE] != "chosen-by-an-attacker"
    attacker = stranger(client)
    attacker.cookies.set(COOKIE, "chosen-by-an-attacker")
    assert attacker.get(f"{API}/account").status_code == 401


@pytest.mark.parametrize("guesses", [100, pytest.param(1_000, marks=pytest.mark.nightly)])
def test_wrong_passwords_lock_nobody_else_out(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, guesses: int
) -> None:
    create_first(client)
    join(client, "Bo")
    join(client, "Cy")
    checks = 0

    def count_checks(password_hash: str | None, password: str) -> bool:
        nonlocal checks
        checks += 1
        return matches(password_hash, password)

    matches = passwords.matches
    monkeypatch.setattr("arcadia_backend.accounts.sign_in.matches", count_checks)
    attacker = TestClient(client.app, base_url="http://localhost", client=("203.0.113.9", 1))
    attacker.portal = client.portal
    statuses = [sign_in(attacker, "Ana", f"guess {number}").status_code for number in range(guesses)]
    assert statuses == [401] * MAX_PER_ACCOUNT + [429] * (guesses - MAX_PER_ACCOUNT)
    # The expensive check ran only for the first ones.
    assert checks == MAX_PER_ACCOUNT
    # Neither a person at another address, nor one at the address of the attacker, nor the attacked one is refused.
    began = time.monotonic()
    assert sign_in(stranger(client), "Bo").status_code == 200
    behind_the_same_proxy = TestClient(client.app, base_url="http://localhost", client=("203.0.113.9", 2))
    behind_the_same_proxy.portal = client.portal
    assert sign_in(behind_the_same_proxy, "Cy").status_code == 200
    assert sign_in(stranger(client), "Ana").status_code == 200
    assert time.monotonic() - began < 5


def test_many_guesses_over_many_accounts_share_one_lane() -> None:
    now = 0.0
    limit = PasswordLimit(lambda: now)
    for number in range(MAX_PER_ADDRESS):
        with limit.attempt(f"person {number}", "203.0.113.9", is_known=False) as count:
            count()
    # The lane has room for one check. Another address is not in it.
    with (
        limit.attempt("bo", "203.0.113.9", is_known=False),
        limit.attempt("cy", "198.51.100.7", is_known=False),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(passwords, "LANE_SECONDS", 0.01)
        with pytest.raises(TooManyWrongPasswords), limit.attempt("dee", "203.0.113.9", is_known=False):
            raise AssertionError("the lane is taken")
    now = 61.0
    with limit.attempt("a", "203.0.113.9", is_known=False), limit.attempt("b", "203.0.113.9", is_known=False):
        pass


def test_unknown_and_known_accounts_answer_alike(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    create_first(client)
    hashes: list[str | None] = []

    def record(password_hash: str | None, password: str) -> bool:
        hashes.append(password_hash)
        return matches(password_hash, password)

    matches = passwords.matches
    monkeypatch.setattr("arcadia_backend.accounts.sign_in.matches", record)
    known, unknown = sign_in(stranger(client), "Ana", "wrong"), sign_in(stranger(client), "Nobody", "wrong")
    assert (known.status_code, known.json()) == (unknown.status_code, unknown.json())
    # Both are checked, the unknown one against a hash of the same kind.
    assert (hashes[0] is None, hashes[1] is None) == (False, True)
    invited = invite(client, "Bo")["person"]["id"]
    assert read(client.get(f"{API}/people/{invited}"))["has_password"] is False
    assert sign_in(stranger(client), "Bo", "").json() == known.json()


def test_passwords_are_stored_as_argon2(client: TestClient, database: Database, hasher: PasswordHasher) -> None:
    assert hasher.memory_cost >= 64 * 1024, "in KiB"
    create_first(client)
    with database.read() as session:
        stored = session.scalars(select(Person.password_hash)).one()
    assert stored is not None
    assert stored.startswith("$argon2id$")


def test_runs_say_who_launched_changed_and_stopped_them(api: Api, client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo", project="Main")
    run = read(bo.post(f"{API}/runs", json={"preset": "paac-cartpole"}), 201)
    assert (run["launched_by"], run["changed_by"], run["stopped_by"]) == ("Bo", None, None)
    client.patch(f"{API}/runs/{run['id']}", json={"name": "Better"}).raise_for_status()
    client.post(f"{API}/runs/{run['id']}/stop").raise_for_status()
    shown = read(bo.get(f"{API}/runs/{run['id']}"))
    assert (shown["launched_by"], shown["changed_by"], shown["stopped_by"]) == ("Bo", "Ana", "Ana")
    for caller, text, total in ((bo, "person = me", 1), (client, "person = me", 0), (client, "person = Bo", 1)):
        assert read(caller.get(f"{API}/runs", params={"filter": text}))["total"] == total
    assert api.run(run["id"])["launched_by"] == "Bo"


def test_people_are_managed_on_the_machine(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    if not settings.resolved_database_url.startswith("sqlite"):
        pytest.skip("the command reads the folder's database")
    data = ["--data", str(settings.data_dir)]
    assert main(["user", "list", *data]) == 0
    assert "Nobody has an account" in capsys.readouterr().out
    assert main(["user", "add", "Ana Silva", "Ana@example.org", *data]) == 0
    assert "/welcome#" in capsys.readouterr().out
    assert main(["user", "add", "Bo", "bo@example.org", *data]) == 0
    assert main(["user", "disable", "ana@example.org", *data]) == RefusedError.status
    assert "administrator" in capsys.readouterr().err
    assert main(["user", "promote", "bo@example.org", *data]) == 0
    assert main(["user", "disable", "ana@example.org", *data]) == 0
    capsys.readouterr()
    assert main(["user", "list", *data]) == 0
    listed = capsys.readouterr().out
    assert "Ana Silva <ana@example.org> (administrator, disabled, invited)" in listed
    assert "Bo <bo@example.org> (administrator, invited)" in listed
    assert main(["user", "link", "nobody@example.org", *data]) == RefusedError.status


def test_the_link_of_up_creates_the_first_administrator(
    client: TestClient, settings: Settings, database: Database
) -> None:
    elsewhere = settings.model_copy(update={"host": "0.0.0.0", "public_url": "https://arcadia.example.org"})  # noqa: S104
    link = create_first_link(elsewhere)
    assert link is not None
    assert link.startswith("https://arcadia.example.org/welcome#")
    browser, secret = stranger(client), link.partition("#")[2]
    assert read(browser.post(f"{API}/session/link", json={"secret": secret}))["purpose"] == "first"
    assert browser.post(f"{API}/session/password", json={"secret": secret, "password": PASSWORD}).status_code == 422
    body = {"secret": secret, "password": PASSWORD, "name": "Ana", "email": "ana@example.org"}
    read(browser.post(f"{API}/session/password", json=body))
    assert read(browser.get(f"{API}/account"))["is_administrator"] is True
    assert stranger(client).post(f"{API}/session/password", json=body).status_code == 410
    assert create_first_link(elsewhere) is None
    with database.read() as session:
        assert session.scalars(select(OneTimeLink)).all() == []


def test_the_data_folder_keeps_no_secrets(client: TestClient, settings: Settings, tmp_path: Path) -> None:
    if not settings.resolved_database_url.startswith("sqlite"):
        pytest.skip("reads the file of the database")
    create_first(client)
    secret = invite(client, "Bo")["path"].partition("#")[2]
    token = read(client.post(f"{API}/tokens", json={"name": "a", "scopes": ["read"]}), 201)["secret"]
    content = b"".join(file.read_bytes() for file in tmp_path.glob("arcadia.db*"))
    assert b"ana@example.org" in content
    for each in (PASSWORD, secret, token, client.cookies[COOKIE]):
        assert each.encode() not in content


def test_a_person_without_a_role_learns_who_can_give_one(client: TestClient) -> None:
    create_first(client)
    bo, vi = join(client, "Bo"), join(client, "Vi", project="Main", role="viewer")
    for browser, has_role, names in ((bo, False, ["Ana"]), (vi, True, []), (client, True, [])):
        account = read(browser.get(f"{API}/account"))
        assert (account["has_role"], account["administrators"]) == (has_role, names)
    # A project that is open to everyone gives a role.
    client.patch(f"{API}/projects/1/members", json={"everyone": "viewer"}).raise_for_status()
    assert read(bo.get(f"{API}/account"))["has_role"] is True
