"""kill -9 of each kind of Ray process while a Gorila run trains. The run continues and finishes."""

from typing import Any

import psutil
import pytest

from tests.installation import CATCH_BY_GORILA, SAVING, Installation
from tests.processes import command_line

pytestmark = pytest.mark.nightly

# Words of command lines. Without the first four, Ray ends; without the others, it continues.
ENDS = ("gcs/gcs_server", "raylet/raylet", "ray::DashboardAgent", "ray::RuntimeEnvAgent")
CONTINUES = ("ray::BundleRole", "ray::ShardRole", "log_monitor.py", "dashboard.py", "monitor.py", "ray_watch.py")
END = 4_000
# Every test waits for Ray, which starts a dozen processes. With a low priority, that takes minutes on a busy machine.
NICENESS = 0


def kill(installation: Installation, words: str) -> None:
    """Kill a process of the trainer's Ray."""
    found: list[psutil.Process] = []

    def look() -> bool:
        below = installation.trainer("one").children(recursive=True)
        found[:] = [process for process in below if words in command_line(process)]
        return bool(found)

    installation.wait_until(look)
    found[0].kill()


def run_to_the_end(installation: Installation, run: int) -> dict[str, Any]:
    """Let an endless run end, and return it."""

    def is_accepted() -> bool:
        fields = {"total_steps": installation.run(run)["step"] + END}
        return installation.http.post(f"runs/{run}/changes", json={"fields": fields}).is_success

    installation.wait_until(is_accepted)
    installation.wait_until(lambda: installation.run(run)["state"] in ("finished", "failed"))
    return installation.run(run)


@pytest.mark.parametrize("words", ENDS)
def test_a_run_is_queued_again_and_finishes_after_its_ray_is_killed(installation: Installation, words: str) -> None:
    installation.worker("one", niceness=NICENESS)
    run = installation.launch(CATCH_BY_GORILA, **SAVING)
    step = installation.wait_for_checkpoint(run)
    kill(installation, words)
    installation.wait_for_points(run, 2)
    assert installation.journals.resumed_from(run, 2) >= step
    assert "Ray's " in installation.log(run)
    assert "Back in the queue, 1 of at most 5 times." in installation.log(run)
    finished = run_to_the_end(installation, run)
    assert (finished["state"], finished["attempt"]) == ("finished", 2), finished["failure"]
    # The next attempt begins at the last reported step, so that each step is counted once.
    assert installation.journals.resumed_from(run, 2) == installation.journals.events(run, 1)[-1]["step"]
    assert not any(point["superseded"] for point in installation.points(run))
    installation.assert_points_kept(run, whole={1, 2})


def test_a_run_continues_after_other_processes_of_ray_are_killed(installation: Installation) -> None:
    installation.worker("one", niceness=NICENESS)
    run = installation.launch(CATCH_BY_GORILA, **SAVING)
    installation.wait_for_checkpoint(run)
    for words in CONTINUES:
        kill(installation, words)
        installation.wait_for_points(run, 1)
    finished = run_to_the_end(installation, run)
    assert (finished["state"], finished["attempt"]) == ("finished", 1), finished["failure"]
    installation.assert_points_kept(run, whole={1})
