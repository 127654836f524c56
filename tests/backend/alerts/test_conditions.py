"""Conditions that last. Each raises one alert, and can end."""

import os
import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from arcadia_backend.alerts.service import ConditionChecker
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, switch_to
from arcadia_backend.database.tables import Run
from tests.backend.alerts.conftest import Alerts
from tests.backend.archives.conftest import Archives
from tests.factories import Api, event, metrics

Check = Callable[..., None]


def test_a_run_without_new_points_stalls_once(api: Api, alerts: Alerts, check: Check) -> None:
    run_id, attempt = api.running(name="Cart")
    api.send(run_id, attempt, metrics(2, 100))
    check()
    check(minutes=9)
    assert alerts.listed() == []
    check(minutes=2)
    check(minutes=20)
    (alert,) = alerts.listed()
    assert (alert["kind"], alert["title"], alert["run_id"]) == ("run_stalled", "Cart stalled", run_id)
    assert alert["text"] == f"Run {run_id} is at step 100. No new point has arrived for 10 minutes."
    assert alert["ended_at"] is None
    api.send(run_id, attempt, metrics(3, 200))
    check()
    assert alerts.listed()[0]["ended_at"] is not None
    check(minutes=11)
    assert alerts.kinds() == ["run_stalled", "run_stalled"]


def test_a_run_whose_points_arrive_does_not_stall(api: Api, alerts: Alerts, check: Check) -> None:
    run_id, attempt = api.running()
    for seq in range(2, 8):
        api.send(run_id, attempt, metrics(seq, 100 * seq))
        check(minutes=8)
    assert alerts.listed() == []


def test_a_restarted_backend_does_not_repeat_an_alert(api: Api, alerts: Alerts, check: Check) -> None:
    api.running()
    check()
    check(minutes=11)
    restarted = ConditionChecker(alerts.database, alerts.settings, lambda: alerts.seconds)
    restarted.check()
    alerts.seconds += 3_600
    restarted.check()
    (alert,) = alerts.listed()
    assert alert["ended_at"] is None


def test_a_changed_threshold_takes_effect(api: Api, alerts: Alerts, check: Check) -> None:
    alerts.patch("/alert-rules/run_stalled", threshold=2)
    api.running()
    check()
    check(minutes=3)
    assert alerts.kinds() == ["run_stalled"]
    alerts.patch("/alert-rules/run_stalled", enabled=False)
    check()
    assert alerts.listed()[0]["ended_at"] is not None


def test_a_queue_without_a_worker_raises_one_alert_until_one_connects(api: Api, alerts: Alerts, check: Check) -> None:
    api.launch()
    api.launch()
    check()
    assert alerts.listed() == [], "a worker may connect soon"
    check(minutes=1.1)
    check(minutes=60)
    (alert,) = alerts.listed()
    assert (alert["kind"], alert["title"], alert["level"]) == ("no_worker", "No worker for the queue cpu", "warning")
    api.beat("w1")
    check()
    assert alerts.listed()[0]["ended_at"] is not None


def test_a_queue_with_a_busy_worker_raises_no_alert(api: Api, alerts: Alerts, check: Check) -> None:
    api.launch()
    api.beat("w1")
    check()
    check(minutes=5)
    assert alerts.listed() == []


def test_a_disk_that_is_almost_full_raises_one_alert(
    alerts: Alerts, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    def set_free(gigabytes: float) -> None:
        blocks = int(gigabytes * 1_000)
        disk = SimpleNamespace(f_bfree=blocks, f_bavail=blocks, f_frsize=1_000_000)
        monkeypatch.setattr(os, "statvfs", lambda _folder: disk)

    set_free(5)
    check()
    assert alerts.listed() == []
    for free in (0.9, 1.1, 0.5):
        set_free(free)
        check()
    (alert,) = alerts.listed()
    assert (alert["kind"], alert["level"], alert["ended_at"]) == ("disk_almost_full", "error", None)
    assert "0.9 GB left" in alert["text"]
    set_free(5)
    check()
    assert alerts.listed()[0]["ended_at"] is not None
    set_free(0.5)
    check()
    assert len(alerts.listed()) == 2


def test_a_run_that_exceeds_a_score_raises_one_alert(api: Api, alerts: Alerts, check: Check) -> None:
    rule = alerts.post("/score-rules", score=20, env="CartPole-v1")
    alerts.post("/score-rules", score=20, env="ALE/Pong-v5")
    run_id, attempt = api.running(name="Cart")
    api.send(run_id, attempt, metrics(2, 100, returns=[19]))
    check()
    assert alerts.listed() == []
    api.send(run_id, attempt, metrics(3, 200, returns=[23]))
    check()
    api.send(run_id, attempt, metrics(4, 300, returns=[99]), event(5, "finished", 300))
    api.release(run_id, attempt, "finished")
    check()
    finished, passed = alerts.listed()
    assert (finished["kind"], passed["kind"], passed["run_id"]) == ("run_finished", "score_passed", run_id)
    assert passed["title"] == "Cart passed 20"
    assert passed["text"] == f"Run {run_id} has a mean return of 21 over 100 episodes."
    assert len(alerts.get("/score-rules")) == 2
    assert api.user.delete(f"/api/v1/score-rules/{rule['id']}").status_code == 204
    assert len(alerts.get("/score-rules")) == 1


@pytest.mark.parametrize("value", ["NaN", "Infinity"])
def test_a_score_that_is_not_finite_raises_no_alert(api: Api, alerts: Alerts, check: Check, value: str) -> None:
    alerts.post("/score-rules", score=20)
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 100, returns=[value]))
    check()
    assert alerts.listed() == []


def test_a_run_that_ended_before_the_rule_raises_no_alert(api: Api, alerts: Alerts, check: Check) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 100, returns=[30]), event(3, "finished", 100))
    api.release(run_id, attempt, "finished")
    alerts.post("/score-rules", score=20)
    check()
    assert alerts.kinds() == ["run_finished"]


def test_an_imported_archive_raises_no_alert(api: Api, alerts: Alerts, check: Check) -> None:
    archives = Archives(api.user)
    alerts.post("/score-rules", score=20)
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 100, returns=[30]), event(3, "finished", 100))
    api.release(run_id, attempt, "finished")
    archive = archives.export(run_id)
    before = alerts.kinds()
    api.user.delete(f"/api/v1/runs/{run_id}")
    assert len(archives.load(archive)["runs"]) == 1
    check()
    check(minutes=60)
    assert alerts.kinds() == before


def test_two_backends_raise_one_alert(api: Api, alerts: Alerts, database: Database) -> None:
    alerts.post("/score-rules", score=20)
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 100, returns=[30]))
    both = threading.Barrier(2)

    def check() -> None:
        both.wait()
        switch_to(BACKEND)
        ConditionChecker(database, alerts.settings).check()

    threads = [threading.Thread(target=check) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as session:
        assert session.get_one(Run, run_id).best_return == 30
    assert alerts.kinds() == ["score_passed"]
