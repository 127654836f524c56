"""The sweeper, which ends silent attempts and rings for queued work."""

import math
import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Run, Worker
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.worker_api import sweeper as sweeping
from arcadia_backend.worker_api.runs import RUNS
from arcadia_backend.worker_api.sweeper import Sweeper
from arcadia_workers.contract.worker_api import LOOK_TASK
from tests.factories import Api, started
from tests.workers.waiting import wait_until


class RecordingDoorbell(Doorbell):
    """A doorbell that records its rings instead of sending them."""

    def __init__(self) -> None:
        super().__init__("")
        self.rings: list[tuple[str, int]] = []

    def ring(self, queue_name: str, number: int, task: str = LOOK_TASK) -> None:
        """Record a ring."""
        self.rings.append((queue_name if task == LOOK_TASK else f"{queue_name}: {task}", number))


class Clock:
    """A clock that tests advance."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self.seconds


def sweeper(database: Database, settings: Settings, clock: Clock | None = None) -> tuple[Sweeper, RecordingDoorbell]:
    doorbell = RecordingDoorbell()
    return Sweeper(database, settings, doorbell, clock or Clock()), doorbell


def wait(reaper: Sweeper, clock: Clock, seconds: float) -> None:
    """Let time pass. Look for silent attempts after each quarter of it."""
    for _ in range(4):
        clock.seconds += seconds / 4
        reaper.end_silent_attempts(utc_now())


def expire(database: Database, run_id: int, hours: float = 0.001) -> None:
    """Set the lease of a run to a time in the past."""
    with database.write() as session:
        session.get_one(Run, run_id).lease_expires_at = utc_now() - timedelta(hours=hours)


def test_the_run_of_a_silent_worker_is_requeued(api: Api, database: Database, settings: Settings) -> None:
    api.beat("w1")
    run_id, _ = api.running()
    clock = Clock()
    reaper, doorbell = sweeper(database, settings, clock)
    wait(reaper, clock, 20)
    assert api.run(run_id)["state"] == "running", "its lease is valid"
    expire(database, run_id)
    wait(reaper, clock, 20)
    run = api.run(run_id)
    assert (run["state"], run["worker"], run["attempt"]) == ("queued", None, 1)
    assert run["state_reason"].startswith("Worker w1 fell silent. Back in the queue, 1 of at most 5 times.")
    log = api.user.get(f"/api/v1/runs/{run_id}/log").json()["items"]
    assert log[-1]["message"] == "Worker w1 fell silent. Back in the queue, 1 of at most 5 times."
    assert doorbell.rings == [("cpu", run_id)]


def test_a_claim_with_a_lost_response_is_requeued_after_a_quarter_of_a_lease(
    api: Api, database: Database, settings: Settings
) -> None:
    lost, heard = api.launch()["id"], api.launch()["id"]
    assert api.claim("w1")["run_id"] == lost
    api.beat("w1", run={"id": heard, "attempt": api.claim("w1")["attempt"]})
    clock = Clock()
    reaper, _ = sweeper(database, settings, clock)
    for seconds in (0, 5, 10, 16):
        clock.seconds = seconds
        reaper.end_silent_attempts(utc_now() + timedelta(seconds=seconds))
    assert [api.run(run_id)["state"] for run_id in (lost, heard)] == ["queued", "starting"]


def test_the_users_request_is_respected_when_the_worker_falls_silent(
    api: Api, database: Database, settings: Settings
) -> None:
    for action, state in (("stop", "stopped"), ("pause", "paused")):
        run_id, _ = api.running()
        api.act(run_id, action)
        expire(database, run_id)
        clock = Clock()
        wait(sweeper(database, settings, clock)[0], clock, 24)
        assert api.run(run_id)["state"] == state


def test_two_sweepers_count_a_loss_once(api: Api, database: Database, settings: Settings) -> None:
    run_id, _ = api.running()
    expire(database, run_id)
    both = threading.Barrier(2)

    def reap() -> None:
        clock = Clock()
        reaper, _ = sweeper(database, settings, clock)
        both.wait()
        with acting_as(BACKEND):
            wait(reaper, clock, 24)

    threads = [threading.Thread(target=reap) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as session:
        assert session.get_one(Run, run_id).requeues == 1


def test_a_backend_that_just_started_gives_workers_time_to_report(
    api: Api, database: Database, settings: Settings
) -> None:
    run_id, _ = api.running()
    expire(database, run_id)
    sweeper(database, settings)[0].sweep()
    assert api.run(run_id)["state"] == "running"


def test_a_host_suspended_for_hours_loses_no_run(api: Api, database: Database, settings: Settings) -> None:
    run_id, attempt = api.running()
    clock = Clock()
    reaper, _ = sweeper(database, settings, clock)
    wait(reaper, clock, 40)
    expire(database, run_id, hours=8)
    # The sweeper wakes first. Its clock stood still during the suspension, and the worker reports later.
    wait(reaper, clock, 12)
    assert api.beat("w1", run={"id": run_id, "attempt": attempt}).status_code == 200
    wait(reaper, clock, 40)
    run = api.run(run_id)
    assert (run["state"], run["attempt"]) == ("running", attempt)


def test_a_delayed_sweeper_gives_workers_time_to_report(api: Api, database: Database, settings: Settings) -> None:
    run_id, attempt = api.running()
    clock = Clock()
    reaper, _ = sweeper(database, settings, clock)
    expire(database, run_id)
    wait(reaper, clock, 12)
    clock.seconds += 500
    wait(reaper, clock, 12)
    assert api.run(run_id)["state"] == "running"
    wait(reaper, clock, 12)
    assert (api.run(run_id)["state"], attempt) == ("queued", 1)


def test_a_clock_set_back_neither_keeps_a_dead_workers_run_nor_ends_a_live_ones(
    api: Api, database: Database, settings: Settings
) -> None:
    live, attempt = api.running()
    dead, _ = api.running()
    for run_id in (live, dead):
        expire(database, run_id, hours=-5)
    clock = Clock()
    reaper, _ = sweeper(database, settings, clock)
    for _ in range(3):
        wait(reaper, clock, 24)
        api.beat("w1", run={"id": live, "attempt": attempt})
    assert (api.run(live)["state"], api.run(dead)["state"]) == ("running", "queued")


def test_losses_no_longer_count_after_progress(api: Api, database: Database) -> None:
    run_id, first = api.running()
    api.save(run_id, first, 2, 100)
    api.release(run_id, first, "lost")
    second = api.claim()["attempt"]
    api.send(run_id, second, started(resumed_from=100))
    assert _requeues(database, run_id) == 1
    api.save(run_id, second, 2, 100)
    assert _requeues(database, run_id) == 1, "no further than before"
    api.save(run_id, second, 3, 150)
    assert _requeues(database, run_id) == 0


def _requeues(database: Database, run_id: int) -> int:
    with database.read() as session:
        return session.get_one(Run, run_id).requeues


def test_it_rings_for_the_next_queued_run_while_a_worker_is_idle(
    api: Api, database: Database, settings: Settings
) -> None:
    first, urgent, gpu = api.launch()["id"], api.launch(priority=2)["id"], api.launch(queue="gpu")["id"]
    reconciler, doorbell = sweeper(database, settings)
    reconciler.sweep()
    assert doorbell.rings == [], "no worker would receive it"
    api.beat("w1")
    reconciler.sweep()
    assert doorbell.rings == [("worker.w1", urgent)]
    api.beat("g1", queue="gpu")
    doorbell.rings.clear()
    reconciler.sweep()
    assert sorted(doorbell.rings) == [("worker.g1", gpu), ("worker.w1", urgent)]
    api.beat("w1", run={"id": urgent, "attempt": api.claim("w1")["attempt"]})
    doorbell.rings.clear()
    reconciler.sweep()
    assert doorbell.rings == [("worker.g1", gpu)], "the only CPU worker is busy"
    assert api.run(first)["state"] == "queued"


def test_the_thread_survives_errors_and_does_the_other_tasks(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings.model_copy(update={"sweep_seconds": 0.01})
    rounds: list[int] = []

    def broken(_: object) -> None:
        rounds.append(1)
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr("arcadia_backend.worker_api.sweeper.remove_waiting", broken)
    reaper, _ = sweeper(database, settings)
    monkeypatch.setattr(reaper, "end_silent_attempts", broken)
    given_back: list[object] = []
    monkeypatch.setattr("arcadia_backend.worker_api.sweeper.release_free_space", given_back.append)
    reaper.start()
    try:
        wait_until(lambda: len(rounds) >= 4 and len(given_back) >= 2)
    finally:
        reaper.stop()


def test_a_run_that_cannot_be_requeued_does_not_block_others(
    api: Api, database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, _ = api.running()
    other, _ = api.running()
    for run_id in (stuck, other):
        expire(database, run_id)

    def broken(session: Session, settings: Settings, run: Run) -> None:
        if run.id == stuck:
            raise RuntimeError("this row is odd")
        RUNS.lose(session, settings, run)

    runs, *others = sweeping._KINDS
    monkeypatch.setattr(sweeping, "_KINDS", (replace(runs, lose=broken), *others))
    clock = Clock()
    reaper, _ = sweeper(database, settings, clock)
    wait(reaper, clock, 40)
    assert (api.run(stuck)["state"], api.run(other)["state"]) == ("running", "queued")


def test_workers_that_are_no_longer_listed_are_deleted(api: Api, database: Database, settings: Settings) -> None:
    for name in ("here", "long-gone"):
        api.beat(name)
    with database.write() as session:
        session.get_one(Worker, "long-gone").last_seen_at = utc_now() - timedelta(days=8)
    sweeper(database, settings)[0].sweep()
    with database.read() as session:
        assert session.scalars(select(Worker.name)).all() == ["here"]


def test_the_sweeper_rests_while_nothing_can_become_due(api: Api, database: Database, settings: Settings) -> None:
    reaper, doorbell = sweeper(database, settings)
    assert reaper.sweep() == math.inf
    api.beat("w1")
    assert reaper.sweep() == math.inf, "a worker without a run, and no page that shows it"
    run_id = api.launch()["id"]
    assert reaper.sweep() == settings.sweep_seconds
    assert [number for _, number in doorbell.rings] == [run_id], "the first ring may be lost"
    attempt = api.claim()["attempt"]
    assert reaper.sweep() == settings.sweep_seconds, "its lease may end"
    api.release(run_id, attempt, "finished")
    assert reaper.sweep() == math.inf


def test_open_pages_learn_soon_that_a_worker_is_gone(
    api: Api, database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.beat("w1")
    reaper, _ = sweeper(database, settings)
    monkeypatch.setattr(sweeping, "has_pages", lambda: True)
    assert reaper.sweep() == settings.sweep_seconds
