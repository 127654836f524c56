"""Workers that people pause, drain, let work again, or remove from the list."""

from typing import Any

import pytest

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Worker
from arcadia_backend.worker_api.registry import DELETED_AFTER
from arcadia_backend.worker_api.sweeper import ring_worker
from arcadia_backend.workers import GONE_AFTER
from arcadia_workers.contract.worker_api import LOOK_FOR_JOBS_TASK
from tests.backend.worker_api.test_sweeper import RecordingDoorbell
from tests.factories import Api, Response


def edit(api: Api, desired: str, name: str = "w1") -> Response:
    return api.user.patch(f"/api/v1/workers/{name}", json={"desired": desired})


def claimed(api: Api, path: str = "claim", **more: Any) -> int:
    return api.worker.post(f"/api/v1/worker/{path}", json={"name": "w1", **more}).status_code


def evaluation_of_ended_run(api: Api) -> dict[str, Any]:
    api.beat(job_slots=1)
    run, attempt = api.running()
    api.save(run, attempt, 2, 100)
    api.release(run, attempt, "finished")
    return api.evaluate(run)


def test_a_paused_worker_finishes_its_run_and_takes_no_other_work(api: Api) -> None:
    api.beat()
    run, attempt = api.running()
    waiting = api.launch()["id"]
    assert edit(api, "pause").json()["desired"] == "pause"
    answer = api.beat(run={"id": run, "attempt": attempt}).json()
    assert (answer["desired"], answer["drain"]) == ("run", False)
    api.release(run, attempt, "finished")
    assert claimed(api, queue="cpu") == 204
    assert api.run(waiting)["state_reason"] == (
        "Every CPU worker is paused. An administrator can resume one on the page Workers."
    )
    assert edit(api, "work").json()["desired"] == "work"
    assert api.claim()["run_id"] == waiting


def test_a_paused_worker_takes_no_jobs(api: Api) -> None:
    api.beat(job_slots=1)
    evaluation = evaluation_of_ended_run(api)
    edit(api, "pause")
    assert claimed(api, "jobs/claim") == 204
    assert "Every worker that takes jobs is paused." in api.evaluation(evaluation["id"])["reason"]
    edit(api, "work")
    assert claimed(api, "jobs/claim") == 200


def test_a_drained_worker_gives_back_its_run(api: Api) -> None:
    api.beat()
    run, attempt = api.running()
    edit(api, "drain")
    assert api.beat(run={"id": run, "attempt": attempt}).json()["drain"]
    assert api.release(run, attempt, "drained").json() == {"state": "queued"}
    assert claimed(api, queue="cpu") == 204
    api.beat("w2")
    assert api.claim("w2")["run_id"] == run


def test_a_worker_is_asked_for_what_waits_when_it_works_again(api: Api, database: Database) -> None:
    for name in ("w1", "w2"):
        api.beat(name, job_slots=1)
    evaluation, waiting = evaluation_of_ended_run(api), api.launch()["id"]
    doorbell = RecordingDoorbell()

    def ring() -> None:
        with database.write() as session, acting_as(BACKEND):
            ring_worker(session, doorbell, "w1")

    edit(api, "pause")
    ring()
    assert doorbell.rings == []
    edit(api, "work")
    ring()
    assert doorbell.rings == [
        ("worker.w1", waiting),
        (f"worker.w1: {LOOK_FOR_JOBS_TASK}", evaluation["job_id"]),
    ]


def test_only_a_worker_that_is_gone_is_removed(api: Api, database: Database) -> None:
    api.beat()
    refused = api.user.delete("/api/v1/workers/w1")
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "Worker w1 is connected. Stop its process first.",
    )
    with database.write() as session:
        session.get_one(Worker, "w1").last_seen_at = utc_now() - GONE_AFTER
    assert api.user.delete("/api/v1/workers/w1").status_code == 204
    assert api.user.get("/api/v1/workers").json() == []
    assert api.user.delete("/api/v1/workers/w1").json()["detail"] == "There is no worker w1."
    # It returns with its next heartbeat.
    api.beat()
    assert [worker["desired"] for worker in api.user.get("/api/v1/workers").json()] == ["work"]


def test_a_worker_that_is_listed_no_more_can_be_edited(api: Api, database: Database) -> None:
    api.beat()
    with database.write() as session:
        session.get_one(Worker, "w1").last_seen_at = utc_now() - DELETED_AFTER
    assert edit(api, "pause").json()["desired"] == "pause"


@pytest.mark.parametrize(
    ("name", "desired", "status", "detail"),
    [
        ("w2", "pause", 404, "There is no worker w2."),
        ("slurm-1", "drain", 409, "Worker slurm-1 is a job of a scheduler. Stop its run instead."),
        ("w1", "sleep", 422, "'sleep' is not one of 'work', 'pause' or 'drain'"),
    ],
)
def test_a_change_that_cannot_be_made_is_refused(api: Api, name: str, desired: str, status: int, detail: str) -> None:
    api.beat()
    api.beat("slurm-1", executor="slurm")
    refused = edit(api, desired, name)
    assert refused.status_code == status
    assert detail in refused.text
