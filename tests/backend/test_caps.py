"""Caps: runs of people and projects that train at once, and their hours in a month."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from sqlalchemy import insert, update

from arcadia_backend import caps
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, Role, Scope, acting_as
from arcadia_backend.database.tables import Person, Run, Usage
from arcadia_backend.errors import Conflict
from arcadia_backend.executors import submitting
from arcadia_backend.executors.executor import Executor, JobOrder
from arcadia_backend.executors.submitting import RunBatch, waiting_batches
from tests.backend.worker_api.test_needs import beat, claim
from tests.factories import Api

NOW = datetime(2026, 12, 11, 12, tzinfo=UTC)


@pytest.fixture
def december(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the caps read a fixed time."""
    monkeypatch.setattr(caps, "utc_now", lambda: NOW)


def cap(api: Api, owner: str = "projects/1", **limits: Any) -> list[dict[str, Any]]:
    """Set the caps of the project Main, or of another one or a person."""
    answer = api.user.put(f"/api/v1/caps/{owner}", json=limits)
    assert answer.status_code == 200, answer.text
    listed: list[dict[str, Any]] = answer.json()
    return listed


def use(database: Database, hours: float, ended_at: datetime | None = NOW, **columns: Any) -> None:
    """Store the use of an attempt that held 2 cores and 1 GPU until a time."""
    row = {"project_id": 1, "kind": "training", "run_id": 1, "executor": "workers", "cores": 2.0, "gpus": 1.0}
    started_at = (ended_at or NOW) - timedelta(hours=hours)
    with acting_as(BACKEND), database.write() as session:
        number = session.query(Usage).count() + 100
        session.execute(
            insert(Usage).values(**row, attempt=number, started_at=started_at, ended_at=ended_at, **columns)
        )


def test_a_project_trains_no_more_runs_than_its_cap(api: Api) -> None:
    for name in ("w1", "w2", "w3"):
        beat(api, name, host=name)
    [listed] = cap(api, max_runs=2)
    assert (listed["kind"], listed["name"], listed["max_runs"], listed["runs"]) == ("project", "Main", 2, 0)
    runs = [api.launch()["id"] for _ in range(3)]
    assert [claim(api, name) for name in ("w1", "w2", "w3")] == [runs[0], runs[1], None]
    assert api.run(runs[2])["state_reason"] == "Project Main may train 2 at once, and 2 train now."
    # Another project is not held back.
    api.user.post("/api/v1/projects", json={"name": "Other"}).raise_for_status()
    other = api.launch(project="Other")["id"]
    assert claim(api, "w3") == other
    api.release(runs[0], 1, "finished").raise_for_status()
    assert claim(api, "w1") == runs[2]
    assert cap(api) == []


def test_a_cap_of_a_person_counts_the_runs_of_all_projects(api: Api, database: Database) -> None:
    with acting_as(BACKEND), database.write() as session:
        session.add(Person(id=7, name="Ana", email="ana@example.org"))
    for name in ("w1", "w2"):
        beat(api, name, host=name)
    cap(api, "people/7", max_runs=1)
    runs = [api.launch()["id"] for _ in range(2)]
    with acting_as(BACKEND), database.write() as session:
        session.execute(update(Run).values(person_id=7))
    assert [claim(api, "w1"), claim(api, "w2")] == [runs[0], None]
    assert api.run(runs[1])["state_reason"] == "Ana may train 1 at once, and 1 train now."


@pytest.mark.usefixtures("december")
def test_used_hours_refuse_a_launch_and_hold_back_waiting_runs(api: Api, database: Database) -> None:
    beat(api, "w1")
    waiting = api.launch()["id"]
    cap(api, gpu_hours=10, core_hours=100)
    use(database, 9.5)
    answer = api.user.post("/api/v1/runs", json={"preset": "paac-cartpole"})
    assert answer.status_code == 201
    preview = api.user.post("/api/v1/runs/preview", json={"preset": "paac-cartpole"}).json()
    assert preview["warnings"] == ["Project Main has used 9.5 of 10 GPU hours in December 2026."]
    use(database, 0.5)
    refused = api.user.post("/api/v1/runs", json={"preset": "paac-cartpole"})
    assert refused.status_code == 409
    assert refused.json()["detail"] == (
        "Project Main has used 10.0 of 10 GPU hours in December 2026. The next month begins on 2027-01-01 (UTC). "
        "An administrator can raise the cap on the page Usage."
    )
    study: dict[str, Any] = {"name": "Seeds", "preset": "paac-cartpole", "seeds": 2}
    study["confirm_steps"] = api.user.post("/api/v1/studies/preview", json=study).json()["steps"]
    for path, body in ((f"runs/{waiting}/clone", {}), ("studies", study)):
        assert api.user.post(f"/api/v1/{path}", json=body).status_code == 409
    assert claim(api, "w1") is None
    assert api.run(waiting)["state_reason"].startswith("Project Main has used 10.0 of 10 GPU hours")
    cap(api, gpu_hours=11)
    assert claim(api, "w1") == waiting


@pytest.mark.usefixtures("december")
def test_only_the_hours_of_this_month_count(api: Api, database: Database) -> None:
    use(database, 48, ended_at=datetime(2026, 12, 1, 12, tzinfo=UTC))
    use(database, 48, ended_at=datetime(2026, 11, 20, tzinfo=UTC))
    use(database, 3, ended_at=None)
    [listed] = cap(api, core_hours=100)
    assert (listed["used_core_hours"], listed["used_gpu_hours"]) == (30.0, 15.0)


def test_two_claims_at_once_do_not_exceed_a_cap(api: Api) -> None:
    """The second claim waits for the first, since both lock the caps."""
    for name in ("w1", "w2"):
        beat(api, name, host=name)
    cap(api, max_runs=1)
    for _ in range(2):
        api.launch()
    with ThreadPoolExecutor(2) as pool:
        claimed = [*pool.map(lambda name: claim(api, name), ("w1", "w2"))]
    assert sorted(each is None for each in claimed) == [False, True]


def test_a_scheduler_gets_no_more_runs_than_the_cap(api: Api, database: Database) -> None:
    runs = [api.launch()["id"] for _ in range(4)]
    with acting_as(BACKEND), database.write() as session:
        session.execute(update(Run).values(executor="slurm"))
    cap(api, max_runs=3)
    with acting_as(BACKEND), database.read() as session:
        assert [batch.run_ids for batch in waiting_batches(session, "slurm", 10)] == [runs[:3]]
    cap(api, max_runs=0)
    with acting_as(BACKEND), database.read() as session:
        assert waiting_batches(session, "slurm", 10) == []


class Slurm:
    """A scheduler that accepts everything."""

    max_orders = 10

    def submit(self, orders: Sequence[JobOrder], _limit: int | None = None) -> list[str]:
        """Return a number for each job."""
        return [str(number) for number, _ in enumerate(orders)]


def test_a_submission_checks_the_caps_again(
    api: Api, database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker claims a run after the batch was chosen and before it is submitted."""
    beat(api, "w1")
    first, second = (api.launch()["id"] for _ in range(2))
    with acting_as(BACKEND), database.write() as session:
        session.execute(update(Run).where(Run.id == second).values(executor="slurm"))
    cap(api, max_runs=1)

    def choose_then_claim(*arguments: Any) -> list[RunBatch]:
        batches = waiting_batches(*arguments)
        assert [batch.run_ids for batch in batches] == [[second]]
        assert claim(api, "w1") == first
        return batches

    monkeypatch.setattr(submitting, "waiting_batches", choose_then_claim)
    with acting_as(BACKEND):
        submitting.Submitter(database, settings, "slurm").submit_waiting(cast("Executor", Slurm()))
    assert api.run(second)["submission"] is None
    assert api.run(second)["state_reason"].endswith("Project Main may train 1 at once, and 1 train now.")


@pytest.mark.parametrize(
    ("owner", "limits", "status"),
    [
        ("projects/99", {"max_runs": 1}, 404),
        ("people/99", {"max_runs": 1}, 404),
        ("projects/1", {"max_runs": -1}, 422),
        ("projects/1", {"runs": 1}, 422),
    ],
)
def test_wrong_caps_are_refused(api: Api, owner: str, limits: dict[str, Any], status: int) -> None:
    assert api.user.put(f"/api/v1/caps/{owner}", json=limits).status_code == status


def test_people_see_their_caps_and_those_of_their_projects(api: Api, database: Database) -> None:
    with acting_as(BACKEND), database.write() as session:
        session.add_all([Person(id=7, name="Ana", email="ana@example.org"), Person(id=8, name="Ben", email="b@x.org")])
    api.user.post("/api/v1/projects", json={"name": "Other"}).raise_for_status()
    for owner in ("projects/2", "projects/1", "people/7", "people/8"):
        cap(api, owner, max_runs=1)
    ana = Scope(everything=False, projects={1: Role.VIEWER}, person_id=7, name="Ana")
    with acting_as(ana), database.read() as session:
        assert [(each.kind, each.name) for each in caps._list(session)] == [("project", "Main"), ("person", "Ana")]
    # The cap of a project holds back everyone in it.
    with acting_as(ana), database.read() as session:
        caps.require_hours(session, 1)
    cap(api, "people/7", gpu_hours=0)
    with acting_as(ana), database.read() as session, pytest.raises(Conflict, match="Ana has used"):
        caps.require_hours(session, 1)
