"""kill -9 of each part before, during and after a change of a run. The change is applied and reported exactly once."""

import signal
from collections.abc import Callable

import pytest

from tests.installation import SAVING, Installation

Moment = Callable[[Installation, int], object]


def requested(_installation: Installation, _run: int) -> bool:
    """Return True, because the backend has already stored the request."""
    return True


def handed_over(installation: Installation, run: int) -> bool:
    """Return True if the worker has written the request into the attempt's directory, or it is already applied."""
    files = (installation.directory / "workers").glob(f"*/runs/{run}/attempt-*/changes.json")
    return any(files) or applied(installation, run)


def applied(installation: Installation, run: int) -> bool:
    """Return True if a trainer has written its report. The backend may not have received it yet."""
    return reports(installation, run) > 0


def reports(installation: Installation, run: int) -> int:
    """Return the number of reports of change 1 by the trainers of all attempts."""
    journals = installation.journals
    events = [event for attempt in journals.attempts(run) for event in journals.events(run, attempt)]
    return sum(event["kind"] == "changed" and event["number"] == 1 for event in events)


def kill(installation: Installation, part: str) -> None:
    """Kill a part, and restart it if nothing else does."""
    if part == "trainer":
        installation.trainer("one").kill()
        return
    service = installation.workers["one"] if part == "worker" else installation.backend
    service.end(signal.SIGKILL)
    service.start()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("part", "moment"),
    [
        ("trainer", requested),
        ("trainer", handed_over),
        ("trainer", applied),
        ("worker", requested),
        ("worker", handed_over),
        ("worker", applied),
        ("backend", requested),
        ("backend", handed_over),
        ("backend", applied),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_change_is_applied_and_reported_once(installation: Installation, part: str, moment: Moment) -> None:
    installation.worker("one")
    run = installation.launch(**SAVING)
    step = installation.wait_for_checkpoint(run)
    change = installation.post(f"runs/{run}/changes", {"fields": {"learning_rate": 0.003}})
    assert change["number"] == 1
    installation.wait_until(lambda: moment(installation, run), interval=0.01)
    kill(installation, part)
    installation.wait_until(lambda: installation.read(f"runs/{run}/changes")["items"][0]["applied_at"])
    # The next attempt of a killed trainer uses the changed value, and a later change gets the next number.
    installation.wait_for_points(run, attempt=1 if part == "backend" else 2, more=5)
    assert installation.post(f"runs/{run}/changes", {"more_steps": 100})["number"] == 2
    installation.wait_until(lambda: installation.run(run)["total_steps"] == 10**9 + 100)
    installation.post(f"runs/{run}/stop")
    installation.wait_for_state(run, "stopped")

    installation.journals.follow()
    assert reports(installation, run) == 1
    (first, second) = installation.read(f"runs/{run}/changes")["items"]
    assert first["applied_step"] >= step
    assert second["previous"] == {"total_steps": 10**9}
    assert installation.run(run)["config"]["learning_rate"] == 0.003
    assert installation.log(run).count("Change 1 applied") == 1


@pytest.mark.nightly
def test_a_finished_run_trains_longer(installation: Installation) -> None:
    installation.worker("one")
    run = installation.launch(total_steps=2_000)
    installation.wait_for_state(run, "finished")
    installation.post(f"runs/{run}/changes", {"more_steps": 2_000})
    installation.wait_until(lambda: installation.run(run)["total_steps"] == 4_000)
    found = installation.wait_for_state(run, "finished")
    assert (found["step"] >= 4_000, found["attempt"]) == (True, 2)
    installation.assert_points_kept(run, whole={1, 2})
