"""Owners: who changes what belongs to another project, by bodies that name a project or its objects."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import select, update

from arcadia_backend.accounts import people, sign_in, tokens
from arcadia_backend.config import API
from arcadia_backend.database.scope import BACKEND, Role, acting_as
from arcadia_backend.database.tables import (
    AliasChange,
    BulkAction,
    File,
    Job,
    KeptGame,
    Person,
    Project,
    ProjectRole,
    Replay,
    Run,
    ScoreRule,
    StartSet,
)
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.runs.bulk import BulkActionThread
from tests.accounts.lab import SECRETS, Lab, Side
from tests.accounts.test_secrets import snapshot
from tests.factories import CARTPOLE, start_set

# Administers the lab's own project, and is a viewer of the other one.
MIXED = "viewer of another project"
OTHER, KEY = f"{SECRETS['other']} project", f"{SECRETS['other']}-key"
STUDY = {"name": "x", "config": CARTPOLE | {"total_steps": 100}, "seeds": [1], "confirm_steps": 100}

Body = tuple[str, str, dict[str, Any]]


@pytest.fixture(autouse=True)
def person(lab: Lab) -> Iterator[int]:
    """Add the person, and undo all changes afterwards."""
    with acting_as(BACKEND), lab.database.write() as session:
        added = people.add(session, MIXED, "mixed@example.org")
        for side, role in ((lab.own, Role.ADMINISTRATOR), (lab.other, Role.VIEWER)):
            session.add(ProjectRole(project_id=side.project_id, person_id=added.id, role=int(role)))
        lab.cookies[MIXED] = sign_in.start_session(session, added, "", "").secret
        yield_id = added.id
    yield yield_id
    lab.copy.restore()
    del lab.cookies[MIXED]


@pytest.fixture(autouse=True)
def no_thread(monkeypatch: pytest.MonkeyPatch, lab: Lab) -> None:
    """Keep the application's own thread from applying bulk actions."""
    monkeypatch.setattr(lab.app.state.bulk_action_thread, "run_once", lambda: False)


def apply(lab: Lab) -> None:
    """Apply all batches of bulk actions."""
    thread = BulkActionThread(lab.database, Doorbell(""))
    with acting_as(BACKEND):
        while thread.run_once():
            pass


def bodies(own: Side, other: Side) -> Iterator[Body]:
    """Yield a request of each route whose body names a project, or an object of one, that it would change."""
    mine, theirs = own.ids, other.ids
    run, replay = f"/runs/{mine['runs']}", f"/replays/{mine['replays']}"
    yield "POST", "/runs", {"json": {"config": CARTPOLE, "project": OTHER}}
    yield "PATCH", run, {"json": {"project": OTHER}}
    yield "POST", f"{run}/clone", {"json": {"project": OTHER}}
    yield "POST", f"{run}/fork", {"json": {"checkpoint_id": mine["checkpoints"], "project": OTHER}}
    yield "POST", f"{run}/fork", {"json": {"checkpoint_id": theirs["checkpoints"]}}
    yield "POST", f"{run}/evaluations", {"json": {"checkpoint": theirs["checkpoints"], "protocol": "episodes"}}
    yield "POST", f"{run}/recordings", {"json": {"checkpoint": theirs["checkpoints"]}}
    yield "POST", f"{run}/calibrations", {"json": {"checkpoint": theirs["checkpoints"]}}
    yield "POST", f"{run}/live", {"json": {"checkpoint": theirs["checkpoints"]}}
    yield "POST", "/bulk-actions", {"json": {"action": "move", "project": OTHER, "ids": [mine["runs"]]}}
    for action in ("archive", "purge"):
        yield "POST", "/bulk-actions", {"json": {"action": action, "ids": [theirs["runs"]]}}
        yield "POST", "/bulk-actions", {"json": {"action": action}, "params": {"project": OTHER}}
    yield "POST", f"/projects/{own.project_id}/merge", {"json": {"into": OTHER}}
    for kind in ("runs", "studies", "reports", "start_sets", "kept_games"):
        yield "POST", f"/projects/{own.project_id}/items", {"json": {kind: [theirs[kind]]}}
    yield "POST", "/views", {"json": {"name": "x", "project": OTHER}}
    yield "POST", "/reported/runs", {"json": {"writer": "w", "key": "new", "project": OTHER}}
    yield "POST", "/reported/runs", {"json": {"writer": "w", "key": KEY}}
    yield "POST", f"{replay}/futures", {"json": {"decision": 0, "agent": {"run_id": theirs["runs"]}}}
    yield "POST", "/start-sets", {"json": start_set("agent"), "params": {"name": "x", "project": OTHER}}
    yield "POST", f"/kept-games/{mine['kept_games']}/reviews", {"json": {"run_id": theirs["runs"]}}
    yield "POST", "/games/pong/play", {"params": {"project": OTHER}}
    yield "POST", "/studies", {"json": {**STUDY, "project": OTHER}}
    yield "PATCH", f"/studies/{mine['studies']}", {"json": {"project": OTHER}}
    paper = {"share": 0.01, "parts": ["catch"], "confirm_steps": 200_000, "project": OTHER}
    yield "POST", "/papers/a3c/figure-2/studies", {"json": paper}
    yield "PUT", "/aliases", {"json": {"name": "new", "checkpoint_id": theirs["checkpoints"]}}
    yield "PUT", "/aliases", {"json": {"name": "taken", "checkpoint_id": mine["checkpoints"]}}
    yield "POST", "/alerts/read", {"json": {"ids": [theirs["alerts"]]}}
    yield "POST", "/score-rules", {"json": {"score": 1, "project": OTHER}}
    yield "POST", "/reports", {"json": {"title": "x", "project": OTHER}}
    shown = [{"kind": "replay", "replay": theirs["replays"]}]
    yield "POST", "/reports", {"json": {"title": "x", "blocks": shown, "project": f"{SECRETS['own']} project"}}
    yield "PATCH", f"/reports/{mine['reports']}", {"json": {"version": 1, "project": OTHER}}


# They answer with what they have left out, or look only for checkpoints of the run in the path.
REPORTING = {
    MIXED: ("/bulk-actions", "/alerts/read", "/fork", "/evaluations", "/recordings", "/calibrations", "/live"),
    # A hidden alias is not known. A block of a hidden replay shows nothing.
    "administrator": ("/bulk-actions", "/alerts/read", "/items", "/aliases", "/reports"),
}


@pytest.mark.parametrize("caller", [MIXED, "administrator"])
def test_a_body_that_names_another_project_changes_nothing_in_it(lab: Lab, caller: str) -> None:
    with acting_as(BACKEND), lab.database.write() as session:
        session.execute(update(Run).where(Run.id == lab.other.ids["runs"]).values(reported_key=KEY))
        session.add(AliasChange(name="taken", checkpoint_id=lab.other.ids["checkpoints"], run_id=lab.other.ids["runs"]))
        session.execute(update(KeptGame).values(env=CARTPOLE["env"]))
        for side in (lab.own, lab.other):
            session.execute(update(File).where(File.id == side.ids["files"]).values(kind="checkpoint"))
    before, wrong = snapshot(lab), []
    for method, path, request in bodies(lab.own, lab.other):
        answer = lab.client(caller).request(method, f"{API}{path}", **request)
        apply(lab)
        expected = {403} if caller == MIXED else {403, 404, 422}
        if any(path.endswith(each) for each in REPORTING[caller]):
            expected |= {200, 201, 422}
        is_leak = caller != MIXED and SECRETS["other"] in answer.text.replace(OTHER, "").replace(KEY, "")
        if answer.status_code not in expected or is_leak:
            wrong.append(f"{answer.status_code} {method} {path} {request} {answer.text}")
    assert wrong == [], "\n".join(wrong)
    after = snapshot(lab)
    for table, rows in before.items():
        kept = [row for row in rows if any(SECRETS["other"] in str(value) for value in row)]
        assert [row for row in kept if row not in after[table]] == [], table
    with acting_as(BACKEND), lab.database.read() as session:
        for model in (Run, StartSet, KeptGame, ScoreRule):
            of_other = session.scalars(select(model).where(model.project_id == lab.other.project_id)).all()
            assert len(of_other) == 1, model


def test_each_route_whose_body_names_something_is_tried(lab: Lab) -> None:
    """A new field of a body that names a project, or an object of one, needs a request above, or a reason here."""
    only_reads = {
        "POST /runs/preview", "POST /studies/preview", "POST /tokens", "POST /account/device/confirm",
        # The report on the page of a project is shown to those who see it.
        "PATCH /projects/{project_id}",
        # For administrators of the installation, who see everything.
        "POST /people", "POST /examples",
        # Their files name nothing. tests/backend/archives and agents import them, and a flush checks their project.
        "POST /archives", "POST /agents",
    }  # fmt: skip
    names = {"project", "into", "ids", "runs", "studies", "reports", "start_sets", "kept_games", "run_id", "checkpoint"}
    names |= {"checkpoint_id", "pinned_report_id", "agent"}
    document = lab.app.openapi()
    schemas = document["components"]["schemas"]
    tried = {(method, path) for method, path, _request in bodies(lab.own, lab.other)}
    for path, routes in document["paths"].items():
        for method, route in routes.items():
            content = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            fields = {*schemas.get(content.get("$ref", "").rpartition("/")[2], {}).get("properties", {})}
            fields |= {each["name"] for each in route.get("parameters", ()) if each["in"] == "query"}
            short = path.removeprefix(API)
            if method == "get" or f"{method.upper()} {short}" in only_reads or not fields & names or "worker" in path:
                continue
            pattern = short.replace("{", "<").partition("<")[0]
            assert any(each == method.upper() and where.startswith(pattern) for each, where in tried), (method, path)


def start(lab: Lab, caller: str, **body: Any) -> dict[str, Any]:
    answer = lab.client(caller).post(f"{API}/bulk-actions", json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def read(lab: Lab, caller: str, started: dict[str, Any]) -> dict[str, Any]:
    return dict(lab.client(caller).get(f"{API}/bulk-actions/{started['id']}").json())


def skipped(lab: Lab, caller: str, started: dict[str, Any]) -> list[dict[str, Any]]:
    return list(lab.client(caller).get(f"{API}/bulk-actions/{started['id']}/skipped").json()["items"])


def test_a_bulk_action_skips_and_lists_what_its_person_may_not_change(lab: Lab) -> None:
    theirs, mine = lab.other.ids["runs"], lab.own.ids["runs"]
    started = start(lab, MIXED, action="archive", ids=[theirs, mine])
    apply(lab)
    assert read(lab, MIXED, started)["done"] == 1
    reason = f"Run {theirs}: You need the role editor in its project."
    assert skipped(lab, MIXED, started) == [{"id": theirs, "reason": reason}]
    hidden = start(lab, "editor", action="restore", ids=[theirs, mine])
    apply(lab)
    assert skipped(lab, "editor", hidden) == [{"id": theirs, "reason": f"There is no run {theirs}."}]


def test_counts_are_of_what_the_caller_may_do(lab: Lab) -> None:
    counts = lab.client(MIXED).get(f"{API}/run-actions").json()
    assert counts["runs"] == 2
    reason = "You need the role editor in its project."
    for action in ("archive", "edit"):
        assert counts["actions"][action] == {"allowed": 1, "refused": [{"reason": reason, "runs": 1}]}
    viewer = lab.client("viewer").get(f"{API}/run-actions").json()
    assert {count["allowed"] for count in viewer["actions"].values()} == {0}


@pytest.mark.parametrize("change", ["role", "project"])
def test_rights_that_end_during_a_bulk_action_end_its_changes(lab: Lab, person: int, change: str) -> None:
    mine = lab.own.ids["runs"]
    body = {"action": "move", "project": "Main"} if change == "project" else {"action": "archive"}
    with acting_as(BACKEND), lab.database.write() as session:
        session.add(ProjectRole(project_id=1, person_id=person, role=int(Role.EDITOR)))
    started = start(lab, MIXED, ids=[mine], **body)
    with acting_as(BACKEND), lab.database.write() as session:
        of_project = ProjectRole.project_id == (1 if change == "project" else lab.own.project_id)
        lost = update(ProjectRole).where(of_project, ProjectRole.person_id == person)
        session.execute(lost.values(role=int(Role.VIEWER)))
    apply(lab)
    ended = read(lab, MIXED, started)
    assert (ended["state"], ended["done"], ended["skipped"]) == ("done", 0, 1)
    assert "the role editor" in skipped(lab, MIXED, started)[0]["reason"]
    run = lab.client("editor").get(f"{API}/runs/{mine}").json()
    assert (run["archived_at"], run["project"]) == (None, f"{SECRETS['own']} project")


def _disable(session: Any, _started: dict[str, Any], person: int) -> None:
    session.get_one(Person, person).disabled_at = session.scalar(select(Person.created_at).limit(1))


def _revoke(session: Any, started: dict[str, Any], person: int) -> None:
    token = tokens.create(session, "t", ["write"], person_id=person)
    tokens.revoke(session, token.token)
    session.execute(update(BulkAction).where(BulkAction.id == started["id"]).values(token_id=token.token.id))


@pytest.mark.parametrize(
    ("end", "message"), [(_disable, "The account of {} was disabled."), (_revoke, "was revoked or has expired.")]
)
def test_a_bulk_action_ends_with_its_account_or_token(
    lab: Lab, person: int, end: Callable[..., None], message: str
) -> None:
    started = start(lab, MIXED, action="archive", ids=[lab.own.ids["runs"]])
    with acting_as(BACKEND), lab.database.write() as session:
        end(session, started, person)
    apply(lab)
    # Only those who see its runs see it too, and it has none left.
    ended = read(lab, "installation administrator", started)
    assert (ended["state"], ended["done"]) == ("cancelled", 0)
    assert message.format(MIXED) in ended["message"]
    assert lab.client("editor").get(f"{API}/runs/{lab.own.ids['runs']}").json()["archived_at"] is None


def test_viewers_do_not_end_the_bulk_actions_of_others(lab: Lab) -> None:
    started = start(lab, "editor", action="archive", ids=[lab.own.ids["runs"]])
    path = f"{API}/bulk-actions/{started['id']}"
    with acting_as(BACKEND), lab.database.write() as session:
        # An editor elsewhere, who gets through the door.
        viewer = session.scalar(select(Person.id).where(Person.name == "viewer"))
        session.add(ProjectRole(project_id=1, person_id=viewer, role=int(Role.EDITOR)))
    assert read(lab, "viewer", started)["may_edit"] is False
    assert lab.client("viewer").post(f"{path}/cancel").status_code == 403
    assert read(lab, "editor", started)["may_edit"] is True
    apply(lab)
    assert lab.client("viewer").post(f"{path}/undo").status_code == 403
    undone = lab.client("administrator").post(f"{path}/undo").json()
    assert lab.client("editor").post(f"{API}/bulk-actions/{undone['id']}/cancel").json()["state"] == "cancelled"


def test_a_kept_game_its_film_and_its_files_have_one_project(lab: Lab) -> None:
    game = lab.other.ids["kept_games"]
    with acting_as(BACKEND), lab.database.write() as session:
        job = session.get_one(KeptGame, game).job_id
        file = File(run_id=None, job_id=job, attempt=1, kind="replay", path="x", stored_path="x", sha256="0", bytes=1)
        session.add(file)
        session.flush()
        number = file.id
    for caller in ("stranger", "editor"):
        assert lab.client(caller).get(f"{API}/files/{number}").status_code == 404
        assert lab.client(caller).get(f"{API}/kept-games/{game}").status_code == 404
    # When the replay is pruned, the game stays in its project.
    with acting_as(BACKEND), lab.database.write() as session:
        session.delete(session.get_one(Replay, lab.other.ids["replays"]))
    assert lab.client("editor").get(f"{API}/kept-games/{game}").status_code == 404
    assert lab.client(MIXED).get(f"{API}/kept-games/{game}").json()["may_edit"] is False
    # It moves with its film.
    body = {"kept_games": [game]}
    root = lab.client("installation administrator")
    assert root.post(f"{API}/projects/{lab.own.project_id}/items", json=body).json()["kept_games"] == [game]
    assert lab.client("editor").get(f"{API}/kept-games/{game}").json()["project"] == f"{SECRETS['own']} project"
    assert lab.client("administrator of another project").get(f"{API}/kept-games/{game}").status_code == 404
    with acting_as(BACKEND), lab.database.read() as session:
        assert session.get_one(Job, job).project_id == lab.own.project_id


@pytest.mark.parametrize(("noun", "table"), [("start-sets", "start_sets"), ("score-rules", "score_rules")])
def test_start_sets_and_score_rules_belong_to_a_project(lab: Lab, noun: str, table: str) -> None:
    number = lab.other.ids[table]
    for caller, seen in (("stranger", 0), ("editor", 1), (MIXED, 2), ("installation administrator", 2)):
        listed = lab.client(caller).get(f"{API}/{noun}").json()
        assert len(listed) == seen, caller
        assert {row["may_edit"] for row in listed if row["id"] == number} <= {caller != MIXED}
    assert lab.client("editor").delete(f"{API}/{noun}/{number}").status_code == 404
    assert lab.client(MIXED).delete(f"{API}/{noun}/{number}").status_code == 403
    assert lab.client("administrator of another project").delete(f"{API}/{noun}/{number}").status_code == 204


def test_names_of_start_sets_are_taken_only_in_their_project(lab: Lab) -> None:
    for project in ("own", "other"):
        query = {"name": "same", "project": f"{SECRETS[project]} project"}
        answer = lab.client("installation administrator").post(
            f"{API}/start-sets", json=start_set("agent"), params=query
        )
        assert (answer.status_code, answer.json()["project"]) == (201, query["project"])


def test_rules_of_alerts_are_for_people_with_a_role(lab: Lab) -> None:
    assert lab.client("stranger").get(f"{API}/alert-rules").status_code == 403
    assert lab.client("viewer").get(f"{API}/alert-rules").status_code == 200


def test_a_project_with_start_sets_or_kept_games_is_not_deleted(lab: Lab) -> None:
    with acting_as(BACKEND), lab.database.write() as session:
        full = Project(name="Full", name_key="full")
        session.add(full)
        session.flush()
        number = full.id
        session.execute(update(StartSet).where(StartSet.id == lab.own.ids["start_sets"]).values(project_id=number))
    root = lab.client("installation administrator")
    refused = root.delete(f"{API}/projects/{number}")
    assert (refused.status_code, "1 start set" in refused.text) == (409, True)
    # Merging brings everything.
    name = f"{SECRETS['own']} project"
    assert root.post(f"{API}/projects/{number}/merge", json={"into": name}).status_code == 200
    assert root.get(f"{API}/start-sets/{lab.own.ids['start_sets']}").json()["project"] == name
