"""A host with two slots: its runs train at once, and continue after the kill of any of its processes."""

import signal

import pytest

from tests.installation import CARTPOLE, SAVING, Installation


def test_two_runs_train_at_once_on_one_host(installation: Installation) -> None:
    installation.worker("sun", slots=2)
    runs = [installation.launch({**CARTPOLE, "total_steps": 1_000_000}) for _ in range(2)]
    for run in runs:
        installation.wait_for_state(run, "running")
    workers = {each["name"]: each for each in installation.read("workers")}
    assert {workers[name]["run_id"] for name in ("sun-1", "sun-2")} == {*runs}
    assert [workers[name]["job_slots"] for name in ("sun-1", "sun-2")] == [1, 0]
    for run in runs:
        installation.post(f"runs/{run}/stop")
        installation.wait_for_state(run, "stopped")
    installation.dismiss_workers()


@pytest.mark.nightly
def test_runs_continue_after_their_host_was_killed(installation: Installation) -> None:
    host = installation.worker("sun", slots=2)
    runs = [installation.launch({**CARTPOLE, **SAVING}) for _ in range(2)]
    steps = {run: installation.wait_for_checkpoint(run) for run in runs}
    children = host.process.children()
    children[0].send_signal(signal.SIGKILL)
    host.end()
    host.start()
    for run in runs:
        installation.wait_until(lambda run=run: installation.run(run)["attempt"] == 2)  # type: ignore[misc]
        installation.wait_until(lambda run=run: installation.run(run)["state"] == "running")  # type: ignore[misc]
        resumed = [row["step"] for row in installation.points(run, 2)]
        assert not resumed or min(resumed) >= steps[run]
    for run in runs:
        installation.post(f"runs/{run}/stop")
        installation.wait_for_state(run, "stopped")
    installation.dismiss_workers()
