"""kill -9 of each part while a run trains. No acknowledged point is lost or doubled, and the run continues."""

import signal
from pathlib import Path

import pytest

from arcadia_backend.files.storage import INCOMING, PART
from arcadia_workers.worker.backend_client import PIECE_BYTES
from tests.installation import SAVING, Installation, Service
from tests.processes import has_ended


def stop(installation: Installation, run: int) -> None:
    """Stop a run, so that its last attempt is delivered completely."""
    installation.post(f"runs/{run}/stop")
    installation.wait_for_state(run, "stopped")


@pytest.mark.nightly
def test_a_run_continues_after_its_trainer_is_killed(installation: Installation) -> None:
    installation.worker("one")
    run = installation.launch(**SAVING)
    step = installation.wait_for_checkpoint(run)
    installation.trainer("one").kill()
    installation.wait_for_points(run, 2)
    assert installation.journals.resumed_from(run, 2) >= step
    assert "The trainer was killed by SIGKILL. Back in the queue, 1 of at most 5 times." in installation.log(run)
    stop(installation, run)
    installation.assert_points_kept(run, whole={1, 2})


@pytest.mark.nightly
def test_a_run_continues_after_its_worker_is_killed(installation: Installation) -> None:
    worker = installation.worker("one")
    run = installation.launch(**SAVING)
    step = installation.wait_for_checkpoint(run)
    trainer = installation.trainer("one")
    family = [trainer, *trainer.children(recursive=True)]
    worker.end(signal.SIGKILL)
    installation.wait_until(lambda: all(has_ended(process) for process in family))
    worker.start()
    installation.wait_for_points(run, 2)
    assert installation.journals.resumed_from(run, 2) >= step
    assert "The worker was killed while it trained this run. Back in the queue" in installation.log(run)
    stop(installation, run)
    installation.assert_points_kept(run, whole={1, 2})


@pytest.mark.nightly
def test_another_worker_continues_the_run_of_a_killed_worker(impatient_installation: Installation) -> None:
    installation = impatient_installation
    installation.worker("one")
    run = installation.launch(**SAVING)
    step = installation.wait_for_checkpoint(run)
    before = installation.run(run)["attempt"]
    installation.worker("two")
    installation.workers["one"].end(signal.SIGKILL)
    installation.wait_for_points(run, before + 1)
    assert installation.run(run)["worker"] == "two"
    assert installation.journals.resumed_from(run, before + 1) >= step
    assert "Worker one fell silent." in installation.log(run)
    stop(installation, run)
    installation.assert_points_kept(run, whole={before + 1})


@pytest.mark.nightly
def test_training_continues_after_the_backend_is_killed(installation: Installation) -> None:
    installation.worker("one")
    run = installation.launch()
    installation.wait_for_points(run, 1)
    trainer = installation.trainer("one")
    installation.backend.end(signal.SIGKILL)
    installation.backend.start()
    installation.wait_for_points(run, 1)
    assert trainer.is_running()
    assert installation.run(run)["attempt"] == 1
    stop(installation, run)
    installation.assert_points_kept(run, whole={1})


def assert_delivered_in_pieces(installation: Installation, run: int, job: Service) -> None:
    """Stop a run, and check that its only attempt has delivered everything, with its last checkpoint in pieces."""
    stop(installation, run)
    installation.wait_until(lambda: job.ended == 0)
    last = max(installation.read(f"runs/{run}/checkpoints"), key=lambda row: row["step"])
    assert (last["step"], last["bytes"] > PIECE_BYTES) == (installation.run(run)["step"], True)
    assert installation.journals.attempts(run) == [1]
    installation.assert_points_kept(run, whole={1})


def kill_backend_during_upload(installation: Installation) -> None:
    """Kill and restart the backend while it has a part of a file, and wait until that file is complete."""
    incoming = installation.directory / "data" / "files" / INCOMING
    left: list[Path] = []
    while not left:
        installation.wait_until(lambda: [*incoming.glob(f"{PART}*")], interval=0.002)
        installation.backend.end(signal.SIGKILL)
        left = [*incoming.glob(f"{PART}*")]
        installation.start()
    installation.wait_until(lambda: not any(part.exists() for part in left))


@pytest.mark.nightly
def test_uploads_continue_after_the_backend_is_killed(installation: Installation) -> None:
    # Its checkpoints are sent in several pieces.
    run = installation.launch(hidden_units=1_200, checkpoint_seconds=1)
    job = installation.job("one", run)
    for _ in range(2):
        kill_backend_during_upload(installation)
    assert_delivered_in_pieces(installation, run, job)


@pytest.mark.nightly
def test_training_continues_after_redis_loses_its_data(installation: Installation) -> None:
    installation.worker("one")
    run = installation.launch()
    waiting = installation.launch()
    installation.wait_for_points(run, 1)
    trainer = installation.trainer("one")
    installation.redis.kill()
    installation.wait_for_points(run, 1)
    installation.redis.start()
    installation.wait_for_points(run, 1)
    assert trainer.is_running()
    stop(installation, run)
    installation.wait_for_points(waiting, 1)
    stop(installation, waiting)
    late = installation.launch()
    installation.wait_for_points(late, 1, more=1)
    stop(installation, late)
    for number in (run, waiting, late):
        assert installation.run(number)["attempt"] == 1
        installation.assert_points_kept(number, whole={1})


def test_a_run_continues_after_all_parts_are_killed(installation: Installation) -> None:
    worker = installation.worker("one")
    run = installation.launch(**SAVING)
    step = installation.wait_for_checkpoint(run)
    trainer = installation.trainer("one")
    installation.redis.kill()
    installation.backend.end(signal.SIGKILL)
    worker.end(signal.SIGKILL)
    installation.wait_until(lambda: has_ended(trainer))
    installation.redis.start()
    installation.backend.start()
    worker.start()
    installation.wait_for_points(run, 2)
    assert installation.journals.resumed_from(run, 2) >= step
    stop(installation, run)
    installation.assert_points_kept(run, whole={1, 2})
