"""A worker whose network cable is cut for longer than its lease."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.cable import Cable
from tests.faults.test_killed import assert_delivered_in_pieces, stop
from tests.installation import SAVING, Installation

pytestmark = pytest.mark.nightly


@pytest.fixture
def cable() -> Iterator[Cable]:
    """Yield a cable to another host."""
    cable = Cable()
    cable.plug()
    yield cable
    cable.remove()


@pytest.fixture
def reachable_installation(cable: Cable, tmp_path: Path) -> Iterator[Installation]:
    """Yield an installation whose backend listens at this end of the cable."""
    with Installation(tmp_path, host=cable.here, token="secret-of-users", lease_seconds=8) as installation:
        yield installation


def test_a_worker_that_was_cut_off_continues_its_run(cable: Cable, reachable_installation: Installation) -> None:
    installation = reachable_installation
    run = installation.launch(**SAVING)
    installation.worker("far", prefix=cable.prefix)
    installation.wait_for_points(run, 1)
    trainer = installation.trainer("far")
    cable.cut()
    installation.wait_for_state(run, "queued")
    cut_off = len(installation.journals.events(run, 1))
    installation.wait_until(lambda: len(installation.journals.events(run, 1)) > cut_off + 20)
    assert trainer.is_running(), "training continues without the backend"
    written = len(installation.journals.events(run, 1))
    cable.mend()
    installation.wait_until(lambda: installation.journals.acknowledged[run, 1] > written)
    assert trainer.is_running()
    assert "Worker far is back and continues attempt 1." in installation.log(run)
    stop(installation, run)
    assert installation.journals.attempts(run) == [1]
    installation.assert_points_kept(run, whole={1})


def test_a_job_that_is_cut_off_again_and_again_delivers_everything_once(
    cable: Cable, reachable_installation: Installation
) -> None:
    installation = reachable_installation
    # Its checkpoints are sent in several pieces.
    run = installation.launch(hidden_units=1_200, checkpoint_seconds=1)
    job = installation.job("far", run, prefix=cable.prefix)
    for _ in range(3):
        installation.wait_for_points(run, 1)
        cable.cut()
        installation.wait_for_state(run, "queued")
        cable.mend()
        installation.wait_for_state(run, "running")
    before = installation.wait_for_checkpoint(run)
    installation.wait_until(lambda: installation.wait_for_checkpoint(run) > before)
    assert_delivered_in_pieces(installation, run, job)


def test_a_later_claim_wins_over_a_job_that_was_cut_off(cable: Cable, reachable_installation: Installation) -> None:
    installation = reachable_installation
    run = installation.launch(**SAVING)
    older = installation.job("far", run, prefix=cable.prefix)
    installation.wait_for_checkpoint(run, 1)
    cable.cut()
    installation.wait_for_state(run, "queued")
    later = installation.job("near", run, attempt=2)
    installation.wait_for_points(run, 2)
    cable.mend()
    installation.wait_until(lambda: older.ended is not None)
    installation.wait_for_points(run, 2)
    assert installation.run(run)["attempt"] == 2
    stop(installation, run)
    installation.wait_until(lambda: later.ended == 0)
    installation.assert_points_kept(run, whole={2})
