"""Runs on Slurm, with the commands of different versions and sites."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import RunSubmission, Usage
from arcadia_backend.executors.service import SubmissionThread
from tests.backend.executors.conftest import FakeSlurm
from tests.backend.executors.test_submitting import start
from tests.factories import Api

Serve = Callable[[], None]
VERSIONS = pytest.mark.parametrize(
    "site",
    [
        pytest.param({"is_new": False}, id="22.05 lists all jobs"),
        pytest.param({"is_new": True}, id="24.05 lists unfinished jobs by default"),
        pytest.param({"hides_ended": True}, id="a squeue that never lists ended jobs"),
    ],
)


@pytest.fixture
def serve(fake_slurm: FakeSlurm, api: Api, database: Database, settings: Settings) -> Serve:
    """Set Slurm up, and return what submits runs and follows their jobs once."""
    stored = api.user.put("/api/v1/executors/slurm", json=fake_slurm.settings())
    assert stored.status_code == 200, stored.text
    thread = SubmissionThread(database, settings.model_copy(update={"scheduler_seconds": 0}), "slurm")
    return lambda: (thread.run_once(), None)[1]


def submission(api: Api, run: int) -> dict[str, Any]:
    """Return the latest job of a run."""
    job: dict[str, Any] = api.run(run)["submission"]
    return job


def attempts(database: Database) -> list[int]:
    """Return the attempts of all submissions."""
    with database.read() as session:
        return [row.attempt for row in session.query(RunSubmission)]


@VERSIONS
def test_wrong_commands_fail_a_run_after_one_submission(
    api: Api, database: Database, fake_slurm: FakeSlurm, serve: Serve, site: dict[str, Any]
) -> None:
    fake_slurm.behave(**site)
    run = api.launch(executor="slurm")["id"]
    serve()
    fake_slurm.end(0, "FAILED", "arcadia: command not found", exit_code=127)
    serve()
    after = api.run(run)
    assert (after["state"], len(fake_slurm.submissions), attempts(database)) == ("failed", 1, [1])
    assert "exited with status 127. Its output ends with: arcadia: command not found" in after["state_reason"]


@VERSIONS
def test_a_canceled_job_pauses_its_run(api: Api, fake_slurm: FakeSlurm, serve: Serve, site: dict[str, Any]) -> None:
    fake_slurm.behave(**site)
    run = api.launch(executor="slurm")["id"]
    serve()
    fake_slurm.end(0, "CANCELLED", signal=15)
    serve()
    after = api.run(run)
    assert (after["state"], len(fake_slurm.submissions)) == ("paused", 1)
    assert "Slurm ended job 1: CANCELLED. Resume the run to submit it again." in after["state_reason"]


@VERSIONS
def test_tasks_of_an_array_end_as_single_jobs_do(
    api: Api, fake_slurm: FakeSlurm, serve: Serve, site: dict[str, Any]
) -> None:
    fake_slurm.behave(**site)
    runs = start(api, seeds=4, max_concurrent_runs=4)
    serve()
    fake_slurm.end(0, "FAILED", "no module is loaded", exit_code=3)
    fake_slurm.end(1, "CANCELLED", signal=15)
    fake_slurm.change(2, "RUNNING")
    serve()
    assert [api.run(run)["state"] for run in runs] == ["failed", "paused", "queued", "queued"]
    assert "Its output ends with: no module is loaded" in api.run(runs[0])["state_reason"]
    assert [submission(api, run)["state"] for run in runs] == ["ended", "ended", "running", "waiting"]
    assert len(fake_slurm.submissions) == 1


def test_each_start_of_a_job_is_counted_once(api: Api, database: Database, fake_slurm: FakeSlurm, serve: Serve) -> None:
    """The scheduler requeues the job after 20 seconds, and it runs for 30 seconds more."""
    run = api.launch(executor="slurm")["id"]
    serve()
    begun = 1_796_037_000
    for later in (0, 20):
        fake_slurm.change(0, "RUNNING", started=begun + later)
        serve()
        serve()
    fake_slurm.change(0, "COMPLETED", started=begun + 20, ended=begun + 50)
    serve()
    serve()
    with database.read() as session:
        rows = [*session.scalars(select(Usage).order_by(Usage.id))]
    seconds = [(row.ended_at - row.started_at).total_seconds() for row in rows if row.ended_at]
    assert (seconds, [row.cores for row in rows]) == ([20.0, 30.0], [1.0, 1.0])
    assert api.run(run)["core_hours"] == pytest.approx(50 / 3600)


def test_the_accounting_knows_jobs_that_slurm_has_forgotten(api: Api, fake_slurm: FakeSlurm, serve: Serve) -> None:
    fake_slurm.behave(has_accounting=True)
    runs = start(api, seeds=3, max_concurrent_runs=3)
    serve()
    fake_slurm.end(0, "CANCELLED", is_purged=True)
    # The other tasks are listed, which alone would mean that this one was canceled.
    fake_slurm.end(1, "FAILED", "no module is loaded", exit_code=3, is_purged=True)
    serve()
    assert [api.run(run)["state"] for run in runs] == ["paused", "failed", "queued"]
    assert submission(api, runs[1])["scheduler_state"] == "FAILED"


def test_a_job_that_nobody_knows_is_unknown_and_submitted_again_later(
    api: Api, database: Database, fake_slurm: FakeSlurm, serve: Serve
) -> None:
    run = api.launch(executor="slurm")["id"]
    serve()
    fake_slurm.end(0, "FAILED", exit_code=3, is_purged=True)
    serve()
    assert "is unknown since" in api.run(run)["state_reason"]
    with database.write() as session:
        session.query(RunSubmission).one().unknown_since = utc_now() - timedelta(minutes=11)
    serve()
    assert (submission(api, run)["handle"], attempts(database)) == ("2", [1, 2])


def test_a_worker_that_saves_after_term_is_not_over(api: Api, fake_slurm: FakeSlurm, serve: Serve) -> None:
    run = api.launch(executor="slurm")["id"]
    serve()
    fake_slurm.change(0, "CANCELLED", "COMPLETING")
    serve()
    assert (submission(api, run)["state"], submission(api, run)["scheduler_state"]) == ("running", "COMPLETING")
    fake_slurm.end(0, "CANCELLED")
    serve()
    assert api.run(run)["state"] == "paused"


@pytest.mark.parametrize(
    ("states", "reason"),
    [
        (["RUNNING"], "Slurm job 1 runs on n1. Its worker is starting."),
        (["RUNNING", "COMPLETING"], "Slurm job 1 on n1 is ending."),
        (["SUSPENDED"], "Slurm job 1 on n1 is suspended: an administrator or a more urgent job has stopped it."),
        (["RUNNING", "CONFIGURING"], "Slurm job 1 waits: CONFIGURING."),
    ],
)
def test_a_run_says_what_its_job_does(
    api: Api, fake_slurm: FakeSlurm, serve: Serve, states: list[str], reason: str
) -> None:
    run = api.launch(executor="slurm")["id"]
    serve()
    fake_slurm.change(0, *states)
    serve()
    assert api.run(run)["state_reason"] == reason


def test_a_run_says_that_its_worker_cannot_be_reached(api: Api, fake_slurm: FakeSlurm, serve: Serve) -> None:
    run = api.launch(executor="slurm")["id"]
    serve()
    fake_slurm.change(0, "RUNNING")
    serve()
    claimed = api.worker.post(f"/api/v1/worker/runs/{run}/claim", json={"name": "n1", "attempt": 1})
    assert claimed.status_code == 200
    api.release(run, 1, "drained")
    reason = api.run(run)["state_reason"]
    assert "runs on n1, but its worker is not heard from. The run continues when it answers." in reason


def test_a_job_that_cannot_write_its_output_says_so(api: Api, fake_slurm: FakeSlurm, serve: Serve) -> None:
    run = api.launch(executor="slurm")["id"]
    serve()
    fake_slurm.end(0, "FAILED", signal=53)
    serve()
    reason = api.run(run)["state_reason"]
    assert "it was ended by signal 53. It left no output" in reason
    assert "the folder for output must exist on the node" in reason


def test_a_site_that_accepts_fewer_jobs_gets_smaller_arrays(
    api: Api, database: Database, fake_slurm: FakeSlurm, serve: Serve
) -> None:
    fake_slurm.behave(max_submitted=5)
    runs = start(api, seeds=12, max_concurrent_runs=12)
    for _ in range(3):
        serve()
    assert len(fake_slurm.jobs) == 5
    reasons = [api.run(run)["state_reason"] for run in runs]
    assert sum("AssocMaxSubmitJobLimit" in reason for reason in reasons) == 1
    # More are submitted when jobs have ended.
    for index in range(5):
        fake_slurm.end(index, "CANCELLED")
    with database.write() as session:
        for row in session.query(RunSubmission):
            row.submitted_at = utc_now() - timedelta(seconds=11)
    for _ in range(4):
        serve()
    assert len(fake_slurm.jobs) == 10
    marks = [(job["mark"], job["task"]) for job in fake_slurm.jobs]
    assert len({*marks}) == len(marks)


@pytest.fixture
def two_runs(api: Api, serve: Serve) -> tuple[int, int]:
    """Submit a run with options of its own, and one without."""
    first = api.launch(executor="slurm", job_options=["--qos=long", "--gres=gpu:a100:1"])["id"]
    second = api.launch(executor="slurm")["id"]
    serve()
    return first, second


def test_options_of_a_run_replace_those_of_the_site(
    api: Api, fake_slurm: FakeSlurm, serve: Serve, two_runs: tuple[int, int]
) -> None:
    assert api.run(two_runs[0])["job_options"] == ["--qos=long", "--gres=gpu:a100:1"]
    own, shared = (call["arguments"] for call in fake_slurm.submissions)
    assert own[-2:] == ["--qos=long", "--gres=gpu:a100:1"]
    assert not any(option.startswith("--qos") for option in shared)
    # The runs are not one array, because they have different needs.
    assert not any(option.startswith("--array") for option in own + shared)
    site = fake_slurm.settings(options="--qos=short\n--reservation=course\n", gpu_type="h200")
    api.user.put("/api/v1/executors/slurm", json=site)
    clone = api.user.post(f"/api/v1/runs/{two_runs[0]}/clone", json={}).json()
    assert clone["job_options"] == ["--qos=long", "--gres=gpu:a100:1"]
    api.launch(executor="slurm", queue="gpu")
    serve()
    cloned, gpu = (call["arguments"] for call in fake_slurm.submissions[2:])
    assert cloned[-4:] == ["--qos=short", "--reservation=course", "--qos=long", "--gres=gpu:a100:1"]
    assert ("--gres=gpu:h200:1" in gpu, gpu[-2:]) == (True, ["--qos=short", "--reservation=course"])


def test_all_runs_of_a_study_have_its_options(api: Api, fake_slurm: FakeSlurm, serve: Serve) -> None:
    runs = start(api, seeds=3, max_concurrent_runs=3, job_options=["--constraint=avx512"])
    serve()
    assert {tuple(api.run(run)["job_options"]) for run in runs} == {("--constraint=avx512",)}
    (call,) = fake_slurm.submissions
    assert ("--array=0-2%3" in call["arguments"], call["arguments"][-1]) == (True, "--constraint=avx512")


@pytest.mark.usefixtures("serve")
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--output=/home/ana/.bashrc"], "A run may not set --output=/home/ana/.bashrc"),
        (["--wrap=id"], "A run may not set --wrap=id"),
        # sbatch completes names.
        (["--exp=ALL"], "A run may not set --exp=ALL"),
        (["-q long"], "Write one long option on each line, such as --qos=long, instead of -q long"),
        (["--qos"], None),
        (["--qos=a\n--wrap=id"], "Write one long option"),
    ],
)
def test_runs_may_only_choose_resources(api: Api, options: list[str], reason: str | None) -> None:
    body = {"preset": "paac-cartpole", "executor": "slurm", "job_options": options}
    refused = api.user.post("/api/v1/runs", json=body)
    assert (refused.status_code, reason is None or reason in refused.text) == (201 if reason is None else 422, True)


def test_only_jobs_of_slurm_have_options(api: Api) -> None:
    refused = api.user.post("/api/v1/runs", json={"preset": "paac-cartpole", "job_options": ["--qos=long"]})
    assert (refused.status_code, "Only jobs of Slurm have options" in refused.text) == (422, True)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--job-name=mine", "Arcadia sets --job-name itself. Remove --job-name=mine"),
        ("--qos=long\n--exp=ALL", "Arcadia sets --export itself. Remove --exp=ALL"),
        ("--partition=long", "Use the field Partition instead of --partition=long"),
        ("--gres=gpu:a100:1", "Use the fields GPUs and Kind of GPU instead of --gres=gpu:a100:1"),
        ("qos=long", "Write one long option on each line, such as --qos=long, instead of qos=long"),
    ],
)
def test_options_that_arcadia_sets_are_refused(api: Api, fake_slurm: FakeSlurm, options: str, reason: str) -> None:
    refused = api.user.put("/api/v1/executors/slurm", json=fake_slurm.settings(options=options))
    assert (refused.status_code, reason in refused.json()["errors"][0]["message"]) == (422, True)


def test_lines_for_sbatch_count_in_arrays_too(api: Api, fake_slurm: FakeSlurm, serve: Serve) -> None:
    prepare = "module load python\n#SBATCH --qos=long"
    api.user.put("/api/v1/executors/slurm", json=fake_slurm.settings(prepare=prepare))
    api.launch(executor="slurm")
    serve()
    start(api, seeds=2)
    serve()
    for call in fake_slurm.submissions:
        assert call["script"].startswith("#!/bin/bash -l\n#SBATCH --qos=long\n")
    assert len(fake_slurm.submissions) == 2


def test_a_wrong_option_of_one_run_does_not_delay_the_others(api: Api, fake_slurm: FakeSlurm, serve: Serve) -> None:
    fake_slurm.behave(refused_option="--qos=none")
    wrong = api.launch(executor="slurm", job_options=["--qos=none"])["id"]
    other = api.launch(executor="slurm")["id"]
    serve()
    assert "Slurm has not accepted its job: sbatch: error: Invalid qos" in api.run(wrong)["state_reason"]
    assert submission(api, other)["handle"] == "1"
