"""Runs that train in jobs of a real Slurm cluster."""

import signal

import pytest

from tests.clusters.runs import (
    SHORT,
    assert_each_method_trains,
    assert_same_as_on_a_worker,
    start_study,
    submit,
    wait_for_evaluation,
    wait_for_job,
    wait_for_runs,
    wait_for_training,
)
from tests.clusters.slurm_cluster import SlurmCluster, task_names
from tests.installation import SAVING, Installation


def test_a_run_trains_on_slurm(installation: Installation, slurm: SlurmCluster) -> None:
    run = submit(installation, SHORT)
    finished = installation.wait_for_state(run, "finished")
    assert (finished["executor"], finished["attempt"], finished["step"] >= 3_000) == ("slurm", 1, True)
    job = wait_for_job(installation, run, state="ended")
    assert (job["scheduler_state"], job["host"] in ("n1", "n2"), job["core_seconds"] > 0) == ("COMPLETED", True, True)
    assert job["handle"] in [str(each["job_id"]) for each in slurm.jobs()]
    assert "starting" in installation.read(f"runs/{run}/job-output")["output"]
    assert f"Submitted to Slurm as job {job['handle']}." in installation.log(run)


@pytest.mark.nightly
def test_each_method_trains_on_slurm(installation: Installation) -> None:
    assert_each_method_trains(installation, "slurm")


@pytest.mark.nightly
def test_the_same_seed_learns_the_same_as_on_a_worker(installation: Installation) -> None:
    assert_same_as_on_a_worker(installation, submit(installation, SHORT))


@pytest.mark.nightly
def test_a_stopped_run_saves_and_its_job_ends(installation: Installation) -> None:
    run = submit(installation)
    installation.wait_for_state(run, "running")
    installation.post(f"runs/{run}/stop")
    stopped = installation.wait_for_state(run, "stopped")
    saved = [row["step"] for row in installation.read(f"runs/{run}/checkpoints") if row["available"]]
    assert max(saved) == stopped["step"]
    assert wait_for_job(installation, run, state="ended")["scheduler_state"] == "COMPLETED"


@pytest.mark.nightly
def test_a_study_is_one_array_with_a_limit(installation: Installation, slurm: SlurmCluster) -> None:
    study = start_study(installation, seeds=4, max_concurrent_runs=1)
    runs = wait_for_runs(installation, study, 4)
    jobs = [wait_for_job(installation, run) for run in runs]
    arrays = {job["handle"].partition("_")[0] for job in jobs}
    assert len(arrays) == 1
    assert [job["task"] for job in jobs] == [*range(4)]

    def is_finished() -> bool:
        assert sum(job["job_state"] == "RUNNING" for job in slurm.jobs()) <= 1
        return bool(installation.read(f"studies/{study}")["state"] == "finished")

    # One waiting task is stopped, and one is cancelled in Slurm.
    installation.post(f"runs/{runs[2]}/stop")
    assert wait_for_job(installation, runs[2], state="ended")["scheduler_state"] == "CANCELLED"
    slurm.command("scancel", jobs[3]["handle"])
    paused = installation.wait_for_state(runs[3], "paused")
    assert "Resume the run to submit it again" in paused["state_reason"]
    installation.post(f"runs/{runs[3]}/resume")
    installation.wait_until(is_finished)
    assert [installation.run(run)["state"] for run in runs] == [*["finished"] * 2, "stopped", "finished"]
    assert [installation.run(run)["attempt"] for run in runs] == [1, 1, 0, 2]
    again = installation.run(runs[3])["submission"]
    assert (again["task"], again["handle"] in arrays) == (None, False)
    used = installation.run(runs[0])
    assert used["submission"]["core_seconds"] > 0
    assert used["core_hours"] * 3600 == pytest.approx(used["submission"]["core_seconds"])


@pytest.mark.nightly
def test_a_requeued_job_continues_from_the_checkpoint_and_counts_once(
    installation: Installation, slurm: SlurmCluster
) -> None:
    run = submit(installation, **SAVING)
    installation.wait_for_checkpoint(run)
    handle = installation.run(run)["submission"]["handle"]
    slurm.requeue(handle)
    installation.wait_until(lambda: {row["attempt"] for row in installation.points(run)} == {1, 2})
    after = installation.run(run)
    assert after["submission"]["handle"] == handle
    # Slurm sent TERM, so the first attempt saved its last step, and no step was trained twice.
    assert not any(row["superseded"] for row in installation.points(run))
    first, second = ([row["step"] for row in installation.points(run, attempt)] for attempt in (1, 2))
    assert max(first) < min(second)
    installation.post(f"runs/{run}/stop")
    wait_for_job(installation, run, state="ended")


@pytest.mark.nightly
def test_a_job_that_never_starts_shows_why_and_is_cancelled(installation: Installation, slurm: SlurmCluster) -> None:
    wanted = slurm.settings(f"http://127.0.0.1:{installation.port}")
    installation.http.put("executors/slurm", json={**wanted, "partition": "none"}).raise_for_status()
    refused = submit(installation)
    installation.wait_until(lambda: "has not accepted its job" in (installation.run(refused)["state_reason"] or ""))
    assert "Invalid partition name specified" in installation.run(refused)["state_reason"]
    installation.post(f"runs/{refused}/stop")
    wait_for_job(installation, refused, state="ended")
    installation.http.put("executors/slurm", json={**wanted, "time_limit": "7-0"}).raise_for_status()
    run = submit(installation)
    job = wait_for_job(installation, run, state="waiting", reason="PartitionTimeLimit")
    assert installation.run(run)["state_reason"] == f"Slurm job {job['handle']} waits: PartitionTimeLimit, place 1."
    installation.post(f"runs/{run}/stop")
    assert wait_for_job(installation, run, state="ended")["scheduler_state"] == "CANCELLED"
    installation.http.put("executors/slurm", json=wanted).raise_for_status()


@pytest.mark.nightly
def test_a_killed_controller_changes_nothing(installation: Installation, slurm: SlurmCluster) -> None:
    run = submit(installation)
    wait_for_training(installation, run)
    slurm.kill("slurmctld")
    installation.wait_until(lambda: installation.run(run)["submission"]["unknown_since"])
    waiting = submit(installation, SHORT)
    wait_for_training(installation, run)
    assert installation.run(run)["state"] == "running"
    slurm.start_controller()
    installation.wait_until(lambda: installation.run(run)["submission"]["unknown_since"] is None)
    installation.wait_for_state(waiting, "finished")
    # A controller that had not stored that the job runs starts it again, so the run may have a second attempt.
    installation.wait_for_state(run, "running")
    wait_for_training(installation, run, installation.run(run)["attempt"])
    assert installation.run(waiting)["attempt"] == 1
    tasks = task_names(slurm.jobs())
    assert len(tasks) == len(set(tasks))
    installation.post(f"runs/{run}/stop")
    wait_for_job(installation, run, state="ended")


@pytest.mark.nightly
def test_a_killed_backend_loses_and_doubles_no_job(installation: Installation, slurm: SlurmCluster) -> None:
    before = {job["job_id"] for job in slurm.jobs()}
    runs = [submit(installation, SHORT) for _ in range(4)]
    # Somewhere between the first and the last submission.
    installation.wait_until(lambda: {job["job_id"] for job in slurm.jobs()} - before, interval=0.01)
    installation.backend.end(signal.SIGKILL)
    installation.start()
    for run in runs:
        installation.wait_for_state(run, "finished")
        wait_for_job(installation, run, state="ended")
    tasks = task_names(job for job in slurm.jobs() if job["job_id"] not in before)
    assert len(tasks) == len(set(tasks)) == len(runs)
    assert all(installation.run(run)["attempt"] == 1 for run in runs)


@pytest.mark.nightly
def test_a_job_that_is_cancelled_in_slurm_pauses_its_run(installation: Installation, slurm: SlurmCluster) -> None:
    run = submit(installation)
    wait_for_training(installation, run)
    handle = installation.run(run)["submission"]["handle"]
    slurm.command("scancel", handle)
    paused = installation.wait_for_state(run, "paused")
    assert f"Slurm ended job {handle}: CANCELLED. Resume the run to submit it again." in paused["state_reason"]
    step = installation.wait_for_checkpoint(run, 1)
    installation.post(f"runs/{run}/resume")
    wait_for_training(installation, run, 2)
    assert min(row["step"] for row in installation.points(run, 2)) > step
    installation.post(f"runs/{run}/stop")
    wait_for_job(installation, run, state="ended")


@pytest.mark.nightly
def test_a_worker_that_does_not_start_fails_its_run_with_the_output(
    installation: Installation, slurm: SlurmCluster
) -> None:
    address = f"http://127.0.0.1:{installation.port}"
    wanted = slurm.settings(address, prepare="echo no module is loaded; exit 3")
    installation.http.put("executors/slurm", json=wanted).raise_for_status()
    failed = installation.wait_for_state(submit(installation), "failed")
    assert "exited with status 3. Its output ends with: no module is loaded" in failed["state_reason"]
    checked = installation.http.post("executors/slurm/check?run_job=true", json=wanted).json()
    assert (checked["ok"], checked["output"].strip()) == (False, "no module is loaded")
    right = slurm.settings(address)
    checked = installation.http.post("executors/slurm/check?run_job=true", json=right).json()
    assert checked["ok"], checked
    assert "accepts the token" in checked["output"]
    installation.http.put("executors/slurm", json=right).raise_for_status()


@pytest.mark.nightly
def test_a_missing_folder_for_output_is_named(installation: Installation, slurm: SlurmCluster) -> None:
    address = f"http://127.0.0.1:{installation.port}"
    wanted = slurm.settings(address, directory=str(slurm.directory / "missing"))
    checked = installation.http.post("executors/slurm/check?run_job=true", json=wanted).json()
    assert not checked["ok"]
    assert "ended as FAILED" in checked["message"]
    assert "the folder for output must exist on the node" in checked["message"]


@pytest.mark.nightly
def test_options_of_sbatch_reach_slurm(installation: Installation, slurm: SlurmCluster) -> None:
    address = f"http://127.0.0.1:{installation.port}"
    prepare = f"{slurm.settings(address)['prepare']}\n#SBATCH --nice=7"
    wanted = slurm.settings(address, prepare=prepare, options="--exclude=n2\n--constraint=none", time_limit="30")
    installation.http.put("executors/slurm", json=wanted).raise_for_status()
    # The nodes have no features, so that only the option of the run lets it start.
    body = {"config": SHORT, "executor": "slurm", "job_options": ["--constraint=", "--time=20", "--exclude=n1"]}
    refused = installation.http.post("runs", json=body)
    assert (refused.status_code, "Write one long option on each line" in refused.text) == (422, True)
    single = int(installation.post("runs", {**body, "job_options": ["--time=20", "--exclude=n1"]})["id"])
    installation.wait_until(lambda: "feature" in (installation.run(single)["state_reason"] or ""))
    installation.post(f"runs/{single}/stop")
    wait_for_job(installation, single, state="ended")
    installation.http.put("executors/slurm", json={**wanted, "options": "--exclude=n2"}).raise_for_status()
    study = start_study(installation, seeds=2, max_concurrent_runs=2, job_options=["--time=20", "--exclude=n1"])
    runs = wait_for_runs(installation, study, 2)
    for run in runs:
        job = wait_for_job(installation, run, state="ended")
        assert (job["host"], job["scheduler_state"]) == ("n2", "COMPLETED")
    array = int(job["handle"].partition("_")[0])
    listed = [each for each in slurm.jobs() if each["array_job_id"] == array]
    assert {(each["time_limit"], each["nice"]) for each in listed} == {(20, 7)}
    installation.http.put("executors/slurm", json=slurm.settings(address)).raise_for_status()


@pytest.mark.nightly
def test_every_job_is_done_on_slurm_without_workers(installation: Installation, slurm: SlurmCluster) -> None:
    """Evaluate, record and review where no worker of the installation exists."""
    installation.http.put("executors/default", json={"executor": "slurm"}).raise_for_status()
    run = submit(installation, SHORT)
    installation.wait_for_state(run, "finished")
    wait_for_job(installation, run, state="ended")
    installation.post(f"runs/{run}/evaluations", {"episodes": 2})
    wait_for_evaluation(installation, run)
    installation.post(f"runs/{run}/recordings", {})
    installation.wait_for_replay(run)
    replay = installation.read(f"runs/{run}/replays")[0]["id"]
    review = installation.post(f"replays/{replay}/reviews", {"decisions": 4})
    installation.wait_until(lambda: installation.read(f"reviews/{review['id']}")["state"] == "done")
    installation.http.put("executors/default", json={"executor": "workers"}).raise_for_status()
    marks = [job["name"] for job in slurm.jobs() if "-jobs-" in job["name"]]
    assert 1 <= len(marks) <= 2
    # The workers for jobs end by themselves, since nothing waits.
    installation.wait_until(lambda: not any("-jobs-" in job["name"] for job in slurm.unfinished()), seconds=200)
