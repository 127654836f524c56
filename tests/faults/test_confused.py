"""Duplicate messages, workers that wake too late, and a backend that is down."""

import signal

import pytest
from celery import Celery

from tests.faults.test_killed import stop
from tests.installation import SAVING, Installation
from tests.processes import has_ended


def ring(installation: Installation, run: int, times: int) -> None:
    """Send doorbell messages as the backend does."""
    with Celery(broker=installation.redis.url, set_as_current=False) as bell:
        for _ in range(times):
            bell.send_task("workers.look", args=[run], queue="cpu", ignore_result=True)


@pytest.mark.nightly
def test_repeated_doorbell_messages_train_a_run_once(installation: Installation) -> None:
    installation.worker("one")
    installation.worker("two")
    run = installation.launch()
    ring(installation, run, times=10)
    installation.wait_for_points(run, 1)
    ring(installation, run, times=10)
    installation.wait_for_points(run, 1)
    stop(installation, run)
    ring(installation, run, times=10)
    after = installation.launch()
    installation.wait_for_points(after, 1, more=1)
    stop(installation, after)
    for number in (run, after):
        assert installation.run(number)["attempt"] == 1
        assert installation.journals.attempts(number) == [1]
        installation.assert_points_kept(number, whole={1})


@pytest.mark.nightly
def test_a_worker_that_wakes_after_its_lease_ends_its_training(
    impatient_installation: Installation,
) -> None:
    installation = impatient_installation
    sleeper = installation.worker("sleeper")
    run = installation.launch(**SAVING)
    installation.wait_for_checkpoint(run)
    slept, taken_over = (installation.run(run)["attempt"] + more for more in (0, 1))
    trainer = installation.trainer("sleeper")
    sleeper.send(signal.SIGSTOP)
    installation.worker("heir")
    installation.wait_for_points(run, taken_over)
    assert trainer.is_running()
    assert installation.run(run)["worker"] == "heir"
    before = len(installation.points(run, slept))
    sleeper.send(signal.SIGCONT)
    installation.wait_until(lambda: has_ended(trainer))
    installation.wait_until(lambda: installation.state_of_worker("sleeper") == "idle")
    installation.wait_for_points(run, taken_over)
    assert len(installation.points(run, slept)) == before
    assert installation.run(run)["attempt"] == taken_over
    stop(installation, run)
    installation.assert_points_kept(run, whole={taken_over})


@pytest.mark.nightly
def test_training_continues_while_the_backend_is_down(installation: Installation) -> None:
    installation.worker("one")
    run = installation.launch()
    installation.wait_for_points(run, 1)
    installation.backend.end(signal.SIGTERM)
    written = len(installation.journals.events(run, 1))
    installation.wait_until(lambda: len(installation.journals.events(run, 1)) > written + 10)
    installation.backend.start()
    installation.wait_for_points(run, 1)
    assert installation.run(run)["attempt"] == 1
    stop(installation, run)
    installation.assert_points_kept(run, whole={1})


@pytest.mark.nightly
def test_a_stopping_worker_hands_its_run_to_another(installation: Installation) -> None:
    leaving = installation.worker("leaving")
    run = installation.launch()
    installation.wait_for_points(run, 1)
    installation.worker("staying")
    leaving.end(signal.SIGTERM)
    installation.wait_for_points(run, 2)
    assert installation.run(run)["worker"] == "staying"
    last = installation.journals.events(run, 1)[-1]
    assert last["kind"] == "stopped"
    assert installation.journals.resumed_from(run, 2) == last["step"]
    assert not any(point["superseded"] for point in installation.points(run))
    stop(installation, run)
    installation.assert_points_kept(run, whole={1, 2})
