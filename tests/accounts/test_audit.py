"""The audit log: who did what, written with the change."""

import json
from argparse import Namespace
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update

from arcadia_backend.accounts import audit, commands
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import Scope, acting_as
from arcadia_backend.database.tables import AlertChannel, AuditEntry, Person, Run
from tests.accounts.signing_in import API, PASSWORD, create_first, join, read, sign_in, stranger
from tests.factories import Api, started


def entries(client: TestClient, **filters: Any) -> list[dict[str, Any]]:
    """Return entries of the audit log, newest first."""
    items: list[dict[str, Any]] = read(client.get(f"{API}/audit", params=filters))["items"]
    return items


def launch(client: TestClient) -> int:
    """Launch a run."""
    number: int = read(client.post(f"{API}/runs", json={"preset": "paac-cartpole"}), 201)["id"]
    return number


def test_an_open_server_records_its_owner(api: Api, client: TestClient, database: Database) -> None:
    api.act(api.launch()["id"], "stop")
    with database.read() as session:
        owner = session.scalar(select(Person.id).where(Person.is_owner.is_(True)))
    assert [(entry["action"], entry["person_id"], entry["name"]) for entry in entries(client)] == [
        ("stop", owner, "testclient (API)"),
        ("create", owner, "testclient (API)"),
    ]


def test_a_change_is_recorded_with_the_old_and_the_new_value(client: TestClient) -> None:
    ana = create_first(client)["id"]
    run = launch(client)
    client.patch(f"{API}/runs/{run}", json={"name": "Better", "priority": 3}).raise_for_status()
    [entry] = entries(client, kind="run", action="change")
    assert (entry["name"], entry["person_id"], entry["address"]) == ("Ana", ana, "testclient")
    assert (entry["object_id"], entry["object_name"], entry["project_id"]) == (str(run), "Better", 1)
    assert entry["before"] == {"name": "PAAC on CartPole", "priority": 0}
    assert entry["after"] == {"name": "Better", "priority": 3}


@pytest.mark.parametrize("actions", [["stop", "archive", "restore"], ["pause", "resume"]])
def test_actions_have_their_own_verbs(client: TestClient, actions: list[str]) -> None:
    create_first(client)
    run = launch(client)
    for action in actions:
        client.post(f"{API}/runs/{run}/{action}").raise_for_status()
    recorded = [entry["action"] for entry in entries(client, kind="run")]
    assert recorded == [*reversed(actions), "create"]


def test_changed_settings_are_recorded(client: TestClient) -> None:
    create_first(client)
    run = launch(client)
    body = {"fields": {"learning_rate": 0.0001}}
    client.post(f"{API}/runs/{run}/changes", json=body).raise_for_status()
    [entry] = entries(client, action="change settings")
    assert entry["after"] == {"learning_rate": 0.0001}
    assert entry["before"]["learning_rate"] != 0.0001


def test_an_entry_is_stored_with_its_change_or_not_at_all(api: Api, database: Database) -> None:
    run = api.launch()["id"]
    ana = Scope(everything=True, person_id=1, name="Ana")
    renamed = select(func.count()).where(AuditEntry.name == "Ana", AuditEntry.action == "change")

    def rename(*, fails: bool) -> None:
        with acting_as(ana), database.write() as session:
            session.get_one(Run, run).name = "Renamed"
            session.flush()
            assert session.scalar(renamed) == 1
            if fails:
                raise RuntimeError("the transaction is rolled back")

    with pytest.raises(RuntimeError):
        rename(fails=True)
    with database.read() as session:
        assert session.scalar(renamed) == 0
    rename(fails=False)
    with database.read() as session:
        assert session.scalar(renamed) == 1


def test_entries_outlive_their_objects(client: TestClient) -> None:
    create_first(client)
    project = read(client.post(f"{API}/projects", json={"name": "Maze"}), 201)["id"]
    assert client.delete(f"{API}/projects/{project}").status_code == 204
    listed = entries(client, kind="project", object_id=str(project))
    assert [(each["action"], each["object_name"]) for each in listed] == [("delete", "Maze"), ("create", "Maze")]
    assert listed[0]["before"] == {"name": "Maze"}


def test_accounts_are_recorded_without_their_secrets(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo", project="Main", role="viewer")
    [role] = read(client.get(f"{API}/projects/1/members"))["items"]
    client.patch(f"{API}/projects/1/members/{role['id']}", json={"role": "editor"}).raise_for_status()
    secret = read(bo.post(f"{API}/tokens", json={"name": "script", "scopes": ["read"]}), 201)["secret"]
    assert sign_in(stranger(client), "Bo", "wrong password").status_code == 401
    assert bo.delete(f"{API}/session").status_code == 204
    [changed] = entries(client, kind="role", action="change")
    assert (changed["object_name"], changed["before"], changed["after"]) == (
        "Bo, editor",
        {"role": "viewer"},
        {"role": "editor"},
    )
    recorded = [(each["action"], each["kind"], each["name"]) for each in entries(client)]
    for expected in (
        ("create first account", "person", "Ana"),
        ("create", "person", "Ana"),
        ("create invite link", "person", "Ana"),
        ("choose password", "person", "Bo"),
        ("sign in", "person", "Bo"),
        ("create", "token", "Bo"),
        ("refuse sign-in", "person", ""),
        ("sign out", "person", "Bo"),
    ):
        assert expected in recorded
    exported = client.get(f"{API}/audit/export").text
    for hidden in (secret, PASSWORD, "wrong password", "$argon2"):
        assert hidden not in exported


def test_a_bulk_action_is_of_the_person_who_requested_it(api: Api, client: TestClient) -> None:
    create_first(client)
    runs = [launch(client) for _number in range(2)]
    project = read(client.post(f"{API}/projects", json={"name": "Maze"}), 201)["id"]
    client.post(f"{API}/projects/{project}/items", json={"runs": runs}).raise_for_status()
    client.post(f"{API}/bulk-actions", params={"project": "Maze"}, json={"action": "stop"}).raise_for_status()
    api.user.app.state.bulk_action_thread.run_once()  # type: ignore[union-attr]
    stopped = entries(client, kind="run", action="stop")
    assert {each["object_id"] for each in stopped} == {str(run) for run in runs}
    assert {each["name"] for each in stopped} == {"Ana"}
    assert {api.run(run)["stopped_by"] for run in runs} == {"Ana"}


def test_a_bulk_action_has_an_entry_in_each_project_of_its_runs(client: TestClient) -> None:
    create_first(client)
    first, _second = launch(client), launch(client)
    project = read(client.post(f"{API}/projects", json={"name": "Maze"}), 201)["id"]
    client.post(f"{API}/projects/{project}/items", json={"runs": [first]}).raise_for_status()
    body = {"action": "tag", "tags": ["x"]}
    # Otherwise the action may be done before it is cancelled.
    client.app.state.bulk_action_thread.stop()  # type: ignore[attr-defined]
    bulk = read(client.post(f"{API}/bulk-actions", json=body), 201)["id"]
    client.post(f"{API}/bulk-actions/{bulk}/cancel").raise_for_status()
    recorded = entries(client, kind="bulk action", object_id=bulk)
    found = {(each["action"], each["project_id"]) for each in recorded}
    assert found == {(action, number) for action in ("start", "cancel") for number in (1, project)}
    # Each has the number of the runs of its project.
    assert {(each["object_name"], *each["after"]["tags"], each["after"]["runs"]) for each in recorded} == {
        ("tag", "x", 1)
    }


@pytest.mark.parametrize("way", ["items", "edit"])
def test_a_move_has_an_entry_in_both_projects(client: TestClient, way: str) -> None:
    create_first(client)
    run = launch(client)
    project = read(client.post(f"{API}/projects", json={"name": "Maze"}), 201)["id"]
    before = join(client, "Bo", project="Main", role="administrator")
    after = join(client, "Cy", project="Maze", role="administrator")
    if way == "items":
        client.post(f"{API}/projects/{project}/items", json={"runs": [run]}).raise_for_status()
        # It is there already.
        client.post(f"{API}/projects/{project}/items", json={"runs": [run]}).raise_for_status()
    else:
        client.patch(f"{API}/runs/{run}", json={"project": "Maze"}).raise_for_status()
    for browser, project_id in ((before, 1), (after, project)):
        [entry] = entries(browser, kind="run", action="move")
        assert (entry["object_id"], entry["project_id"], entry["name"]) == (str(run), project_id, "Ana")
        assert (entry["before"], entry["after"]) == ({"project_id": 1}, {"project_id": project})


def test_a_merge_has_an_entry_in_both_projects(client: TestClient) -> None:
    create_first(client)
    project = read(client.post(f"{API}/projects", json={"name": "Maze"}), 201)["id"]
    client.post(f"{API}/projects/{project}/items", json={"runs": [launch(client)]}).raise_for_status()
    client.post(f"{API}/projects/{project}/merge", json={"into": "Main"}).raise_for_status()
    merged = entries(client, kind="project", action="merge")
    assert {each["project_id"] for each in merged} == {1, project}
    assert merged[0]["object_name"] == "Maze"
    assert merged[0]["after"] == {"into": 1, "runs": 1}


def test_tags_are_recorded(client: TestClient) -> None:
    create_first(client)
    run = launch(client)
    client.patch(f"{API}/runs/{run}", json={"tags": ["b", "a"]}).raise_for_status()
    client.patch(f"{API}/runs/{run}", json={"tags": ["b", "c"]}).raise_for_status()
    client.patch(f"{API}/runs/{run}", json={"tags": ["c", "b"]}).raise_for_status()
    second, first = entries(client, kind="run", action="change")
    assert (first["before"], first["after"]) == ({"tags": []}, {"tags": ["a", "b"]})
    assert (second["before"], second["after"]) == ({"tags": ["a", "b"]}, {"tags": ["b", "c"]})


def test_the_address_and_the_secret_of_a_channel_are_not_in_the_log(client: TestClient, database: Database) -> None:
    create_first(client)
    body = {"kind": "webhook", "name": "x", "url": "https://hooks.example.org/hidden"}
    made = read(client.post(f"{API}/alert-channels", json=body), 201)
    with acting_as(Scope(everything=True, person_id=1, name="Ana")), database.write() as session:
        channel = session.get_one(AlertChannel, made["id"])
        channel.url, channel.secret = "https://hooks.example.org/other", "another"
    changed, created = entries(client, kind="alert channel")
    address = "https://hooks.example.org…"
    assert (created["after"]["url"], created["after"]["secret"]) == (address, "secret")
    assert changed["before"] == changed["after"] == {"url": address, "secret": "secret"}
    exported = client.get(f"{API}/audit/export").text
    for hidden in (made["secret"], "another", "hidden", "other"):
        assert hidden not in exported


def test_sign_ins_of_unknown_accounts_are_recorded(client: TestClient) -> None:
    create_first(client)
    # Who has a session in this browser did not necessarily try it.
    assert sign_in(client, "Nobody").status_code == 401
    # A password in the wrong field is no e-mail address.
    body = {"email": "my password", "password": "x"}
    assert stranger(client).post(f"{API}/session", json=body).status_code == 401
    second, first = entries(client, kind="unknown account", action="refuse sign-in")
    assert (first["object_name"], first["address"], first["person_id"]) == ("nobody@example.org", "testclient", None)
    assert (first["project_id"], second["object_name"]) == (None, "")


def test_refused_sign_ins_do_not_fill_the_disk(database: Database) -> None:
    with database.write() as session:
        session.add(known := Person(name="Ana", email="ana@example.org"))
        session.flush()
        for number in range(300):
            audit.record_refused(session, None, f"{number}@example.org", "10.0.0.1")
            audit.record_refused(session, None, f"{number}@example.org", f"10.0.1.{number}")
            audit.record_refused(session, known, "ana@example.org", f"10.0.1.{number}")
        kinds = dict(session.execute(select(AuditEntry.kind, func.count()).group_by(AuditEntry.kind)).all())
        assert kinds == {"person": audit.MAX_REFUSED, "unknown account": audit.MAX_REFUSED}
        of_address = select(func.count()).where(AuditEntry.address == "10.0.0.1")
        assert session.scalar(of_address) == audit.MAX_REFUSED_FROM_ADDRESS
        # An hour later.
        session.execute(update(AuditEntry).values(at=utc_now() - timedelta(hours=1)))
        audit.record_refused(session, None, "x@example.org", "10.0.0.1")
        assert session.scalar(of_address) == audit.MAX_REFUSED_FROM_ADDRESS + 1


@pytest.mark.parametrize("scopes", [["log"], ["read"], ["read", "log"], ["read", "write"]])
def test_a_token_that_revokes_itself_has_one_entry(client: TestClient, scopes: list[str]) -> None:
    create_first(client)
    secret = read(client.post(f"{API}/tokens", json={"name": "script", "scopes": scopes}), 201)["secret"]
    headers = {"Authorization": f"Bearer {secret}"}
    assert stranger(client).delete(f"{API}/session/token", headers=headers).status_code == 204
    [entry] = entries(client, kind="token", action="revoke")
    assert (entry["name"], entry["object_name"]) == ("Ana", "script")


def test_reports_of_workers_are_not_recorded(api: Api, client: TestClient) -> None:
    create_first(client)
    launch(client)
    before = entries(client)
    claimed = api.claim()
    api.send(claimed["run_id"], claimed["attempt"], started()).raise_for_status()
    assert entries(client) == before


def test_the_log_is_filtered_and_paged(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo", project="Main")
    launch(client)
    launch(bo)
    person_id = read(bo.get(f"{API}/account"))["person"]["id"]
    assert {each["name"] for each in entries(client, person_id=person_id)} == {"Bo"}
    assert {each["kind"] for each in entries(client, project_id=1)} == {"role", "run"}
    now = utc_now()
    assert entries(client, since=now.isoformat()) == []
    assert entries(client, until=(now - timedelta(hours=1)).isoformat()) == []
    everything = entries(client)
    pages: list[dict[str, Any]] = []
    before = None
    while True:
        more: dict[str, int] = {"before": before} if before else {}
        page = read(client.get(f"{API}/audit", params={"limit": 2, **more}))
        pages += page["items"]
        if (before := page["next_before"]) is None:
            break
    assert pages == everything


def test_the_export_has_an_entry_in_each_line(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    create_first(client)
    launch(client)
    launch(client)
    # Each batch is a query of its own.
    monkeypatch.setattr("arcadia_backend.people.audit_log.EXPORT_BATCH", 2)
    answer = client.get(f"{API}/audit/export")
    assert answer.headers["content-type"].startswith("application/jsonl")
    assert "audit.jsonl" in answer.headers["content-disposition"]
    assert [json.loads(line) for line in answer.text.splitlines()] == entries(client)
    only_runs = client.get(f"{API}/audit/export", params={"kind": "run"}).text.splitlines()
    assert [json.loads(line)["kind"] for line in only_runs] == ["run", "run"]


def test_people_see_the_entries_of_projects_that_they_administer(client: TestClient) -> None:
    create_first(client)
    read(client.post(f"{API}/projects", json={"name": "Maze"}), 201)
    launch(client)
    viewer = join(client, "Vi", project="Main", role="viewer")
    head = join(client, "Bo", project="Maze", role="administrator")
    assert entries(viewer) == []
    assert viewer.get(f"{API}/audit/export").text == ""
    assert {each["project_id"] for each in entries(head)} == {2}
    assert entries(head, project_id=1) == []


def test_old_entries_are_deleted(client: TestClient, database: Database) -> None:
    create_first(client)
    launch(client)
    with database.write() as session:
        old = utc_now() - timedelta(days=31)
        session.execute(update(AuditEntry).where(AuditEntry.kind == "person").values(at=old))
        audit.delete_old(session, utc_now(), days=30)
    assert {each["kind"] for each in entries(client)} == {"run"}


def test_commands_on_the_server_are_recorded(client: TestClient, settings: Settings) -> None:
    create_first(client)
    commands.run(settings, Namespace(action="add", name="Bo", email="bo@example.org", administrator=False))
    commands.run(settings, Namespace(action="promote", email="bo@example.org"))
    promoted, invited, created = entries(client, kind="person")[:3]
    assert {each["name"] for each in (promoted, invited, created)} == {"arcadia user"}
    assert (promoted["action"], promoted["after"]) == ("change", {"is_administrator": True})
    assert (invited["action"], created["action"]) == ("create invite link", "create")


def test_facets_are_of_the_entries_that_the_caller_may_see(client: TestClient) -> None:
    ana = create_first(client)
    maze = read(client.post(f"{API}/projects", json={"name": "Maze"}), 201)["id"]
    gone = read(client.post(f"{API}/projects", json={"name": "Gone"}), 201)["id"]
    assert client.delete(f"{API}/projects/{gone}").status_code == 204
    viewer = join(client, "Vi", project="Main", role="viewer")
    head = join(client, "Bo", project="Maze", role="administrator")
    client.post(f"{API}/runs/{launch(client)}/stop").raise_for_status()
    facets = read(client.get(f"{API}/audit/facets"))
    assert {"run", "person", "role", "project"} <= set(facets["kinds"])
    assert facets["kinds"] == sorted(facets["kinds"])
    assert {"create", "stop", "sign in"} <= set(facets["actions"])
    assert facets["people"][0] == {"id": ana["id"], "name": "Ana", "email": "ana@example.org"}
    assert [(each["id"], each["name"]) for each in facets["projects"]] == [(1, "Main"), (maze, "Maze"), (gone, "Gone")]
    assert read(head.get(f"{API}/audit/facets")) == {
        "kinds": ["project", "role"],
        "actions": ["create"],
        "people": [{"id": ana["id"], "name": "Ana", "email": None}],
        "projects": [{"id": maze, "name": "Maze"}],
    }
    assert not any(read(viewer.get(f"{API}/audit/facets")).values())


def test_the_first_account_has_an_entry_with_its_address(client: TestClient) -> None:
    create_first(client)
    [entry] = entries(client, action="create first account")
    assert (entry["name"], entry["address"]) == ("Ana", "testclient")
