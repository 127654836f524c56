"""The reaper and the reconciler."""

import threading
from datetime import timedelta

from backend.columns import utc_now
from backend.config import Settings
from backend.db import Database
from backend.models import Run
from backend.workers.doorbell import Doorbell
from backend.workers.sweeper import Sweeper
from tests.factories import Api


class RecordingDoorbell(Doorbell):
    """Writes down the rings instead of sending them."""

    def __init__(self) -> None:
        super().__init__("")
        self.rings: list[tuple[str, int]] = []

    def ring(self, queue_name: str, run_id: int) -> None:
        """Write it down."""
        self.rings.append((queue_name, run_id))


def sweeper(database: Database, settings: Settings) -> tuple[Sweeper, RecordingDoorbell]:
    doorbell = RecordingDoorbell()
    return Sweeper(database, settings, doorbell), doorbell


def expire(database: Database, run_id: int) -> None:
    with database.write() as session:
        session.get_one(Run, run_id).lease_expires_at = utc_now() - timedelta(seconds=1)


def test_a_silent_workers_run_goes_back_to_the_queue(api: Api, database: Database, settings: Settings) -> None:
    api.beat("w1")
    run_id, attempt = api.running()
    reaper, doorbell = sweeper(database, settings)
    reaper.reap(utc_now())
    assert api.run(run_id)["state"] == "running", "its lease is good"
    expire(database, run_id)
    reaper.reap(utc_now())
    run = api.run(run_id)
    assert (run["state"], run["worker"], run["attempt"]) == ("queued", None, 1)
    assert run["state_reason"].startswith("Worker w1 fell silent. Back in the queue, 1 of at most 5 times.")
    log = api.user.get(f"/api/v1/runs/{run_id}/log").json()["items"]
    assert log[-1]["message"] == "Worker w1 fell silent. Back in the queue, 1 of at most 5 times."
    assert doorbell.rings == [("cpu", run_id)]
    assert api.beat("w1", run={"id": run_id, "attempt": attempt}).status_code == 409


def test_what_the_user_wanted_holds_when_the_worker_falls_silent(
    api: Api, database: Database, settings: Settings
) -> None:
    for action, state in (("stop", "stopped"), ("pause", "paused")):
        run_id, _ = api.running()
        api.act(run_id, action)
        expire(database, run_id)
        sweeper(database, settings)[0].reap(utc_now())
        assert api.run(run_id)["state"] == state


def test_two_reapers_count_a_loss_once(api: Api, database: Database, settings: Settings) -> None:
    run_id, _ = api.running()
    expire(database, run_id)
    both = threading.Barrier(2)

    def reap() -> None:
        both.wait()
        sweeper(database, settings)[0].reap(utc_now())

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


def test_it_rings_for_the_next_waiting_run_while_a_worker_is_idle(
    api: Api, database: Database, settings: Settings
) -> None:
    first, urgent, gpu = api.launch()["id"], api.launch(priority=2)["id"], api.launch(queue="gpu")["id"]
    reconciler, doorbell = sweeper(database, settings)
    reconciler.sweep()
    assert doorbell.rings == [], "nobody would hear it"
    api.beat("w1")
    reconciler.sweep()
    assert doorbell.rings == [("cpu", urgent)]
    api.beat("g1", queue="gpu")
    doorbell.rings.clear()
    reconciler.sweep()
    assert sorted(doorbell.rings) == [("cpu", urgent), ("gpu", gpu)]
    api.beat("w1", run={"id": urgent, "attempt": api.claim("w1")["attempt"]})
    doorbell.rings.clear()
    reconciler.sweep()
    assert doorbell.rings == [("gpu", gpu)], "the only CPU worker is busy"
    assert api.run(first)["state"] == "queued"
