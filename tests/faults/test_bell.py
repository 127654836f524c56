"""Workers without a broker: they wait at the backend, over HTTP alone."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installation import CARTPOLE, Installation

SHORT = {**CARTPOLE, "total_steps": 3_000}
LONG = {**CARTPOLE, "total_steps": 10**9, "checkpoint_seconds": 1}


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """Yield an installation with one worker that has only the address of the backend and a token."""
    with Installation(tmp_path, lease_seconds=10) as installation:
        installation.worker("one", has_broker=False)
        yield installation


def test_a_worker_without_a_broker_trains_evaluates_and_stops(installation: Installation) -> None:
    run = installation.launch(SHORT)
    installation.wait_for_state(run, "finished")
    evaluation = installation.post(f"runs/{run}/evaluations", {"episodes": 2})["id"]
    installation.wait_until(lambda: installation.read(f"evaluations/{evaluation}")["state"] == "done")
    # A run that is queued while the worker waits again.
    installation.wait_for_state(installation.launch(SHORT), "finished")
    # The worker is stopped while it trains. It saves, and its run waits for another one.
    run = installation.launch(LONG)
    installation.wait_for_checkpoint(run)
    installation.workers["one"].end(signal.SIGTERM)
    assert installation.workers["one"].ended == 0
    assert installation.run(run)["state"] == "queued"
    assert installation.state_of_worker("one") == "gone"


@pytest.mark.nightly
def test_kills_lose_and_double_nothing(installation: Installation) -> None:
    run = installation.launch(LONG)
    installation.wait_for_checkpoint(run)
    installation.workers["one"].end(signal.SIGKILL)
    installation.worker("one", has_broker=False)
    installation.wait_for_points(run, 2)
    installation.backend.end(signal.SIGKILL)
    installation.start()
    installation.wait_for_points(run, 2)
    # An idle worker is found again by a new backend, and the doorbell rings there.
    installation.post(f"runs/{run}/stop")
    installation.wait_for_state(run, "stopped")
    installation.backend.end(signal.SIGKILL)
    installation.start()
    installation.wait_for_state(installation.launch(SHORT), "finished")
    installation.assert_points_kept(run, whole={1, 2})


@pytest.mark.nightly
def test_an_idle_worker_is_shown_until_it_is_killed(installation: Installation) -> None:
    seen = installation.read("workers")[0]["last_seen_at"]
    # The worker sends no heartbeats while it waits. The backend reports that it is there.
    installation.wait_until(lambda: installation.read("workers")[0]["last_seen_at"] > seen)
    assert installation.state_of_worker("one") == "idle"
    installation.workers["one"].end(signal.SIGKILL)
    installation.wait_until(lambda: installation.state_of_worker("one") == "gone")
