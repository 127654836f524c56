"""Thirty random faults of a Slurm cluster, its jobs and the server. No point is lost, and none is stored twice."""

import random
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress

import psutil
import pytest

from tests.clusters.runs import submit, wait_for_job
from tests.clusters.slurm_cluster import SlurmCluster
from tests.installation import SAVING, Installation
from tests.processes import command_line

pytestmark = pytest.mark.nightly

FAULTS, RUNS, SEED = 30, 2, 1
# More than what a killed trainer has left to deliver.
MORE_POINTS = 100


@pytest.fixture
def installation(slurm: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation whose jobs write their events where the test reads them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(slurm.config))
        directory = tmp_path_factory.mktemp("faults")
        installation = Installation(directory, scheduler_seconds=1, lease_seconds=8, max_requeues=FAULTS)
    (directory / "workers").mkdir()
    with installation:
        settings = slurm.settings(f"http://127.0.0.1:{installation.port}")
        prepare = str(settings["prepare"]).replace(f"{slurm.directory}/output", f"{directory}/workers")
        installation.http.put("executors/slurm", json={**settings, "prepare": prepare}).raise_for_status()
        yield installation


def kill_process(installation: Installation, mark: str) -> None:
    """Kill a process of this installation whose command line has a mark, once there is one."""
    ours = (f"127.0.0.1:{installation.port}", str(installation.directory))

    def kill_first() -> bool:
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                command = command_line(process)
                if mark in command and any(part in command for part in ours):
                    process.kill()
                    return True
        return False

    installation.wait_until(kill_first)


def kill_node(installation: Installation, slurm: SlurmCluster, run: int) -> None:
    """Kill slurmd of the node of a run, and start it again. Its job continues."""
    node = installation.run(run)["submission"]["host"] or "n1"
    slurm.kill(node)
    slurm.start_node(node)


def kill_controller(slurm: SlurmCluster) -> None:
    """Kill slurmctld, and start it again."""
    slurm.kill("slurmctld")
    slurm.start_controller()


def kill_backend(installation: Installation) -> None:
    """Kill the server, and start it again."""
    installation.backend.end(signal.SIGKILL)
    installation.start()


def requeue(installation: Installation, slurm: SlurmCluster, run: int) -> None:
    """Requeue the job of a run. A job that has just ended stays as it is."""
    slurm.command("scontrol", "requeue", wait_for_job(installation, run, state="running")["handle"])


def wait_for_training(installation: Installation, slurm: SlurmCluster, run: int) -> None:
    """Wait until the current attempt of a run has delivered more points than now."""
    first = installation.run(run)["attempt"]
    before = {first: installation.journals.points(run, first)}

    def has_more() -> bool:
        slurm.administer()
        current = installation.run(run)
        attempt = current["attempt"]
        more = installation.journals.points(run, attempt) - before.get(attempt, 0)
        return current["state"] == "running" and more > MORE_POINTS

    installation.wait_until(has_more)


def test_thirty_random_faults_lose_and_double_nothing(installation: Installation, slurm: SlurmCluster) -> None:
    chosen = random.Random(SEED)
    runs = [submit(installation, **SAVING) for _ in range(RUNS)]
    faults: list[Callable[[int], None]] = [
        lambda run: kill_process(installation, f"/runs/{run}/attempt-"),
        lambda run: kill_process(installation, f"--run {run} --attempt"),
        lambda run: kill_node(installation, slurm, run),
        lambda _run: kill_controller(slurm),
        lambda _run: kill_backend(installation),
        lambda run: requeue(installation, slurm, run),
    ]
    for number in range(FAULTS):
        for run in runs:
            wait_for_training(installation, slurm, run)
        # Each fault happens equally often.
        faults[number % len(faults)](chosen.choice(runs))
    for run in runs:
        wait_for_training(installation, slurm, run)
        installation.post(f"runs/{run}/stop")
    for run in runs:
        stopped = installation.wait_for_state(run, "stopped")
        wait_for_job(installation, run, state="ended")
        installation.assert_points_kept(run, whole={stopped["attempt"]})
    installation.wait_until(lambda: not slurm.unfinished())
