"""Which runs become one job array, and the records of arrays that Slurm lists."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import ExecutorSettings, Run, RunSubmission
from arcadia_backend.executors.executor import ExecutorError, SchedulerJob
from arcadia_backend.executors.slurm import read_jobs
from arcadia_backend.executors.submitting import RunBatch, waiting_batches
from tests.factories import Api

STUDY: dict[str, Any] = {"name": "Seeds", "preset": "paac-cartpole", "total_steps": 1_000, "executor": "slurm"}
# A task that runs, as `squeue --json` of Slurm 22.05 lists it.
TASK: dict[str, Any] = {
    "array_job_id": 7,
    "array_task_id": 3,
    "array_task_string": "",
    "comment": "arcadia-x-run-12-1",
    "cpus": 2,
    "job_id": 11,
    "job_state": "RUNNING",
    "nodes": "n1",
    "partition": "low",
    "priority": 100,
    "start_time": 1_796_037_021,
    "state_reason": "None",
    "tres_alloc_str": "cpu=2,mem=1M,node=1,billing=2,gres/gpu=1",
}
WAITING = {
    **TASK,
    "array_task_id": None,
    "array_task_string": "4-6,9,20-24:2%2",
    "job_id": 7,
    "job_state": "PENDING",
    "nodes": "",
    "start_time": 0,
    "state_reason": "JobArrayTaskLimit",
    "tres_alloc_str": "",
}


@pytest.fixture
def slurm(database: Database) -> None:
    """Let runs choose Slurm. Its settings are not complete, so nothing submits them."""
    with database.write() as session:
        session.add(ExecutorSettings(executor="slurm", settings={}))


def start(api: Api, **others: Any) -> list[int]:
    """Start a study on Slurm, and return the runs that exist."""
    wanted = {**STUDY, **others}
    steps = api.user.post("/api/v1/studies/preview", json=wanted).json()["steps"]
    study = api.user.post("/api/v1/studies", json={**wanted, "confirm_steps": steps}).json()
    runs = [run["run_id"] for point in study["table"] for run in point["runs"]]
    return [run for run in runs if run is not None]


def batches(database: Database, max_orders: int = 1_000) -> list[RunBatch]:
    """Return the runs to submit."""
    with database.read() as session:
        return waiting_batches(session, "slurm", max_orders)


def submit(database: Database, runs: list[int], state: str = "waiting") -> None:
    """Store that jobs of runs were submitted."""
    with database.write() as session:
        session.add_all(RunSubmission(run_id=run, attempt=1, executor="slurm", state=state) for run in runs)


@pytest.mark.usefixtures("slurm")
def test_the_runs_of_a_study_are_one_array_once_all_are_created(api: Api, database: Database) -> None:
    single = api.launch(executor="slurm")["id"]
    runs = start(api, seeds=120, max_concurrent_runs=5)
    # The request creates a hundred, and the scheduler the others.
    assert (len(runs), batches(database)) == (100, [RunBatch([single])])
    runs = start(api, seeds=8, max_concurrent_runs=5)
    assert batches(database) == [RunBatch([single]), RunBatch(runs, 5)]


@pytest.mark.usefixtures("slurm")
def test_more_jobs_of_a_study_never_exceed_its_limit(api: Api, database: Database) -> None:
    runs = start(api, seeds=8, max_concurrent_runs=5)
    submit(database, runs[:6])
    assert batches(database) == []
    with database.write() as session:
        for row in session.query(RunSubmission).limit(3):
            row.state = "ended"
        for run in runs[:3]:
            session.get_one(Run, run).state = "finished"
    assert batches(database) == [RunBatch(runs[6:8], 5)]


@pytest.mark.usefixtures("slurm")
def test_a_scheduler_without_arrays_gets_single_jobs(api: Api, database: Database) -> None:
    singles = [api.launch(executor="slurm")["id"] for _ in range(2)]
    runs = start(api, seeds=4, max_concurrent_runs=3)
    wanted = [*(RunBatch([run]) for run in singles), *(RunBatch([run], 3) for run in runs[:3])]
    assert batches(database, max_orders=1) == wanted


@pytest.mark.usefixtures("slurm")
def test_runs_train_where_their_project_or_the_installation_says(api: Api) -> None:
    project = api.user.post("/api/v1/projects", json={"name": "Cluster"}).json()
    patched = api.user.patch(f"/api/v1/projects/{project['id']}", json={"executor": "slurm"}).json()
    assert patched["executor"] == "slurm"
    in_project: Callable[..., str] = lambda **chosen: api.launch(project="Cluster", **chosen)["executor"]  # noqa: E731
    assert (in_project(), in_project(executor="workers"), api.launch()["executor"]) == ("slurm", "workers", "workers")
    listed = api.user.put("/api/v1/executors/default", json={"executor": "slurm"}).json()
    assert [each["name"] for each in listed if each["is_default"]] == ["slurm"]
    assert api.launch()["executor"] == "slurm"
    preview = {"preset": "paac-cartpole", "project": "Main"}
    assert api.user.post("/api/v1/runs/preview", json=preview).json()["executor"] == "slurm"
    (run, *_) = start(api, executor=None)
    assert api.run(run)["executor"] == "slurm"


def test_a_default_must_be_set_up(api: Api) -> None:
    refused = api.user.put("/api/v1/executors/default", json={"executor": "slurm"})
    assert (refused.status_code, "is not set up" in refused.text) == (422, True)
    assert api.user.patch("/api/v1/projects/1", json={"executor": "slurm"}).status_code == 422
    assert api.launch()["executor"] == "workers"


def test_the_waiting_tasks_of_an_array_are_jobs_too() -> None:
    listing = read_jobs(json.dumps({"jobs": [TASK, WAITING]}))
    handles = ["7_3", "7_4", "7_5", "7_6", "7_9", "7_20", "7_22", "7_24"]
    assert [job.handle for job in listing.jobs] == handles
    running, *waiting = listing.jobs
    assert (running.task, running.phase, running.cores, running.gpus, running.host) == (3, "running", 2, 1, "n1")
    assert {(job.phase, job.reason, job.place, job.mark) for job in waiting} == {
        ("waiting", "JobArrayTaskLimit", 1, "arcadia-x-run-12-1")
    }
    assert listing.arrays == {"7"}


def test_an_array_whose_tasks_were_all_cancelled_is_still_listed() -> None:
    cancelled = {**WAITING, "array_task_string": "", "job_state": "CANCELLED"}
    listing = read_jobs(json.dumps({"jobs": [cancelled]}))
    assert not listing.jobs
    assert listing.arrays == {"7"}


def test_a_shortened_list_of_tasks_is_an_error() -> None:
    with pytest.raises(ExecutorError, match="did not return a list of jobs"):
        read_jobs(json.dumps({"jobs": [{**WAITING, "array_task_string": "4-6,..."}]}))


def test_a_job_without_an_array_keeps_its_number() -> None:
    alone = {**TASK, "array_job_id": 0, "array_task_id": None}
    (job,) = read_jobs(json.dumps({"jobs": [alone]})).jobs
    assert (job.handle, job.task) == ("11", None)
    assert isinstance(job, SchedulerJob)


@pytest.mark.usefixtures("slurm")
def test_a_queued_run_waits_for_its_scheduler(api: Api) -> None:
    run = api.launch(executor="slurm")["id"]
    steps = api.user.get(f"/api/v1/runs/{run}").json()["start_steps"]
    assert [step["name"] for step in steps] == ["Waiting for Slurm"]
