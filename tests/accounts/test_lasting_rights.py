"""Rights that end, end what lasts: sockets, streams, uploads and studies."""

import asyncio
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.concurrency import run_in_threadpool
from sqlalchemy import null, select, update
from starlette.testclient import WebSocketTestSession
from starlette.types import Message
from starlette.websockets import WebSocketDisconnect

from arcadia_backend.accounts import people
from arcadia_backend.accounts.roles import forget_credentials, forget_now
from arcadia_backend.config import API, COOKIE, Settings
from arcadia_backend.database.scope import Role
from arcadia_backend.database.tables import Attempt, AuditEntry, File, Job, Person, Practice, ProjectRole, Run, Study
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.live.background import IDLE_SECONDS
from arcadia_backend.live.notices import REFETCH, publish
from arcadia_backend.live.watches import Credentials
from arcadia_backend.live_games import sockets
from arcadia_backend.studies.scheduler import StudyScheduler
from arcadia_workers.contract.live import NO_SUCH_GAME
from arcadia_workers.contract.worker_api import JobState
from tests.accounts.lab import Lab
from tests.factories import CARTPOLE, sha256
from tests.workers.waiting import PATIENCE_SECONDS, wait_until


@pytest.fixture(autouse=True)
def _undo(lab: Lab) -> Iterator[None]:
    yield
    lab.copy.restore()
    forget_now()


def person_of(lab: Lab, name: str) -> int:
    with lab.database.read() as session:
        return session.scalars(select(Person.id).where(Person.name == name)).one()


def set_role(lab: Lab, name: str, role: Role | None) -> None:
    """Change the role of a person in the lab's own project, as the page of its members does."""
    person = person_of(lab, name)
    with lab.database.write() as session:
        rows = session.scalars(select(ProjectRole).where(ProjectRole.person_id == person))
        row = next(row for row in rows if row.project_id == lab.own.project_id)
        if role is None:
            session.delete(row)
        else:
            row.role = int(role)
        forget_credentials(session)


def disable(lab: Lab, name: str) -> None:
    with lab.database.write() as session:
        people.change(session, people.find_person(session, person_of(lab, name)), disabled=True)


def end_rights(lab: Lab, name: str, *, how: str) -> None:
    """Let a person have no right in the lab's own project."""
    if how == "role":
        set_role(lab, name, None)
    else:
        disable(lab, name)


WAYS = pytest.mark.parametrize("how", ["role", "account"])


def receive_until_closed(socket: WebSocketTestSession) -> WebSocketDisconnect:
    while (message := socket.receive())["type"] != "websocket.close":
        pass
    return WebSocketDisconnect(message["code"], message.get("reason"))


@WAYS
def test_a_live_game_ends_for_a_person_who_may_no_longer_watch(lab: Lab, how: str) -> None:
    path = f"ws://localhost{API}/live/{lab.own.ids['live']}"
    with lab.client("viewer").websocket_connect(path) as socket:
        assert json.loads(socket.receive_text())
        end_rights(lab, "viewer", how=how)
        assert receive_until_closed(socket).code == NO_SUCH_GAME
    [(action, reason)] = entries(lab, "live game")
    assert (action, "role or the session has ended" in reason) == ("end watching", True)
    with lab.client("administrator").websocket_connect(path) as socket:
        assert json.loads(socket.receive_text())


def test_a_page_gives_no_orders_after_its_role_has_become_viewer(lab: Lab) -> None:
    rights = sockets.WatchRights(may_order=True)
    page = Credentials("http", "localhost", "", lab.cookies["editor"])

    async def follow() -> None:
        socket: Any = SimpleNamespace(app=lab.app, cookies={COOKIE: page.session}, headers={"host": "localhost"})
        socket.scope = {"scheme": "http"}
        await sockets._check_rights(socket, lab.own.ids["live"], rights)

    async def until_ended() -> None:
        await lab.app.state.credentials.refresh()
        task = asyncio.create_task(follow())
        await asyncio.sleep(0)
        await run_in_threadpool(set_role, lab, "editor", Role.VIEWER)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while rights.may_order and not task.done():
                await asyncio.sleep(0.01)
        assert not task.done(), task.exception()
        task.cancel()

    lab.portal.call(until_ended)
    assert not rights.may_order


@pytest.mark.parametrize(("how", "expected"), [("role", REFETCH), ("account", None)])
def test_the_stream_of_a_page_hears_that_rights_have_changed(lab: Lab, how: str, expected: str | None) -> None:
    credentials = Credentials("http", "localhost", "", lab.cookies["viewer"])

    async def follow() -> str | None:
        await lab.app.state.credentials.refresh()
        with lab.app.state.watches.open(credentials) as page:
            publish("run.changed", {"run_id": lab.own.ids["runs"]})
            assert (await page.stream.next(PATIENCE_SECONDS)).name == "run.changed"
            await run_in_threadpool(end_rights, lab, "viewer", how=how)
            event = await page.stream.next(PATIENCE_SECONDS)
            return event.name if event else None

    assert lab.portal.call(follow) == expected


@WAYS
def test_an_upload_is_not_stored_after_the_right_has_ended(lab: Lab, how: str) -> None:
    content = b"x" * 1_000
    target = f"{API}/reported/runs/{lab.own.ids['runs']}/artifact-files/{sha256(content)}"
    sent: list[Message] = []

    async def upload() -> None:
        parts = iter((content[:500], content[500:]))

        async def receive() -> Message:
            body = next(parts)
            if is_last := body == content[500:]:
                await run_in_threadpool(end_rights, lab, "editor", how=how)
            return {"type": "http.request", "body": body, "more_body": not is_last}

        async def send(message: Message) -> None:
            sent.append(message)

        scope = Credentials("http", "localhost", "", lab.cookies["editor"]).scope(f"{target}?writer=w")
        await lab.app({**scope, "method": "PUT"}, receive, send)

    with lab.database.write() as session:
        session.execute(update(Run).where(Run.id == lab.own.ids["runs"]).values(origin="reported", reported_key="k"))
        session.execute(update(Attempt).where(Attempt.run_id == lab.own.ids["runs"]).values(writer="w"))
    lab.portal.call(upload)
    assert sent[0]["status"] == (403 if how == "role" else 401), sent
    with lab.database.read() as session:
        assert session.scalar(select(File.id).where(File.sha256 == sha256(content))) is None


def entries(lab: Lab, kind: str) -> list[tuple[str, str]]:
    with lab.database.read() as session:
        found = session.scalars(select(AuditEntry).where(AuditEntry.kind == kind).order_by(AuditEntry.id))
        return [(entry.action, (entry.after or {}).get("reason", "")) for entry in found]


def practice_of(lab: Lab, job_state: JobState, run_state: Any) -> Job:
    """Let the editor have started the practice of the lab's own project. Return its job."""
    with lab.database.write() as session:
        practice = session.get_one(Practice, lab.own.ids["practices"])
        practice.person_id, practice.document = person_of(lab, "editor"), null()
        practice.arms = [{"name": "practice", "pair": 1, "run_id": lab.own.ids["runs"], "seed": 1}]
        session.get_one(Run, lab.own.ids["runs"]).state = run_state
        job = session.get_one(Job, practice.job_id)
        job.state = job_state
        return job


@WAYS
@pytest.mark.parametrize(
    ("job_state", "run_state"), [("queued", "finished"), ("running", "finished"), ("done", "running")]
)
def test_a_practice_in_progress_ends_within_seconds_after_its_right(
    lab: Lab, how: str, job_state: JobState, run_state: Any
) -> None:
    job = practice_of(lab, job_state, run_state)
    scheduler = scheduler_of(lab)
    scheduler.start()
    try:
        end_rights(lab, "editor", how=how)
        # Without the notice of a change it takes 30 seconds. It takes 2 on a quiet machine.
        wait_until(lambda: state_of(lab, job) == "failed", seconds=IDLE_SECONDS / 2)
    finally:
        scheduler.stop()
    [(action, reason)] = entries(lab, "practice")
    assert (action, "may no longer launch runs" in reason) == ("stop", True)
    with lab.database.read() as session:
        desired = session.get_one(Run, lab.own.ids["runs"]).desired
    assert desired == ("pause" if run_state == "running" else "run")


def scheduler_of(lab: Lab) -> StudyScheduler:
    """Return a scheduler that is as fast as that of an installation, which the lab's own is not."""
    settings = Settings.model_validate({**lab.app.state.settings.model_dump(), "sweep_seconds": 5})
    return StudyScheduler(lab.database, settings, Doorbell(""))


def state_of(lab: Lab, job: Job) -> str:
    with lab.database.read() as session:
        return session.get_one(Job, job.id).state


def test_a_practice_continues_while_its_person_may_launch_runs(lab: Lab) -> None:
    job = practice_of(lab, "running", "finished")
    scheduler_of(lab).run_once()
    assert state_of(lab, job) == "running"
    assert entries(lab, "practice") == []


@WAYS
def test_a_study_pauses_when_its_person_may_no_longer_launch_runs(lab: Lab, how: str) -> None:
    body: dict[str, Any] = {"name": "s", "config": CARTPOLE, "seeds": [1, 2, 3], "confirm_steps": 6_000}
    body |= {"project": f"{lab.own.secret} project", "max_concurrent_runs": 1}
    body |= {"axes": [{"field": "learning_rate", "values": [0.001, 0.002]}]}
    study = lab.client("editor").post(f"{API}/studies", json=body)
    assert study.status_code == 201, study.text
    path = f"{API}/studies/{study.json()['id']}"
    end_rights(lab, "editor", how=how)
    root = lab.client("installation administrator")
    lab.app.state.study_scheduler.run_once()
    assert root.get(path).json()["state"] == "paused"
    assert "editor may no longer launch runs here" in root.get(path).json()["state_reason"]
    assert [reason for action, reason in entries(lab, "study") if action == "pause"] != []
    lab.client("administrator").post(f"{path}/resume").raise_for_status()
    with lab.database.read() as session:
        assert session.get_one(Study, study.json()["id"]).started_by == "administrator"
