"""Runs on Slurm whose daemons, nodes, jobs and server are killed. None is lost, and none is trained twice."""

import signal
from typing import Any

import pytest

from tests.clusters.runs import SHORT, start_study, submit, wait_for_job, wait_for_runs, wait_for_training
from tests.clusters.slurm_cluster import SlurmCluster
from tests.installation import SAVING, Installation

pytestmark = pytest.mark.nightly


def trained_twice(installation: Installation, run: int) -> list[int]:
    """Return the steps that two attempts have trained and of which both count."""
    attempts: dict[int, set[int]] = {}
    for row in installation.points(run):
        if not row["superseded"]:
            attempts.setdefault(row["step"], set()).add(row["attempt"])
    return sorted(step for step, found in attempts.items() if len(found) > 1)


def wait_for_no_orphans(installation: Installation, slurm: SlurmCluster) -> None:
    """Wait until no job waits or runs in Slurm, and none is open in Arcadia."""
    installation.wait_until(lambda: not slurm.unfinished())
    installation.wait_until(lambda: {job["state"] for job in submissions(installation)} == {"ended"})


def submissions(installation: Installation) -> list[dict[str, Any]]:
    """Return the latest job of each run that has one."""
    listed = installation.read("runs?limit=200")["items"]
    jobs = [installation.run(row["id"])["submission"] for row in listed]
    return [job for job in jobs if job is not None]


def test_a_killed_slurmd_neither_loses_nor_doubles_a_run(installation: Installation, slurm: SlurmCluster) -> None:
    run = submit(installation, **SAVING)
    installation.wait_for_checkpoint(run)
    node = installation.run(run)["submission"]["host"]
    slurm.kill(node)
    # The job of a node that does not answer starts on another one, while its old worker may still train.
    installation.wait_until(lambda: installation.run(run)["attempt"] == 2)
    wait_for_training(installation, run, 2)
    slurm.start_node(node)
    installation.post(f"runs/{run}/stop")
    stopped = installation.wait_for_state(run, "stopped")
    wait_for_job(installation, run, state="ended")
    assert stopped["attempt"] == 2
    assert trained_twice(installation, run) == []
    slurm.command("scontrol", "update", f"NodeName={node}", "State=RESUME")
    slurm.wait_for_nodes()
    wait_for_no_orphans(installation, slurm)


def test_a_preempted_job_continues_from_its_checkpoint(installation: Installation, slurm: SlurmCluster) -> None:
    runs = [submit(installation, **SAVING) for _ in range(2)]
    for run in runs:
        wait_for_training(installation, run)
    wanted = slurm.settings(f"http://127.0.0.1:{installation.port}")
    installation.http.put("executors/slurm", json={**wanted, "partition": "high"}).raise_for_status()
    urgent = submit(installation, SHORT)
    installation.wait_for_state(urgent, "finished")
    installation.http.put("executors/slurm", json=wanted).raise_for_status()
    installation.wait_until(lambda: sorted(installation.run(run)["attempt"] for run in runs) == [1, 2])
    (preempted,) = (run for run in runs if installation.run(run)["attempt"] == 2)
    wait_for_training(installation, preempted, 2)
    first, second = ([row["step"] for row in installation.points(preempted, attempt)] for attempt in (1, 2))
    assert max(first) < min(second)
    assert installation.run(preempted)["submission"]["core_seconds"] > 0
    for run in runs:
        installation.post(f"runs/{run}/stop")
        installation.wait_for_state(run, "stopped")
    assert trained_twice(installation, preempted) == []
    wait_for_no_orphans(installation, slurm)


def test_a_killed_backend_and_controller_keep_the_array_of_a_study(
    installation: Installation, slurm: SlurmCluster
) -> None:
    before = {job["job_id"] for job in slurm.jobs()}
    study = start_study(installation, seeds=6, max_concurrent_runs=2)
    # Somewhere between the submission of the array and the storage of its number.
    installation.wait_until(lambda: {job["job_id"] for job in slurm.jobs()} - before, interval=0.01)
    installation.backend.end(signal.SIGKILL)
    installation.start()
    runs = wait_for_runs(installation, study, 6)
    slurm.kill("slurmctld")
    slurm.start_controller()
    installation.wait_until(lambda: installation.read(f"studies/{study}")["state"] == "finished")
    after = [installation.run(run) for run in runs]
    assert {run["state"] for run in after} == {"finished"}
    arrays = {run["submission"]["handle"].partition("_")[0] for run in after}
    assert len(arrays) == 1
    assert [trained_twice(installation, run) for run in runs] == [[]] * 6
    wait_for_no_orphans(installation, slurm)


def test_a_requeued_task_of_an_array_continues(installation: Installation, slurm: SlurmCluster) -> None:
    config: dict[str, Any] = {**SHORT, **SAVING, "total_steps": 10**9}
    study = start_study(installation, config, seeds=2, max_concurrent_runs=2)
    runs = wait_for_runs(installation, study, 2)
    for run in runs:
        installation.wait_for_checkpoint(run)
    handle = installation.run(runs[1])["submission"]["handle"]
    slurm.requeue(handle)
    installation.wait_until(lambda: installation.run(runs[1])["attempt"] == 2)
    wait_for_training(installation, runs[1], 2)
    again = installation.run(runs[1])["submission"]
    assert (again["handle"], again["core_seconds"] > 0) == (handle, True)
    assert installation.run(runs[0])["attempt"] == 1
    installation.post(f"studies/{study}/stop")
    for run in runs:
        installation.wait_for_state(run, "stopped")
        wait_for_job(installation, run, state="ended")
    assert trained_twice(installation, runs[1]) == []
    wait_for_no_orphans(installation, slurm)


def test_stopping_a_study_cancels_tasks_that_never_start(installation: Installation, slurm: SlurmCluster) -> None:
    wanted = slurm.settings(f"http://127.0.0.1:{installation.port}")
    installation.http.put("executors/slurm", json={**wanted, "time_limit": "7-0"}).raise_for_status()
    study = start_study(installation, seeds=4, max_concurrent_runs=4)
    runs = wait_for_runs(installation, study, 4)
    for run in runs:
        wait_for_job(installation, run, state="waiting", reason="PartitionTimeLimit", place=1)
    installation.post(f"studies/{study}/stop")
    for run in runs:
        assert wait_for_job(installation, run, state="ended")["scheduler_state"] == "CANCELLED"
        assert installation.run(run)["state"] == "stopped"
    installation.http.put("executors/slurm", json=wanted).raise_for_status()
    wait_for_no_orphans(installation, slurm)
