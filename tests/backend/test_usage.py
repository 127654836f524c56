"""Core and GPU hours: each attempt counts once, also of deleted runs and jobs, and people see only their projects."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, Role, Scope, acting_as
from arcadia_backend.database.tables import Project, Run, Usage
from arcadia_backend.usage import read_usage
from tests.backend.worker_api.test_continuing import lose
from tests.factories import Api, started

START = datetime(2026, 1, 31, 22, tzinfo=UTC)


def rows(database: Database) -> list[Usage]:
    """Return all stored rows in their order."""
    with acting_as(BACKEND), database.read() as session:
        return [*session.scalars(select(Usage).order_by(Usage.id))]


def move(database: Database, number: int, begun: datetime, ended: datetime | None) -> None:
    """Set the times of a row."""
    with acting_as(BACKEND), database.write() as session:
        session.execute(update(Usage).where(Usage.id == number).values(started_at=begun, ended_at=ended))


def usage(api: Api, *by: str, **filters: Any) -> dict[str, Any]:
    """Return the hours by these groups."""
    answer = api.user.get("/api/v1/usage", params={"by": by, **filters})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_hours_of_an_attempt_are_exact_and_split_at_the_end_of_a_month(api: Api, database: Database) -> None:
    api.beat("w1", cores=4)
    run_id, attempt = api.running()
    api.release(run_id, attempt, "failed")
    [row] = rows(database)
    assert (row.kind, row.cores, row.gpus, row.ended_at is not None) == ("training", 4.0, 0.0, True)
    move(database, row.id, START, START + timedelta(hours=5))
    table = usage(api, "month", "project")
    found = [(each["month"], each["project"], each["core_hours"]) for each in table["rows"]]
    assert found == [("2026-01", "Main", 8.0), ("2026-02", "Main", 12.0)]
    assert table["core_hours"] == 20.0
    part = {"from": "2026-01-31T23:00:00Z", "to": "2026-02-01T01:00:00Z"}
    assert usage(api, "kind", **part)["core_hours"] == 8.0
    csv = api.user.get("/api/v1/export/usage.csv", params={"by": ["month"]}).text.splitlines()
    assert csv == ["month,core_hours,gpu_hours,attempts", "2026-01,8.0,0.0,1", "2026-02,12.0,0.0,1"]


def test_a_lost_attempt_counts_once_and_a_returned_worker_continues_it(
    api: Api, database: Database, settings: Settings
) -> None:
    api.beat("w1")
    run_id, attempt = api.running()
    lose(api, database, settings, run_id)
    assert [row.ended_at is not None for row in rows(database)] == [True]
    api.beat("w1", run={"id": run_id, "attempt": attempt})
    assert [row.ended_at for row in rows(database)] == [None]
    api.release(run_id, attempt, "drained")
    ended = rows(database)[0].ended_at
    api.release(run_id, attempt, "drained")
    assert [row.ended_at for row in rows(database)] == [ended], "a repeated release changes nothing"
    assert api.claim("w1")["attempt"] == 2
    assert [(row.attempt, row.ended_at is None) for row in rows(database)] == [(1, False), (2, True)]


def test_deleted_runs_and_jobs_stay_counted(api: Api, database: Database) -> None:
    run_id, attempt = api.launch(queue="gpu")["id"], 1
    api.claim("g1", "gpu")
    api.send(run_id, attempt, started())
    api.save(run_id, attempt, 2, 100)
    evaluation = api.evaluate(run_id)
    api.claim_job("w1")
    assert api.user.delete(f"/api/v1/evaluations/{evaluation['id']}").status_code == 204
    api.release(run_id, attempt, "failed")
    api.act(run_id, "archive")
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert api.user.get(f"/api/v1/runs/{run_id}").status_code == 404
    assert [(row.kind, row.gpus, row.ended_at is not None) for row in rows(database)] == [
        ("training", 1.0, True),
        ("evaluation", 0.0, True),
    ]
    for row in rows(database):
        move(database, row.id, START, START + timedelta(minutes=90))
    found = {each["kind"]: (each["core_hours"], each["gpu_hours"]) for each in usage(api, "kind")["rows"]}
    assert found == {"training": (1.5, 1.5), "evaluation": (1.5, 0.0)}


def test_running_work_counts_until_now(api: Api, database: Database) -> None:
    api.running()
    move(database, rows(database)[0].id, datetime.now(UTC) - timedelta(hours=2), None)
    assert usage(api, "kind")["core_hours"] == pytest.approx(2.0, abs=0.05)


def test_workers_of_a_host_share_its_cores(api: Api, database: Database) -> None:
    for name in ("w1", "w2"):
        api.beat(name, cores=8)
    api.launch()
    api.claim("w1")
    assert [row.cores for row in rows(database)] == [4.0]


def test_wrong_filters_say_what_would_be_right(api: Api) -> None:
    wrong = api.user.get("/api/v1/usage", params={"from": "2026-02-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"})
    assert (wrong.status_code, "later than `from`" in wrong.text) == (422, True)
    assert api.user.get("/api/v1/usage", params={"by": "planet"}).status_code == 422


def test_people_see_their_projects_and_their_own_hours(database: Database) -> None:
    """Hours of a hidden project count only for the person who used them, and without the project."""
    with acting_as(BACKEND), database.write() as session:
        names = ("Seen", "Hidden")
        projects = [Project(name=name, name_key=name.lower(), text="") for name in names]
        session.add_all(projects)
        session.flush()
        seen, hidden = (project.id for project in projects)
        times = {"started_at": START, "ended_at": START + timedelta(hours=1)}
        for project_id, person_id, cores in ((seen, 8, 1.0), (hidden, 7, 2.0), (hidden, 8, 4.0)):
            session.add(
                Usage(
                    project_id=project_id, person_id=person_id, kind="training", attempt=1, executor="workers",
                    run_id=int(cores), cores=cores, gpus=0.0, **times,
                )
            )  # fmt: skip
    person = Scope(everything=False, projects={seen: Role.VIEWER}, person_id=7)
    token = Scope(everything=False, projects={seen: Role.VIEWER}, person_id=7, token_id=1)

    def found(scope: Scope, **filters: Any) -> list[tuple[str | None, float]]:
        with acting_as(scope), database.read() as session:
            return [(row.project, row.core_hours) for row in read_usage(session, ["project"], **filters).rows]

    assert found(person) == [(None, 2.0), ("Seen", 1.0)]
    assert found(token) == [("Seen", 1.0)]
    assert found(person, projects=["Hidden"]) == []
    assert found(person, people=[8]) == [("Seen", 1.0)]
    assert found(BACKEND) == [("Hidden", 6.0), ("Seen", 1.0)]


def test_merged_projects_keep_their_hours(api: Api, database: Database) -> None:
    api.user.post("/api/v1/projects", json={"name": "Old"})
    run = api.launch(project="Old")
    api.claim()
    api.release(run["id"], 1, "failed")
    with acting_as(BACKEND), database.read() as session:
        project_id = session.get_one(Run, run["id"]).project_id
    merged = api.user.post(f"/api/v1/projects/{project_id}/merge", json={"into": "Main"})
    assert merged.status_code == 200, merged.text
    assert [each["project"] for each in usage(api, "project")["rows"]] == ["Main"]
