"""Every route that changes something leaves an entry in the audit log, in the project that it changes."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, func, insert, select, text, update

import arcadia_backend.examples
from arcadia_backend.accounts import audit, sign_in
from arcadia_backend.config import API
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.ownership import PROJECT_OF
from arcadia_backend.database.scope import Scope, acting_as
from arcadia_backend.database.tables import MAIN_ID, AuditEntry, Run
from tests.accounts.crawl import Door, doors, fill
from tests.accounts.lab import PASSWORD, Lab
from tests.backend.test_reviews import document
from tests.backend.test_saliency import made_track
from tests.factories import CARTPOLE, PONG, kept_game, sha256, start_set

ADMINISTRATOR = "installation administrator"

# Successful requests that need no entry, and why.
EXCEPTIONS = {
    "POST /people/first": "It is for a server without accounts. test_audit.py tests its entry.",
    "PUT /events/{stream}/watches": "It chooses what a page gets.",
    "POST /alerts/read": "It marks alerts as seen.",
    "POST /account/device": "It only reads.",
    "POST /session/link": "It only reads.",
    "POST /session/host": "Nobody has signed in. test_host_codes.py tests the entry of its token.",
    "POST /session/device": "Nobody has signed in. The confirmation has an entry.",
    **dict.fromkeys(
        (
            "POST /configurations/parse", "POST /runs/preview", "POST /studies/preview", "POST /suites/specification",
            "POST /papers/{paper}/{item}/preview", "POST /reports/preview", "POST /executors/slurm/check",
            "POST /executors/ray/check", "POST /reviews/{review_id}/practices/preview",
        ),
        "It is a preview or a check.",
    ),
}  # fmt: skip
# Reports of workers and of scripts are not actions of people.
REPORTS = (f"{API}/worker/", f"{API}/reported/")


@dataclass(frozen=True)
class Scene:
    """A request that succeeds.

    body        JSON or bytes, or a function that makes it
    prepare     adds what the request needs. A returned text is the path.
    projects    where entries must be: in the "own" project of the lab, in "both", in a "new" one, in "main", or in "",
                the installation
    caller      who sends it
    """

    body: Any = None
    prepare: Callable[[Lab], str | None] | None = None
    projects: str = "own"
    caller: str = ADMINISTRATOR


def changed(table: type[Any], **values: Any) -> Callable[[Lab], None]:
    """Return a function that changes the row of the lab's own project in a table."""

    def change(lab: Lab) -> None:
        with lab.database.write() as session:
            row = session.get_one(table, lab.own.ids[table.__tablename__])
            for name, value in values.items():
                setattr(row, name, value)

    return change


def both(*parts: Callable[[Lab], str | None]) -> Callable[[Lab], str | None]:
    """Return a function that calls others. The result is that of the last one."""
    return lambda lab: [part(lab) for part in parts][-1]


def added(path: str, make: Callable[[Lab], Any]) -> Callable[[Lab], str]:
    """Return a function that adds a row, and puts its id into a path."""

    def add(lab: Lab) -> str:
        row = make(lab)
        with lab.database.write() as session:
            session.add(row)
            session.flush()
            return path.format(**lab.own.ids, new=row.id)

    return add


def without_jobs(*kinds: str) -> Callable[[Lab], None]:
    """Return a function that deletes the jobs of a kind."""

    def remove(lab: Lab) -> None:
        with lab.database.write() as session:
            session.execute(delete(tables.Job).where(tables.Job.kind.in_(kinds)))

    return remove


def of_installation(
    body: Any = None, prepare: Callable[[Lab], str | None] | None = None, caller: str = ADMINISTRATOR
) -> Scene:
    """Return the scene of a change that is in no project."""
    return Scene(body, prepare, "", caller)


def own_project(**more: Any) -> Callable[[Lab], dict[str, Any]]:
    """Return a function that makes a body with the name of the lab's own project."""
    return lambda lab: {**more, "project": f"{lab.own.secret} project"}


def playable(lab: Lab) -> None:
    """Store a track and a checkpoint of the lab's own replay."""
    with lab.database.write() as session:
        replay = session.get_one(tables.Replay, lab.own.ids["replays"])
        run = session.get_one(Run, replay.run_id)
        run.env, run.config, run.state = PONG["env"], PONG, "running"
        file = session.get_one(tables.File, replay.track_file_id)
        path = lab.app.state.settings.files_dir / file.stored_path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made_track(b""))
        checkpoint = session.get_one(tables.Checkpoint, lab.own.ids["checkpoints"])
        checkpoint.sha256, replay.checkpoint, checkpoint.step = sha256(b""), checkpoint.file, 100


EXAMPLES = Path(arcadia_backend.examples.__file__).with_name("examples.arcadia")


@cache
def agent_file(lab: Lab) -> bytes:
    """Return the file of an agent of the examples, whose import takes seconds."""
    client = lab.client(ADMINISTRATOR)
    client.post(f"{API}/examples").raise_for_status()
    with lab.database.read() as session:
        checkpoint = session.scalars(select(tables.Checkpoint).order_by(tables.Checkpoint.id.desc())).first()
    assert checkpoint is not None
    return client.get(f"{API}/runs/{checkpoint.run_id}/agent").raise_for_status().content


def waiting_login(lab: Lab) -> dict[str, Any]:
    """Return a body with the code of a waiting login."""
    started = lab.client("nobody").post(f"{API}/session/device", json={"name": "x", "scopes": ["read"]}).json()
    return {"code": started["code"]}


def confirmed_login(lab: Lab) -> dict[str, Any]:
    """Return a body with the secret of a confirmed login."""
    started = lab.client("nobody").post(f"{API}/session/device", json={"name": "x", "scopes": ["read"]}).json()
    body = {"code": started["code"], "scopes": ["read"]}
    lab.client("editor").post(f"{API}/account/device/confirm", json=body).raise_for_status()
    return {"secret": started["secret"]}


def link_secret(lab: Lab) -> dict[str, Any]:
    """Return a body with the secret of a one-time link."""
    with lab.database.write() as session:
        person = session.scalars(select(tables.Person).where(tables.Person.name == "editor")).one()
        return {"secret": sign_in.create_link(session, "reset", person)}


def previewed_part(lab: Lab) -> dict[str, Any]:
    wanted = {"share": 0.01, "parts": ["nips"]}
    preview = lab.client(ADMINISTRATOR).post(f"{API}/papers/paac/table-1/preview", json=wanted).json()
    return {**wanted, "confirm_steps": preview["steps"], "project": f"{lab.own.secret} project"}


def with_alias(lab: Lab) -> str:
    path = f"/artifacts/{lab.own.ids['artifacts']}/aliases/new"
    lab.client(ADMINISTRATOR).put(f"{API}{path}", json={"version": 1}).raise_for_status()
    return path


def with_checkpoint_alias(lab: Lab) -> str:
    body = {"name": "new", "checkpoint_id": lab.own.ids["checkpoints"]}
    lab.client(ADMINISTRATOR).put(f"{API}/aliases", json=body).raise_for_status()
    return "/aliases?name=new"


def saved_starts(lab: Lab) -> tables.StartSet:
    return tables.StartSet(
        name="New",
        project_id=lab.own.project_id,
        env=PONG["env"],
        player="human",
        source="x",
        emulator="x",
        sha256="x",
        points=1,
        bytes=1,
        content="x",
    )


SLURM = {"backend_url": "http://example.org", "directory": "/shared"}
RAY = {"backend_url": "http://example.org", "address": "http://127.0.0.1:9"}
STUDY = {"name": "New", "config": CARTPOLE, "seeds": [1, 2]}
MEMBER = "/projects/{projects}/members/{new}"


def member(lab: Lab) -> tables.ProjectRole:
    return tables.ProjectRole(project_id=lab.own.project_id, person_id=1, role=1)


def channel(_lab: Lab) -> tables.AlertChannel:
    return tables.AlertChannel(kind="webhook", name="x", url="https://example.org/secret", secret="secret")


def delivery(lab: Lab) -> tables.AlertDelivery:
    number = int(added("{new}", channel)(lab))
    return tables.AlertDelivery(key="x", alert_id=lab.own.ids["alerts"], channel_id=number)


def gone_worker(lab: Lab) -> str:
    """Add a worker that is gone, and return its path."""
    facts = {"host": "h", "queue": "cpu", "pid": 1, "version": "1", "device": "cpu", "cores": 1, "memory_bytes": 1}
    with lab.database.write() as session:
        session.merge(tables.Worker(name="gone", left=True, **facts))
    return "/workers/gone"


def person(_lab: Lab) -> tables.Person:
    return tables.Person(name="New", email="new@example.org")


def group(_lab: Lab) -> tables.PersonGroup:
    return tables.PersonGroup(name="New")


def session_of_person(_lab: Lab) -> tables.SignInSession:
    return tables.SignInSession(digest="x", person_id=1, address="", browser="", expires_at=utc_now() + timedelta(1))


def posted(path: str, end: str, body: Any = None) -> Callable[[Lab], str]:
    """Return a function that creates an object, and returns the path of an action on it."""

    def post(lab: Lab) -> str:
        short = path.format(**lab.own.ids)
        made = lab.client(ADMINISTRATOR).post(f"{API}{short}", json=body).raise_for_status().json()
        return f"{short}/{made['id']}/{end}"

    return post


def reviewed(lab: Lab) -> None:
    """Finish the review of the lab's own replay."""
    with lab.database.write() as session:
        review = session.get_one(tables.Review, lab.own.ids["reviews"])
        review.document = document("mistake", "no challenger", "mistake")
        session.get_one(tables.Job, review.job_id).state = "done"


def without_changes(lab: Lab) -> None:
    with lab.database.write() as session:
        session.execute(delete(tables.RunChange))


RUNNING = changed(Run, state="running")
GAME = kept_game(1)
LONG_GAME = changed(
    tables.KeptGame, frames=GAME["played"], start_points=100, actions=GAME["actions"], screens=GAME["screens"]
)
SCENES: dict[str, Scene] = {
    "POST /runs": Scene(own_project(preset="paac-cartpole")),
    "PATCH /runs/{run_id}": Scene({"tags": ["new"]}),
    "POST /runs/{run_id}/stop": Scene(prepare=RUNNING),
    "POST /runs/{run_id}/pause": Scene(prepare=RUNNING),
    "POST /runs/{run_id}/resume": Scene(prepare=changed(Run, state="paused", desired="pause")),
    "POST /runs/{run_id}/restore": Scene(prepare=changed(Run, archived_at=utc_now())),
    "POST /runs/{run_id}/fork": Scene(lambda lab: {"checkpoint_id": lab.own.ids["checkpoints"]}, playable),
    "POST /runs/{run_id}/changes": Scene({"fields": {"learning_rate": 0.5}}, both(RUNNING, without_changes)),
    "PATCH /runs/{run_id}/checkpoints/{checkpoint_id}": Scene({"pinned": True}),
    "POST /runs/{run_id}/live": Scene({}, without_jobs("live")),
    "POST /bulk-actions": Scene({"action": "archive"}, projects="both"),
    "POST /bulk-actions/{bulk_id}/cancel": Scene(prepare=changed(tables.BulkAction, state="running")),
    "POST /bulk-actions/{bulk_id}/undo": Scene(
        prepare=both(changed(tables.BulkAction, last_run_id=99), changed(tables.BulkActionRun, reason=None))
    ),
    "POST /projects": Scene({"name": "New"}, projects="new"),
    "PATCH /projects/{project_id}": Scene({"text": "New"}),
    "DELETE /projects/{project_id}": Scene(
        prepare=lambda lab: added("/projects/{new}", lambda _lab: tables.Project(name="N", name_key="n"))(lab),
        projects="new",
    ),
    "POST /projects/{project_id}/merge": Scene(lambda lab: {"into": f"{lab.other.secret} project"}, projects="both"),
    "POST /projects/{project_id}/items": Scene(lambda lab: {"runs": [lab.other.ids["runs"]]}, projects="both"),
    "PUT /projects/{project_id}/board": Scene({"version": 0, "panels": []}),
    "POST /projects/{project_id}/members": Scene({"email": "root@example.org", "role": "viewer"}),
    "PATCH /projects/{project_id}/members": Scene({"everyone": "viewer"}),
    "PATCH /projects/{project_id}/members/{role_id}": Scene({"role": "editor"}, added(MEMBER, member)),
    "DELETE /projects/{project_id}/members/{role_id}": Scene(prepare=added(MEMBER, member)),
    "POST /views": Scene(own_project(name="New")),
    "PATCH /views/{view_id}": Scene({"name": "New"}),
    "PATCH /replays/{replay_id}": Scene({"pinned": True}),
    "POST /replays/{replay_id}/start-points": Scene({"name": "New", "decision": 1}, playable),
    "POST /replays/{replay_id}/saliency": Scene(prepare=both(playable, without_jobs("saliency"))),
    "POST /replays/{replay_id}/futures": Scene({"decision": 1}, playable),
    "POST /replays/{replay_id}/reviews": Scene({}, both(playable, without_jobs("review"))),
    "POST /replays/{replay_id}/play": Scene({"decision": 1}, both(playable, without_jobs("live"))),
    "POST /replays/{replay_id}/play/{play_id}/end": Scene(
        prepare=both(playable, without_jobs("live"), posted("/replays/{replays}/play", "end", {"decision": 1}))
    ),
    "POST /start-sets": Scene(start_set("human"), lambda _lab: "/start-sets?name=New", projects="main"),
    "DELETE /start-sets/{start_set_id}": Scene(prepare=added("/start-sets/{new}", saved_starts)),
    "POST /kept-games/{kept_id}/reviews": Scene(
        lambda lab: {"run_id": lab.own.ids["runs"], "checkpoint": "newest"}, both(playable, without_jobs("review"))
    ),
    "POST /kept-games/{kept_id}/start-points": Scene(
        prepare=both(LONG_GAME, lambda lab: f"/kept-games/{lab.own.ids['kept_games']}/start-points?name=New"),
    ),
    "POST /reviews/{review_id}/practices": Scene({}, both(playable, reviewed, without_jobs("practice"))),
    "POST /games/{slug}/play": Scene(prepare=without_jobs("live"), projects="main"),
    "POST /games/{slug}/play/{play_id}/end": Scene(
        prepare=added(
            "/games/pong/play/{new}/end",
            lambda lab: tables.Job(
                kind="play", parameters={"env": PONG["env"]}, total=1, project_id=lab.own.project_id
            ),
        ),
    ),
    "POST /studies": Scene(own_project(**STUDY, confirm_steps=2_000)),
    "PATCH /studies/{study_id}": Scene({"name": "New"}),
    "POST /studies/{study_id}/pause": Scene(prepare=changed(tables.Study, state="running")),
    "POST /studies/{study_id}/resume": Scene(prepare=changed(tables.Study, state="paused")),
    "POST /studies/{study_id}/stop": Scene(prepare=changed(tables.Study, state="running")),
    "POST /studies/{study_id}/extend": Scene({"seeds": 1}),
    "POST /papers/{paper}/{item}/studies": Scene(previewed_part),
    "POST /papers/{paper}/{item}/measurements": Scene({"parts": ["nips"]}, projects="main"),
    "POST /archives": Scene(lambda _lab: EXAMPLES.read_bytes(), projects="main"),
    "PUT /artifacts/{artifact_id}/aliases/{alias}": Scene({"version": 1}),
    "DELETE /artifacts/{artifact_id}/aliases/{alias}": Scene(prepare=with_alias),
    "POST /agents": Scene(agent_file, projects="main"),
    "PUT /aliases": Scene(lambda lab: {"name": "new", "checkpoint_id": lab.own.ids["checkpoints"]}),
    "DELETE /aliases": Scene(prepare=with_checkpoint_alias),
    "PATCH /alert-rules/{kind}": of_installation({"enabled": False}),
    "POST /score-rules": Scene(own_project(score=1)),
    "DELETE /score-rules/{rule_id}": Scene(
        prepare=added("/score-rules/{new}", lambda lab: tables.ScoreRule(score=1, project_id=lab.own.project_id))
    ),
    "POST /alert-channels": of_installation({"kind": "webhook", "name": "x", "url": "https://example.org/x"}),
    "PATCH /alert-channels/{channel_id}": of_installation({"enabled": False}, added("/alert-channels/{new}", channel)),
    "DELETE /alert-channels/{channel_id}": of_installation(prepare=added("/alert-channels/{new}", channel)),
    "POST /alert-channels/{channel_id}/test": of_installation(prepare=added("/alert-channels/{new}/test", channel)),
    "POST /alert-deliveries/{delivery_id}/redeliver": of_installation(
        prepare=added("/alert-deliveries/{new}/redeliver", delivery)
    ),
    "POST /examples": Scene(projects="main"),
    "POST /reports": Scene(own_project(title="New")),
    "PATCH /reports/{report_id}": Scene({"version": 1, "title": "New"}),
    "POST /reports/{report_id}/share": Scene(prepare=changed(tables.Report, share_token=None)),
    "POST /host-codes": of_installation(),
    "PATCH /workers/{name}": of_installation({"desired": "pause"}, gone_worker),
    "DELETE /workers/{name}": of_installation(prepare=gone_worker),
    "PUT /executors/default": of_installation({"executor": "workers"}),
    "PUT /caps/projects/{project_id}": Scene({"max_runs": 9}),
    "PUT /caps/people/{person_id}": of_installation({"max_runs": 9}, added("/caps/people/{new}", person)),
    "PUT /executors/slurm": of_installation(SLURM),
    "PUT /executors/ray": of_installation(RAY),
    "POST /people": of_installation({"people": [{"name": "New", "email": "new@example.org"}]}),
    "POST /projects/{project_id}/invitations": Scene(
        {"people": [{"name": "New", "email": "new@example.org"}], "role": "viewer"}
    ),
    "POST /session/again": of_installation({"password": PASSWORD}),
    "PATCH /people/{person_id}": of_installation({"name": "Other"}, added("/people/{new}", person)),
    "POST /people/{person_id}/link": of_installation(prepare=added("/people/{new}/link", person)),
    "DELETE /people/{person_id}/tokens": of_installation(prepare=lambda _lab: "/people/4/tokens"),
    "DELETE /tokens": of_installation(),
    "DELETE /people/{person_id}/sessions": of_installation(prepare=lambda _lab: "/people/2/sessions"),
    "POST /groups": of_installation({"name": "New"}),
    "PATCH /groups/{group_id}": of_installation({"name": "Other"}, added("/groups/{new}", group)),
    "DELETE /groups/{group_id}": of_installation(prepare=added("/groups/{new}", group)),
    "PATCH /account": of_installation({"name": "Other"}),
    "POST /account/password": of_installation({"old_password": PASSWORD, "new_password": "another long password"}),
    "POST /account/device/confirm": of_installation(lambda lab: {**waiting_login(lab), "scopes": ["read"]}),
    "POST /account/device/refuse": of_installation(waiting_login),
    "DELETE /sessions": of_installation(),
    "DELETE /sessions/{session_id}": of_installation(prepare=added("/sessions/{new}", session_of_person)),
    "POST /tokens": of_installation({"name": "New", "scopes": ["read"]}),
    "DELETE /tokens/{token_id}": of_installation(prepare=lambda _lab: "/tokens/1"),
    "POST /session/device/token": of_installation(confirmed_login, caller="nobody"),
    "DELETE /session/token": of_installation(caller="token read"),
    "POST /session": of_installation({"email": "root@example.org", "password": PASSWORD}, caller="nobody"),
    "DELETE /session": of_installation(),
    "POST /session/password": of_installation(
        lambda lab: {**link_secret(lab), "password": "another long password"}, caller="nobody"
    ),
}


def send(lab: Lab, door: Door) -> list[AuditEntry]:
    """Send the request of a door's scene, which succeeds. Return its entries, and restore the lab."""
    scene = SCENES.get(name_of(door), Scene(None if door.method == "DELETE" else {}))
    path = fill(door.path, lab.own)
    if scene.prepare is not None and (prepared := scene.prepare(lab)) is not None:
        path = f"{API}{prepared}"
    body = scene.body(lab) if callable(scene.body) else scene.body
    before = newest_entry(lab)
    client = lab.client(scene.caller)
    sent = client.build_request(door.method, path, **({"content" if isinstance(body, bytes) else "json": body}))
    answer = client.send(sent)
    assert answer.is_success, (str(door), answer.text)
    with lab.database.read() as session:
        found = [*session.scalars(select(AuditEntry).where(AuditEntry.id > before).order_by(AuditEntry.id))]
    lab.copy.restore()
    return found


def name_of(door: Door) -> str:
    return f"{door.method} {door.path.removeprefix(API)}"


def newest_entry(lab: Lab) -> int:
    with lab.database.read() as session:
        return session.scalar(select(func.max(AuditEntry.id))) or 0


def changing_doors(lab: Lab) -> list[Door]:
    """Return the routes by which people change something."""
    listed = (door for door in doors(lab, "POST", "PUT", "PATCH", "DELETE") if door.path.startswith(API))
    return [door for door in listed if "path:path" not in door.path and not door.path.startswith(REPORTS)]


def test_every_change_leaves_an_entry_in_its_projects(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    # Practice needs the mistakes of several episodes.
    monkeypatch.setattr("arcadia_backend.job_kinds.practices.service.split", lambda *_: None)
    own, other = lab.own.project_id, lab.other.project_id
    expected: dict[str, set[int | None]] = {
        "own": {own}, "both": {own, other}, "main": {MAIN_ID}, "": {None}
    }  # fmt: skip
    missing = []
    for door in changing_doors(lab):
        if name_of(door) in EXCEPTIONS:
            continue
        found = send(lab, door)
        projects = {entry.project_id for entry in found}
        # PostgreSQL gives no number twice, so that of a new project is not known before.
        expected["new"] = projects - {own, other, MAIN_ID, None} or {0}
        wanted = expected[SCENES[name_of(door)].projects if name_of(door) in SCENES else "own"]
        if not wanted <= projects:
            missing.append((str(door), [(entry.action, entry.kind, entry.project_id) for entry in found]))
        assert {entry.address for entry in found} == {"testclient"}, str(door)
        assert all(entry.name for entry in found), str(door)
    assert missing == []


def test_the_scenes_and_the_exceptions_are_of_routes(lab: Lab) -> None:
    known = {name_of(door) for door in changing_doors(lab)}
    assert SCENES.keys() | EXCEPTIONS.keys() <= known
    assert not SCENES.keys() & EXCEPTIONS.keys()


def test_a_route_that_changes_nothing_leaves_no_entry(lab: Lab) -> None:
    before = newest_entry(lab)
    client = lab.client(ADMINISTRATOR)
    client.patch(f"{API}/runs/{lab.own.ids['runs']}", json={}).raise_for_status()
    client.patch(f"{API}/projects/{lab.own.project_id}", json={}).raise_for_status()
    assert newest_entry(lab) == before


# Tables whose changes have no entries of their own, and why.
_OF_OTHERS = "It belongs to an object with an entry, or a worker or the server writes it."
NOT_RECORDED = {
    **dict.fromkeys(
        (
            "artifact_entries", "artifact_links", "attempts", "bulk_action_runs", "calibrations", "evaluations",
            "evaluation_episodes", "event_digests", "files", "futures", "log_lines", "measurements", "media",
            "metric_chunks", "metric_clocks", "metric_pages", "metric_series", "moved_panels", "paper_studies",
            "practices", "provenance_documents", "reviews", "run_settings", "run_tags", "start_forecasts",
            "study_points", "study_runs", "submissions", "job_workers", "usage", "archive_imports",
            "study_imports", "report_imports",
        ),
        _OF_OTHERS,
    ),
    **dict.fromkeys(("alerts", "alert_deliveries"), "The server writes it. Tests of channels call record_in."),
    "bulk_actions": "record_in adds an entry in each project of its runs.",
    "run_changes": "The listener adds an entry of the run.",
    "idempotency_keys": "It is a response.",
    "audit_log": "It is the log.",
    **dict.fromkeys(
        ("sign_in_sessions", "one_time_links", "device_logins", "person_identities"),
        "record adds an entry with a verb of its own.",
    ),
}  # fmt: skip


def test_each_table_is_recorded_or_has_a_reason() -> None:
    recorded = {model.__tablename__ for model in audit.OBJECTS}  # type: ignore[attr-defined]
    assert not recorded & NOT_RECORDED.keys()
    assert recorded | NOT_RECORDED.keys() == PROJECT_OF.keys()


@pytest.mark.parametrize(
    "statement",
    [
        update(Run).values(name="x"),
        update(tables.Base.metadata.tables["runs"]).values(name="x"),
        delete(tables.SavedView),
        insert(tables.Base.metadata.tables["person_groups"]).values(name="x", from_oidc=False),
        text("UPDATE runs SET name = 'x'"),
        text("DELETE FROM views"),
    ],
)
def test_a_statement_on_an_audited_table_without_an_entry_is_refused(lab: Lab, statement: Any) -> None:
    root = Scope(everything=True, person_id=1, name="Root")
    with (
        pytest.raises(audit.UnrecordedChangeError, match="without an entry"),
        acting_as(root),
        lab.database.write() as session,
    ):
        session.execute(statement)
    with (
        pytest.raises(audit.UnrecordedChangeError, match="without an entry"),
        acting_as(root),
        lab.database.write() as session,
    ):
        session.connection().execute(statement)


def test_many_rows_without_an_entry_are_refused(lab: Lab) -> None:
    root = Scope(everything=True, person_id=1, name="Root")
    for statement, row in ((update(Run), {"id": 1, "name": "x"}), (insert(tables.PersonGroup), {"name": "x"})):
        with pytest.raises(audit.UnrecordedChangeError), acting_as(root), lab.database.write() as session:
            session.execute(statement, [row])
