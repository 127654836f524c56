"""The rule of rights: queries, changes, bulk actions, shared files, notices, sockets and links."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import and_, delete, func, select, text, update
from sqlalchemy.orm import Session, aliased
from starlette.testclient import WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from arcadia_backend.accounts.tokens import new_attempt_token
from arcadia_backend.config import API
from arcadia_backend.database import rights
from arcadia_backend.database.limits import unlimited_tables
from arcadia_backend.database.ownership import PROJECT_OF
from arcadia_backend.database.rights import MissingRight, UnlimitedQueryError, beside_run
from arcadia_backend.database.scope import Role, Scope, acting_as
from arcadia_backend.database.tables import BulkActionRun, File, Job, LogLine, Project, Report, Run, RunSetting, RunTag
from arcadia_backend.live.notices import publish
from arcadia_backend.live.watches import Credentials
from arcadia_backend.metrics.points import MetricChunk
from arcadia_workers.contract.live import NO_SUCH_GAME
from tests.accounts.crawl import MISSING_ID
from tests.accounts.lab import SECRETS, Lab, Side
from tests.factories import CARTPOLE, sha256, started
from tests.workers.waiting import wait_until


def viewer(lab: Lab) -> Scope:
    return Scope(everything=False, projects={lab.own.project_id: Role.VIEWER})


def editor(lab: Lab) -> Scope:
    return Scope(everything=False, projects={lab.own.project_id: Role.EDITOR})


def queries(own: int) -> dict[str, tuple[Any, list[Any]]]:
    """Return queries, with the rows that a person of one project sees of the lab's two."""
    run, setting = aliased(Run), aliased(RunSetting)
    lines = select(LogLine.id).where(LogLine.run_id == Run.id)
    joined = Run.__table__.outerjoin(setting, and_(setting.name == "missing", setting.run_id == Run.id))
    beside = beside_run(RunSetting, 0)
    with_setting = Run.__table__.outerjoin(beside, and_(beside.name == "algorithm", beside.run_id == Run.id))
    matched = select(Run.id).where(Run.archived_at.is_(None)).cte("matched")
    named = select(func.count()).where(Run.project_id == Project.id).scalar_subquery()
    return {
        "column": (select(Run.id), [own]),
        "count": (select(func.count()).select_from(Run), [1]),
        "alias": (select(run.id), [own]),
        "join of an alias": (select(LogLine.run_id).join(run, run.id == LogLine.run_id), [own]),
        "exists": (select(Run.id).where(lines.exists()), [own]),
        "in": (select(Run.id).where(Run.id.in_(select(RunTag.run_id))), [own]),
        "scalar": (select(named).select_from(Project), [1]),
        "union": (select(Run.id).union_all(select(run.id)), [own, own]),
        "cte": (select(func.count()).select_from(matched), [1]),
        "outer join": (select(setting.text).select_from(joined).where(Run.archived_at.is_(None)), [None]),
        "beside a run": (select(beside.run_id).select_from(with_setting).where(Run.archived_at.is_(None)), [own]),
        "two steps": (select(func.count()).select_from(MetricChunk), [1]),
        "settings": (select(func.count(RunSetting.run_id.distinct())), [1]),
    }


@pytest.mark.parametrize("kind", queries(0))
def test_a_query_reads_only_rows_of_own_projects(lab: Lab, kind: str) -> None:
    with lab.database.write() as session:
        session.execute(update(Run).values(archived_at=None))
    query, expected = queries(lab.own.ids["runs"])[kind]
    with acting_as(viewer(lab)), lab.database.read() as session:
        assert [*session.scalars(query)] == expected
    with lab.database.read() as session:
        assert [*session.scalars(query)] != expected


def test_plain_sql_is_refused(lab: Lab) -> None:
    for query in (text("SELECT name FROM runs"), select(Run.__table__.c.name), text("SELECT 1 FROM people, runs")):
        with acting_as(viewer(lab)), lab.database.read() as session, pytest.raises(UnlimitedQueryError, match="runs"):
            session.execute(query)
        with lab.database.read() as session:
            session.execute(query)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("SELECT runs.id FROM runs WHERE runs.project_id IN (__[POSTCOMPILE_rights_runs])", set()),
        ("SELECT 1 FROM runs JOIN runs AS r ON 1 WHERE r.project_id IN (__[POSTCOMPILE_rights_runs])", {"runs"}),
        ("DELETE FROM runs WHERE runs.id = ?", set()),
        ("DELETE FROM runs WHERE runs.id IN (SELECT run_id FROM log_lines)", {"log_lines"}),
        ("SELECT 1 FROM people, studies AS s", {"studies"}),
        ("SELECT runs.id, studies FROM projects AS rights_0_projects", set()),
    ],
)
def test_tables_without_a_condition_are_found(statement: str, found: set[str]) -> None:
    assert unlimited_tables(statement) == found


def test_a_table_without_a_project_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rights, "PROJECT_OF", {name: way for name, way in PROJECT_OF.items() if name != "media"})
    with pytest.raises(ValueError, match="media"):
        rights.prepare()


def _new_run(project: int | None) -> Run:
    named = {} if project is None else {"project_id": project}
    return Run(name="new", algorithm="paac", env="CartPole-v1", config=CARTPOLE, **named)


def _move(session: Session, lab: Lab) -> None:
    session.get_one(Run, lab.own.ids["runs"]).project_id = lab.other.project_id


def _rename(session: Session, lab: Lab) -> None:
    session.get_one(Project, lab.own.project_id).text = "changed"


# Counts of somebody's import are for administrators.
IMPORT: tuple[str, dict[str, Any]] = ("import.progress", {"done": 1, "total": 2})
THE_END: tuple[str, dict[str, Any]] = ("worker.changed", {"name": "the end"})

CHANGES: dict[str, Callable[[Session, Lab], None]] = {
    "a run of a hidden project": lambda session, lab: session.add(_new_run(lab.other.project_id)),
    "a run without a project": lambda session, _lab: session.add(_new_run(None)),
    "a line of a hidden run": lambda session, lab: session.add(
        LogLine(run_id=lab.other.ids["runs"], attempt=1, message="x")
    ),
    "a move into a hidden project": _move,
    "the text of a project": _rename,
    "a new project": lambda session, _lab: session.add(Project(name="x", name_key="x")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_needs_a_role_in_the_project(lab: Lab, change: str) -> None:
    with acting_as(editor(lab)), pytest.raises(MissingRight), lab.database.write() as session:
        CHANGES[change](session, lab)


def test_a_viewer_changes_nothing_and_an_editor_only_own_rows(lab: Lab) -> None:
    with acting_as(viewer(lab)), pytest.raises(MissingRight, match="editor"), lab.database.write() as session:
        session.get_one(Run, lab.own.ids["runs"]).notes = "changed"
    with acting_as(viewer(lab)), lab.database.write() as session:
        assert [*session.scalars(update(Run).values(notes="changed").returning(Run.id))] == []
        assert [*session.scalars(delete(LogLine).returning(LogLine.id))] == []
    with acting_as(editor(lab)), lab.database.write() as session:
        changed = update(Run).values(notes=SECRETS["own"]).returning(Run.id)
        assert [*session.scalars(changed)] == [lab.own.ids["runs"]]
        run = session.get_one(Run, lab.own.ids["runs"])
        run.tags.append(RunTag(tag="new"))


def test_a_bulk_action_takes_only_runs_that_its_person_may_change(lab: Lab) -> None:
    answer = lab.client("editor").post(f"{API}/bulk-actions", json={"action": "tag", "tags": ["x"]})
    assert answer.json()["total"] == 1
    with lab.database.read() as session:
        listed = select(BulkActionRun.run_id).where(BulkActionRun.bulk_action_id == answer.json()["id"])
        assert [*session.scalars(listed)] == [lab.own.ids["runs"]]
    assert lab.client("administrator of another project").get(f"{API}/bulk-actions").json() != []
    path = f"{API}/bulk-actions/{answer.json()['id']}"
    assert lab.client("administrator of another project").get(path).status_code == 404


def test_a_person_sees_the_end_of_an_own_action_that_purges_runs(lab: Lab) -> None:
    editor = lab.client("editor")
    body = {"config": CARTPOLE, "project": f"{SECRETS['own']} project", "name": "purged"}
    run = editor.post(f"{API}/runs", json=body).json()["id"]
    for action in ("stop", "archive"):
        assert editor.post(f"{API}/runs/{run}/{action}").status_code == 200
    asked = editor.post(f"{API}/bulk-actions", params={"archived": True, "name": "purged"}, json={"action": "purge"})
    path = f"{API}/bulk-actions/{asked.json()['id']}"
    wait_until(lambda: editor.get(path).json()["state"] == "done")
    assert editor.get(f"{API}/runs/{run}").status_code == 404
    assert lab.client("viewer").get(path).status_code == 404


def test_a_content_of_another_project_must_be_sent(lab: Lab) -> None:
    content = b"weights"
    _report(lab, "administrator of another project", lab.other, content)
    client, run = lab.client("editor"), _reported(lab, "editor", lab.own)
    query = {"writer": "w"}
    path = f"{API}/reported/runs/{run}/artifact-files"
    missing = client.post(f"{path}/missing", params=query, json={"sha256": [sha256(content)]}).json()
    assert missing == {"missing": [sha256(content)]}
    # It cannot be named by its hash alone.
    name = f"{SECRETS['own']} project/stored:latest"
    _log_artifact(lab, "editor", run, content, 1)
    assert client.get(f"{API}/artifacts/resolve", params={"reference": name}).status_code == 404
    assert client.put(f"{path}/{sha256(content)}", params=query, content=content).status_code == 200
    _log_artifact(lab, "editor", run, content, 2)
    own = client.get(f"{API}/artifacts/resolve", params={"reference": name})
    assert own.status_code == 200, own.text
    # Deleting it in one project keeps the file of the other.
    assert client.delete(f"{API}/artifacts/{own.json()['artifact_id']}").status_code == 204
    with lab.database.read() as session:
        stored = select(func.count()).select_from(File).where(File.sha256 == sha256(content))
        assert session.scalar(stored) == 1


def _reported(lab: Lab, caller: str, side: Any) -> int:
    project = f"{side.secret} project"
    body = {"writer": "w", "name": "script", "project": project, "key": f"key{side.project_id}"}
    answer = lab.client(caller).post(f"{API}/reported/runs", json=body)
    assert answer.status_code in (200, 201), answer.text
    number: int = answer.json()["run_id"]
    return number


def _report(lab: Lab, caller: str, side: Any, content: bytes) -> None:
    run = _reported(lab, caller, side)
    path = f"{API}/reported/runs/{run}/artifact-files/{sha256(content)}"
    assert lab.client(caller).put(path, params={"writer": "w"}, content=content).status_code == 200
    _log_artifact(lab, caller, run, content, 1)


def _log_artifact(lab: Lab, caller: str, run: int, content: bytes, seq: int) -> None:
    entry = {"path": "weights.bin", "sha256": sha256(content), "bytes": len(content)}
    artifact = {"name": "stored", "kind": "model", "entries": [entry]}
    body = {"writer": "w", "events": [{"seq": seq, "kind": "artifact", "time": 1_700_000_000.0, "artifact": artifact}]}
    answer = lab.client(caller).post(f"{API}/reported/runs/{run}/events", json=body)
    assert answer.status_code == 200, answer.text


def notices_of(side: Side) -> list[tuple[str, dict[str, Any]]]:
    """Return a notice of each kind about a project."""
    return [
        ("run.changed", {"run_id": side.ids["runs"]}),
        ("study.changed", {"study_id": side.ids["studies"]}),
        ("board.changed", {"project_id": side.project_id}),
        ("bulk.changed", {"id": side.ids["bulk_actions"]}),
        ("job.changed", {"id": side.ids["jobs"], "run_id": side.ids["runs"]}),
        ("play.changed", {"id": side.ids["jobs"], "run_id": side.ids["runs"]}),
        # Of a game that people play.
        ("play.changed", {"id": MISSING_ID, "run_id": None, "project_id": side.project_id}),
        ("projects.changed", {"project_id": side.project_id}),
        ("alerts.changed", {"project_id": side.project_id}),
        ("artifacts.changed", {"project_id": side.project_id}),
        # Of a bulk action, and of objects that were deleted before anybody asked for their project.
        ("run.changed", {"project_id": side.project_id}),
        ("run.removed", {"run_id": MISSING_ID, "project_id": side.project_id}),
        ("study.removed", {"study_id": MISSING_ID, "project_id": side.project_id}),
    ]


# These are for administrators of the installation.
UNADDRESSED: list[tuple[str, dict[str, Any]]] = [
    IMPORT,
    ("alerts.changed", {}),
    ("invented.changed", {}),
    ("run.changed", {"run_id": MISSING_ID}),
    ("job.changed", {"id": MISSING_ID}),
]
FOR_EVERYONE: list[tuple[str, dict[str, Any]]] = [
    ("worker.changed", {"name": "sun"}),
]


async def _listen(lab: Lab, credentials: Credentials) -> list[tuple[str, dict[str, Any]]]:
    """Publish notices of both projects, and return what a page receives of them until the last one, or until its end.

    A notice of an earlier test may still arrive, because the hub joins those of the same run for a moment.
    """
    received: list[tuple[str, dict[str, Any]]] = []
    published = [*notices_of(lab.other), *UNADDRESSED, *notices_of(lab.own), *FOR_EVERYONE]
    # As the request for the stream does, which finds out that there are accounts.
    await lab.app.state.credentials.refresh()
    with lab.app.state.watches.open(credentials) as page:
        for name, payload in (*published, THE_END):
            publish(name, payload)
        while (event := await page.stream.next(10)) is not None and event.text != json.dumps(THE_END[1]):
            if (notice := (event.name, json.loads(event.text))) in published:
                received.append(notice)
    return received


def listen(lab: Lab, caller: str) -> list[tuple[str, dict[str, Any]]]:
    credentials = Credentials("http", "localhost", "", lab.cookies[caller])
    received: list[tuple[str, dict[str, Any]]] = lab.portal.call(lambda: _listen(lab, credentials))
    return received


def test_a_page_gets_only_notices_of_what_its_person_sees(lab: Lab) -> None:
    assert listen(lab, "editor") == [*notices_of(lab.own), *FOR_EVERYONE]
    assert listen(lab, "stranger") == FOR_EVERYONE
    everything = [*notices_of(lab.other), *UNADDRESSED, *notices_of(lab.own), *FOR_EVERYONE]
    assert listen(lab, "installation administrator") == everything


def test_the_stream_of_a_revoked_session_ends(lab: Lab) -> None:
    assert listen(lab, "revoked session") == []


def test_a_hidden_live_game_is_like_none(lab: Lab) -> None:
    for caller in ("stranger", "editor"):
        with lab.client(caller).websocket_connect(f"ws://localhost{API}/live/{lab.other.ids['live']}") as socket:
            with pytest.raises(WebSocketDisconnect) as ended:
                socket.receive_text()
            assert ended.value.code == NO_SUCH_GAME
            assert ended.value.reason.replace(str(lab.other.ids["live"]), "#") == "There is no live game #."


def test_a_key_of_another_person_repeats_nothing(lab: Lab) -> None:
    headers, body = {"Idempotency-Key": "shared"}, {"name": "mine", "project": f"{SECRETS['own']} project"}
    first = lab.client("editor").post(f"{API}/views", json=body, headers=headers)
    assert first.status_code == 201
    repeated = lab.client("administrator").post(f"{API}/views", json=body, headers=headers)
    assert (repeated.status_code, "mine" in repeated.text) == (409, False)


def test_the_installation_token_is_refused_with_an_explanation(lab: Lab) -> None:
    client = lab.client("nobody")
    answer = client.get(f"{API}/runs", headers={"Authorization": "Bearer installation"})
    assert answer.status_code == 401
    assert "ARCADIA_TOKEN" in answer.json()["detail"]
    headers = {"Authorization": "Bearer worker-secret"}
    assert client.post(f"{API}/worker/goodbye", json={"name": "w"}, headers=headers).status_code < 300


def test_readers_of_a_shared_report_see_only_its_project(lab: Lab) -> None:
    with lab.database.write() as session:
        report = session.get_one(Report, lab.own.ids["reports"])
        report.share_token = "a-link"
        report.blocks = [
            {"kind": "text", "markdown": "shown"},
            {"kind": "table", "of": "runs", "numbers": [lab.own.ids["runs"], lab.other.ids["runs"]]},
        ]
    client = lab.client("nobody")
    assert client.get(f"{API}/shared/a-link").status_code == 200
    table = client.get(f"{API}/shared/a-link/blocks/1").text
    assert (SECRETS["own"] in table, SECRETS["other"] in table) == (True, False)
    assert client.get(f"{API}/runs/{lab.own.ids['runs']}").status_code == 401


@pytest.mark.parametrize("tool", ["list_runs", "list_projects", "list_studies"])
def test_tools_of_assistants_show_only_own_projects(lab: Lab, tool: str) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}}
    headers = {"Accept": "application/json, text/event-stream"}
    own = lab.client("editor").post("/mcp", json=call, headers=headers).text
    everything = lab.client("installation administrator").post("/mcp", json=call, headers=headers).text
    assert SECRETS["other"] in everything
    assert (SECRETS["own"] in own, SECRETS["other"] in own) == (True, False)


def test_a_refusal_names_the_right_and_who_can_give_it(lab: Lab) -> None:
    answer = lab.client("viewer").patch(f"{API}/runs/{lab.own.ids['runs']}", json={"notes": "x"})
    assert answer.json()["type"].endswith("/missing-right")
    assert "editor in the project ownsecret project" in answer.json()["detail"]
    assert "administrator, Root" in answer.json()["detail"]


def test_a_claimed_run_has_a_token_for_its_attempt_only(lab: Lab) -> None:
    body = {"config": CARTPOLE, "project": f"{SECRETS['own']} project"}
    launched = lab.client("editor").post(f"{API}/runs", json=body).json()["id"]
    worker = lab.client("token worker")
    claimed = worker.post(f"{API}/worker/claim", json={"name": "w1", "queue": "cpu"}).json()
    run, attempt = claimed["run_id"], claimed["attempt"]
    assert (run, attempt) == (launched, 1)
    own = {"Authorization": f"Bearer {claimed['token']}"}
    nobody = lab.client("nobody")
    batch = {"attempt": attempt, "events": [started()]}
    assert nobody.post(f"{API}/worker/runs/{run}/events", json=batch, headers=own).status_code == 200
    assert nobody.post(f"{API}/worker/runs/{lab.other.ids['runs']}/events", json=batch, headers=own).status_code == 403
    assert nobody.post(f"{API}/worker/claim", json={"name": "w1", "queue": "cpu"}, headers=own).status_code == 403
    assert nobody.get(f"{API}/runs", headers=own).status_code == 403
    released = nobody.post(
        f"{API}/worker/runs/{run}/release", json={"attempt": attempt, "outcome": "finished"}, headers=own
    )
    assert released.status_code == 200, released.text
    assert nobody.post(f"{API}/worker/runs/{run}/events", json=batch, headers=own).status_code == 401


def test_the_process_of_a_live_game_needs_only_the_token_of_its_attempt(lab: Lab) -> None:
    number = lab.own.ids["live"]
    with lab.database.write() as session:
        session.execute(update(Job).where(Job.id == number).values(state="running", attempt=1))
        own = new_attempt_token(session, 1, job_id=number)
        other = new_attempt_token(session, 1, job_id=lab.other.ids["live"])
    path = f"ws://localhost{API}/worker/jobs/{number}/live?attempt=1"
    client = lab.client("nobody")
    with client.websocket_connect(path, headers={"Authorization": f"Bearer {own}"}):
        pass
    for secret in (other, "wrong"):
        with pytest.raises(WebSocketDenialResponse):
            client.websocket_connect(path, headers={"Authorization": f"Bearer {secret}"}).__enter__()
