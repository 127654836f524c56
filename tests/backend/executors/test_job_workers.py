"""Workers that a scheduler starts for evaluations and other jobs, with a Slurm of which tests choose the states."""

from collections.abc import Callable
from typing import Any

import pytest

from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Job, JobWorker
from arcadia_backend.executors.job_workers import FIRST_DELAY, LISTED_AFTER
from arcadia_backend.executors.service import SubmissionThread
from arcadia_backend.jobs import EXPECTED_CLAIM_TIME
from arcadia_backend.web.security import job_worker_token
from tests.backend.executors.conftest import FakeSlurm
from tests.conftest import WORKER_TOKEN
from tests.factories import Api
from tests.workers.waiting import wait_until

Serve = Callable[[], None]


@pytest.fixture
def serve(fake_slurm: FakeSlurm, api: Api, database: Database, settings: Settings) -> Serve:
    """Set Slurm up as the default, and return what submits and follows jobs once."""
    api.user.put("/api/v1/executors/slurm", json=fake_slurm.settings(cores=2)).raise_for_status()
    api.user.put("/api/v1/executors/default", json={"executor": "slurm"}).raise_for_status()
    thread = SubmissionThread(database, settings.model_copy(update={"scheduler_seconds": 0}), "slurm")
    return lambda: (thread.run_once(), None)[1]


@pytest.fixture
def evaluation(api: Api) -> dict[str, Any]:
    """Return the waiting evaluation of a run whose worker has left, and that takes no jobs."""
    run, attempt = api.running(executor="workers")
    api.save(run, attempt, 2, 100)
    return api.evaluate(run)


def reason(api: Api, evaluation: dict[str, Any]) -> str:
    """Return why an evaluation waits."""
    return str(api.evaluation(evaluation["id"])["reason"])


def make_older(database: Database, *rows: type[Job] | type[JobWorker], by: Any) -> None:
    """Move the times of rows to the past."""
    with database.write() as session:
        for table in rows:
            for row in session.query(table):
                for column in ("created_at", "submitted_at", "ended_at"):
                    if getattr(row, column, None) is not None:
                        setattr(row, column, getattr(row, column) - by)


def test_a_waiting_job_starts_one_worker_that_says_what_it_waits_for(
    api: Api, fake_slurm: FakeSlurm, serve: Serve, evaluation: dict[str, Any]
) -> None:
    assert reason(api, evaluation) == "No worker that takes jobs is connected. Slurm starts one."
    serve()
    serve()
    (submitted,) = fake_slurm.submissions
    assert "arcadia worker --job-worker 1 --jobs 2 --executor slurm" in submitted["script"]
    assert WORKER_TOKEN not in str(submitted)
    assert reason(api, evaluation) == "Job 1 of Slurm, whose worker does it, waits: PENDING."
    fake_slurm.change(0, "RUNNING")
    serve()
    assert reason(api, evaluation) == "Job 1 of Slurm is starting a worker for it."


def test_a_worker_of_the_installation_is_asked_first(
    api: Api, database: Database, fake_slurm: FakeSlurm, serve: Serve, evaluation: dict[str, Any]
) -> None:
    api.beat("own", job_slots=1)
    serve()
    assert fake_slurm.submissions == []
    make_older(database, Job, by=EXPECTED_CLAIM_TIME)
    serve()
    assert len(fake_slurm.submissions) == 1
    assert "about to take it" not in reason(api, evaluation)


def test_more_workers_start_only_if_the_others_have_no_slot(
    api: Api, fake_slurm: FakeSlurm, serve: Serve, evaluation: dict[str, Any]
) -> None:
    serve()
    api.evaluate(evaluation["run_id"], seed=2)
    serve()
    assert len(fake_slurm.submissions) == 1
    for seed in (3, 4, 5):
        api.evaluate(evaluation["run_id"], seed=seed)
    serve()
    serve()
    assert len(fake_slurm.submissions) == 2


def test_a_job_of_the_scheduler_is_cancelled_if_nothing_waits(
    api: Api, database: Database, fake_slurm: FakeSlurm, serve: Serve, evaluation: dict[str, Any]
) -> None:
    serve()
    api.user.post(f"/api/v1/evaluations/{evaluation['id']}/cancel", json={}).raise_for_status()
    serve()
    assert fake_slurm.canceled == ["1"]
    fake_slurm.end(0, "CANCELLED", signal=15)
    serve()
    with database.read() as session:
        (row,) = session.query(JobWorker)
        assert (row.state, row.reason) == ("ended", None)
    # It was not a failure, so the next job does not wait.
    api.evaluate(evaluation["run_id"], seed=2)
    serve()
    assert len(fake_slurm.submissions) == 2


def test_a_worker_that_cannot_start_is_shown_and_tried_again_later(
    api: Api, database: Database, fake_slurm: FakeSlurm, serve: Serve, evaluation: dict[str, Any]
) -> None:
    serve()
    fake_slurm.end(0, "FAILED", "arcadia: command not found", exit_code=127)
    serve()
    serve()
    assert len(fake_slurm.submissions) == 1
    said = reason(api, evaluation)
    assert said.startswith("Job 1 of Slurm ended as FAILED and exited with status 127, without doing a job.")
    assert "can test Slurm on the page Workers" in said
    make_older(database, JobWorker, by=FIRST_DELAY)
    serve()
    assert len(fake_slurm.submissions) == 2


def test_a_refused_submission_says_why(
    api: Api, fake_slurm: FakeSlurm, serve: Serve, evaluation: dict[str, Any]
) -> None:
    fake_slurm.behave(max_submitted=0)
    serve()
    said = reason(api, evaluation)
    assert said.startswith("Slurm has not accepted a job whose worker does it: ")
    assert "job submit limit" in said


def test_a_backend_that_was_killed_while_it_submitted_finds_the_job(
    database: Database, fake_slurm: FakeSlurm, serve: Serve, evaluation: dict[str, Any]
) -> None:
    serve()
    with database.write() as session:
        (row,) = session.query(JobWorker)
        row.handle, row.state = None, "submitting"
    serve()
    with database.read() as session:
        assert [(row.handle, row.state) for row in session.query(JobWorker)] == [("1", "waiting")]
    # Another one, whose job was never submitted, is replaced.
    with database.write() as session:
        (row,) = session.query(JobWorker)
        row.state, row.ended_at = "ended", utc_now()
        session.add(JobWorker(executor="slurm", submitted_at=utc_now() - LISTED_AFTER))
    serve()
    assert fake_slurm.canceled == ["1"]
    make_older(database, JobWorker, by=FIRST_DELAY)
    serve()
    assert len(fake_slurm.submissions) == 2
    assert evaluation["state"] == "queued"


def test_the_token_of_a_job_worker_is_only_for_jobs(
    api: Api, database: Database, serve: Serve, evaluation: dict[str, Any]
) -> None:
    serve()
    beat = {"name": "n1.jobs-1", "host": "n1", "queue": "cpu", "pid": 7, "version": "1", "device": "cpu", "cores": 2}
    beat |= {"memory_bytes": 8_000_000_000, "executor": "slurm", "job_slots": 1}

    def post(path: str, body: dict[str, Any], token: str = job_worker_token(WORKER_TOKEN, 1)) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return int(api.user.post(f"/api/v1/worker/{path}", json=body, headers=headers).status_code)

    run = evaluation["run_id"]
    assert post("heartbeat", beat) == 200
    assert post("heartbeat", {**beat, "name": "n1"}) == 403
    assert post("heartbeat", {**beat, "run": {"id": run, "attempt": 1}}) == 403
    assert post("claim", {"name": "n1.jobs-1", "queue": "cpu"}) == 403
    assert post(f"runs/{run}/claim", {"name": "n1.jobs-1", "attempt": 2}) == 403
    assert post(f"runs/{run}/release", {"attempt": 1, "outcome": "failed"}) == 403
    assert post("jobs/claim", {"name": "w1"}) == 403
    other, released = api.evaluate(run, seed=2), {"attempt": 1, "outcome": "failed"}
    assert api.claim_job("w1")["job_id"] == evaluation["job_id"]
    assert post(f"jobs/{evaluation['job_id']}/release", released) == 409
    evaluation, other = other, evaluation
    assert post("jobs/claim", {"name": "n1.jobs-1"}) == 200
    with database.read() as session:
        assert [row.was_used for row in session.query(JobWorker)] == [True]
    assert post(f"jobs/{other['job_id']}/release", released) == 409
    assert post(f"jobs/{evaluation['job_id']}/release", released) == 200
    assert post("heartbeat", beat, job_worker_token("another", 1)) == 401
    with database.write() as session:
        session.query(JobWorker).one().state = "ended"
    wait_until(lambda: post("heartbeat", beat) == 401)
