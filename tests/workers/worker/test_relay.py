"""Tests for delivering events and files when the backend is down, fails, loses data or is hidden by a proxy."""

from typing import Any

import pytest

from arcadia_workers.worker.spool import UPLOAD_ATTEMPTS
from tests.workers.conftest import Slot, claim
from tests.workers.waiting import wait_until
from tests.workers.worker_api import Answer, WorkerApi, problem


def test_training_continues_while_the_backend_is_down_and_nothing_is_lost(api: WorkerApi, slot: Slot) -> None:
    api.claims.append(claim(points=300, checkpoint_every=50, waits_at=100))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    api.away = True
    slot.let_trainer_continue(7)
    events = slot.attempt(7) / "events.jsonl"
    wait_until(lambda: '"finished"' in events.read_text())
    assert len(api.points(7, 1)) < 300
    api.away = False
    slot.done()
    assert api.points(7, 1) == list(range(1, 300 + 6 + 2 + 1))
    assert api.releases[0]["outcome"] == "finished"


def test_a_checkpoint_replaced_while_the_backend_was_down_is_logged(api: WorkerApi, slot: Slot) -> None:
    api.claims.append(claim(points=100, checkpoint_every=40, waits_at=20))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    api.away = True
    slot.let_trainer_continue(7)
    wait_until(lambda: '"finished"' in (slot.attempt(7) / "events.jsonl").read_text())
    (slot.attempt(7) / "checkpoints" / "step-000000000040.safetensors").unlink()
    api.away = False
    slot.done()
    kinds = {event["kind"]: event for event in api.events[7, 1].values()}
    assert kinds["checkpoint"]["checkpoint"]["step"] == 80
    assert "step-000000000040.safetensors was replaced by newer files" in kinds["log"]["message"]
    assert kinds["log"]["level"] == "info"
    assert api.releases[0]["outcome"] == "finished"


def test_events_lost_by_the_backend_are_sent_again(api: WorkerApi, slot: Slot) -> None:
    api.claims.append(claim(points=10**6, interval=0.01))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 30)
    with api.lock:
        for seq in range(10, len(api.events[7, 1]) + 1):
            del api.events[7, 1][seq]
    wait_until(lambda: len(api.points(7, 1)) > 60)
    slot.supervisor.drain()
    slot.done()
    assert api.points(7, 1) == list(range(1, len(api.points(7, 1)) + 1))
    assert api.releases[0]["outcome"] == "drained"


def test_events_that_the_backend_fails_on_are_skipped_with_a_log_line_and_stop_still_works(
    api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcadia_workers.worker.answers.FIRST_SECONDS", 0.01)
    monkeypatch.setattr("arcadia_workers.worker.answers.MAX_SECONDS", 0.01)
    api.fails_on = {17, 18, 400}
    api.claims.append(claim(points=10**6, interval=0.001))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 18)
    api.desired = "stop"
    slot.done()
    assert [release["outcome"] for release in api.releases] == ["stopped"]
    events = api.events[7, 1]
    assert list(events) == list(range(1, len(events) + 1))
    left_out = {seq for seq, event in events.items() if event["kind"] == "log"}
    assert {17, 18} <= left_out <= api.fails_on
    assert "Event 17 (metrics) was skipped: the backend failed on it" in events[17]["message"]
    assert events[17]["level"] == "warning"


def test_no_event_is_skipped_while_the_backend_fails_on_everything(
    api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcadia_workers.worker.answers.FIRST_SECONDS", 0.01)
    monkeypatch.setattr("arcadia_workers.worker.answers.MAX_SECONDS", 0.01)
    asked: list[str] = []

    def broken(_method: str, url: str, _body: bytes) -> Answer:
        asked.append(url.rpartition("/")[2])
        return problem(500, "internal")

    api.claims.append(claim(points=10**6, interval=0.001))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 10)
    with monkeypatch.context() as patch:
        patch.setattr(api, "answer", broken)
        wait_until(lambda: asked.count("events") > 50)
    received = len(api.points(7, 1))
    wait_until(lambda: len(api.points(7, 1)) > received + 100)
    api.desired = "stop"
    slot.done()
    assert not [event for event in api.events[7, 1].values() if event["kind"] == "log"]


PROXY = (404, 200, 302, 413, 421)


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("status", [PROXY[0], *(pytest.param(other, marks=pytest.mark.nightly) for other in PROXY[1:])])
def test_training_continues_while_a_proxy_answers_for_the_backend(
    api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    api.claims.append(claim(points=10**6, interval=0.01))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    asked: list[str] = []

    def proxy(_method: str, url: str, _body: bytes) -> Answer:
        asked.append(url.rpartition("/")[2])
        return status, b"<html>Down for maintenance</html>"

    with monkeypatch.context() as between:
        between.setattr(api, "answer", proxy)
        wait_until(lambda: min(asked.count("heartbeat"), asked.count("events")) >= 2)
    received = len(api.points(7, 1))
    wait_until(lambda: len(api.points(7, 1)) > received + 5)
    assert sum("Is there a proxy in between?" in record.getMessage() for record in caplog.records) == 2, (
        "one warning per thread"
    )
    api.desired = "stop"
    slot.done()
    assert [release["outcome"] for release in api.releases] == ["stopped"]
    assert api.points(7, 1) == list(range(1, len(api.points(7, 1)) + 1))


def test_events_that_the_backend_rejects_fail_the_run_with_its_message(api: WorkerApi, slot: Slot) -> None:
    api.refuse_events = True
    api.claims.append(claim(points=10**6, interval=0.01))
    slot.look()
    slot.done()
    assert api.releases[0]["outcome"] == "failed"
    assert "events.0.values: no such metric" in api.releases[0]["message"]


@pytest.mark.usefixtures("impatient")
def test_a_file_that_can_never_be_uploaded_is_skipped_with_a_log_line(api: WorkerApi, slot: Slot) -> None:
    api.blocks_uploads = True
    api.claims.append(claim(points=100, checkpoint_every=40))
    slot.look()
    slot.done()
    assert [release["outcome"] for release in api.releases] == ["finished"]
    reported = [event for event in api.events[7, 1].values() if event["kind"] == "log"]
    assert [event["level"] for event in reported] == ["warning", "warning"]
    assert "step-000000000040.safetensors was skipped because it cannot be uploaded" in reported[0]["message"]
    assert "answered 413" in reported[0]["message"]


@pytest.mark.usefixtures("impatient")
def test_no_file_is_lost_while_the_backend_is_down(api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answer = api.answer

    def page(method: str, url: str, body: bytes) -> Answer:
        """Go down at the next upload. Going down earlier would refuse the events before the file is uploaded."""
        if method == "PUT" or asked:
            asked.append(method)
            return 502, b"<html>Bad gateway</html>"
        return answer(method, url, body)

    api.claims.append(claim(points=10**6, interval=0.01, checkpoint_every=40))
    slot.look()
    wait_until(lambda: api.files)
    with monkeypatch.context() as between:
        between.setattr(api, "answer", page)
        wait_until(lambda: asked.count("PUT") > 2 * UPLOAD_ATTEMPTS)
    received = len(api.files)
    wait_until(lambda: len(api.files) > received + 1)
    api.desired = "stop"
    slot.done()
    assert not [event for event in api.events[7, 1].values() if event["kind"] == "log"]


def test_events_that_the_backend_did_not_store_are_not_marked_as_delivered(
    api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = api._take_events
    forgotten: list[int] = []

    def forgetful(events: dict[tuple[int, int], Any], number: int, body: dict[str, Any]) -> Answer:
        if not forgotten and body["events"][0]["seq"] > 1:
            forgotten.append(1)
            return 200, {"acknowledged": body["events"][0]["seq"] - 1}
        return take(events, number, body)

    monkeypatch.setattr(api, "_take_events", forgetful)
    api.claims.append(claim(points=100, waits_at=50))
    slot.look()
    wait_until(lambda: api.points(7, 1))
    slot.let_trainer_continue(7)
    slot.done()
    assert forgotten
    assert api.points(7, 1) == list(range(1, 103))
