"""Claims of one run by the job of a scheduler. The later claim of a job wins."""

from typing import Any

import pytest

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import ExecutorSettings, Run, RunSubmission
from arcadia_backend.web.security import job_token
from tests.conftest import WORKER_TOKEN
from tests.factories import Api, Response, checkpoint_path, metrics, started
from tests.workers.waiting import wait_until


@pytest.fixture
def submitted(api: Api, database: Database) -> int:
    """Return a run whose job was submitted for attempt 1."""
    run_id: int = api.launch()["id"]
    submit(database, run_id, 1)
    return run_id


def submit(database: Database, run_id: int, attempt: int, **columns: Any) -> None:
    """Store that a job of a run was submitted."""
    with database.write() as session:
        if session.get(ExecutorSettings, "slurm") is None:
            session.add(ExecutorSettings(executor="slurm", settings={}))
        session.get_one(Run, run_id).executor = "slurm"
        values = {"state": "waiting", "handle": "42", **columns}
        session.add(RunSubmission(run_id=run_id, attempt=attempt, executor="slurm", **values))


def claim(api: Api, run_id: int, attempt: int, name: str = "n1") -> Response:
    """Claim a run as a job does."""
    return api.worker.post(f"/api/v1/worker/runs/{run_id}/claim", json={"name": name, "attempt": attempt})


def test_workers_do_not_claim_the_runs_of_a_scheduler(api: Api, submitted: int) -> None:
    assert api.worker.post("/api/v1/worker/claim", json={"name": "w1", "queue": "cpu"}).status_code == 204
    claimed = claim(api, submitted, 1).json()
    assert (claimed["run_id"], claimed["attempt"]) == (submitted, 1)
    after = api.run(submitted)
    assert (after["state"], after["worker"], after["attempt"]) == ("starting", "n1", 1)


def test_the_later_claim_wins_and_late_writes_of_the_older_attempt_are_refused(api: Api, submitted: int) -> None:
    assert claim(api, submitted, 1).json()["attempt"] == 1
    api.send(submitted, 1, started(), metrics(2, 10, {"train/loss": 1.0}))
    api.save(submitted, 1, 3, 100)
    second = claim(api, submitted, 1, "n2").json()
    assert (second["attempt"], [each["file"] for each in second["checkpoints"]]) == (2, [checkpoint_path(100)])
    late = api.send(submitted, 1, metrics(4, 110, {"train/loss": 0.5}))
    assert (late.status_code, late.json()["type"]) == (409, "/problems/stale-attempt")
    assert api.release(submitted, 1, "finished").status_code == 409
    beat = api.beat("n1", run={"id": submitted, "attempt": 1})
    assert (beat.status_code, beat.json()["type"]) == (409, "/problems/stale-attempt")
    api.send(submitted, 2, started(resumed_from=100))
    assert api.run(submitted)["state"] == "running"
    log = str(api.user.get(f"/api/v1/runs/{submitted}/log").json())
    assert "The job of attempt 1 was started again. Back in the queue, 1 of at most 5 times." in log


def test_a_drained_run_is_claimed_again_by_the_requeued_job(api: Api, submitted: int) -> None:
    claim(api, submitted, 1)
    assert api.release(submitted, 1, "drained").json() == {"state": "queued"}
    assert claim(api, submitted, 1).json()["attempt"] == 2


def test_the_job_of_an_earlier_submission_gets_nothing(api: Api, database: Database, submitted: int) -> None:
    with database.write() as session:
        session.query(RunSubmission).one().state = "ended"
    submit(database, submitted, 2)
    refused = claim(api, submitted, 1)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/stale-attempt")
    assert "There is nothing to do" in refused.json()["detail"]
    # The number of the attempt is that of the submission, although no job claimed attempt 1.
    assert claim(api, submitted, 2).json()["attempt"] == 2


def test_a_run_that_has_ended_or_is_being_cancelled_is_not_claimed(
    api: Api, database: Database, submitted: int
) -> None:
    other = api.launch()["id"]
    submit(database, other, 1, state="cancelling")
    assert "is being cancelled" in claim(api, other, 1).json()["detail"]
    api.act(submitted, "stop")
    refused = claim(api, submitted, 1)
    assert refused.status_code == 409
    assert f"There is nothing to do: run {submitted} is stopped at attempt 0." in refused.json()["detail"]
    assert claim(api, 999, 1).status_code == 404


def test_a_stop_request_ends_a_run_whose_job_is_started_again(api: Api, submitted: int) -> None:
    claim(api, submitted, 1)
    api.send(submitted, 1, started())
    api.act(submitted, "stop")
    assert claim(api, submitted, 1, "n2").status_code == 409
    assert api.run(submitted)["state"] == "stopped"


def test_a_run_of_workers_is_claimed_only_for_its_next_attempt(api: Api) -> None:
    run_id = api.launch()["id"]
    assert claim(api, run_id, 2).status_code == 409
    assert claim(api, run_id, 1).json()["attempt"] == 1
    again = claim(api, run_id, 1, "n2")
    assert again.status_code == 409, "a run of workers is not taken from its worker"
    assert api.run(run_id)["worker"] == "n1"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def heartbeat(name: str, **more: Any) -> dict[str, Any]:
    report = {"name": name, "host": "h", "queue": "cpu", "pid": 7, "version": "1", "device": "cpu", "cores": 2}
    return report | {"memory_bytes": 8_000_000_000, "executor": "slurm"} | more


def test_the_token_of_a_job_is_only_for_its_run(api: Api, submitted: int) -> None:
    other = api.launch()["id"]
    job, name = bearer(job_token(WORKER_TOKEN, submitted, 1)), f"n1.run-{submitted}"
    body = {"name": name, "attempt": 1}

    def call(path: str, sent: dict[str, Any]) -> int:
        return int(api.user.post(f"/api/v1/worker/{path}", json=sent, headers=job).status_code)

    assert call(f"runs/{submitted}/claim", body) == 200
    assert call(f"runs/{other}/claim", body) == 403
    assert call("claim", {"name": name, "queue": "cpu"}) == 403
    for run_id, status in ((submitted, 200), (other, 403)):
        assert call("heartbeat", heartbeat(name, run={"id": run_id, "attempt": 1})) == status
    assert call("heartbeat", heartbeat(name, job_slots=16)) == 403
    assert call("heartbeat", heartbeat("w1")) == 403
    assert call("goodbye", {"name": "w1"}) == 403
    assert call("goodbye", {"name": name}) == 204
    forged = bearer(job_token("another", submitted, 1))
    assert api.user.post(f"/api/v1/worker/runs/{submitted}/claim", json=body, headers=forged).status_code == 401


def test_the_token_of_a_job_is_only_for_its_attempts(api: Api, database: Database, submitted: int) -> None:
    first, second = (bearer(job_token(WORKER_TOKEN, submitted, attempt)) for attempt in (1, 2))
    name, path = f"n1.run-{submitted}", f"/api/v1/worker/runs/{submitted}"
    claimed = api.user.post(f"{path}/claim", json={"name": name, "attempt": 1}, headers=first).json()
    assert api.user.post(f"{path}/claim", json={"name": name, "attempt": 2}, headers=first).status_code == 403
    batch = {"attempt": 1, "events": [started()]}
    assert api.user.post(f"{path}/events", json=batch, headers=first).status_code == 200
    assert api.user.post(f"{path}/events", json=batch, headers=bearer(claimed["token"])).status_code == 200
    released = {"attempt": 1, "outcome": "drained"}
    assert api.user.post(f"{path}/release", json=released, headers=second).status_code == 409
    assert api.user.post(f"{path}/release", json=released, headers=first).status_code == 200
    with database.write() as session:
        session.query(RunSubmission).one().state = "ended"
    submit(database, submitted, 2)
    api.user.post(f"{path}/claim", json={"name": name, "attempt": 2}, headers=second).raise_for_status()
    # Its job has ended, and its attempt has: neither token opens anything now.
    batch["attempt"] = 2
    wait_until(lambda: api.user.post(f"{path}/events", json=batch, headers=first).status_code == 401)
    assert api.user.post(f"{path}/events", json=batch, headers=bearer(claimed["token"])).status_code == 401
    assert api.user.post(f"{path}/events", json=batch, headers=second).status_code == 200


def test_the_worker_of_a_job_is_not_counted_as_a_worker_of_the_queue(api: Api) -> None:
    api.beat("n1", executor="slurm")
    (listed,) = api.user.get("/api/v1/workers").json()
    assert (listed["name"], listed["executor"]) == ("n1", "slurm")
    run = api.launch()
    assert "No CPU worker is connected" in api.run(run["id"])["state_reason"]
