"""Heartbeats go on, whatever becomes of one."""

import pytest

from tests.workers.conftest import Slot
from tests.workers.waiting import wait_until
from tests.workers.worker_api import WorkerApi
from workers.worker.job import Held, Job


def test_heartbeats_go_on_after_one_failed_in_a_way_nobody_foresaw(
    api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wait_until(lambda: api.heartbeats)
    failed: list[int] = []
    held = Held(Job("runs", 7, 1))

    def fail(*_: object) -> None:
        failed.append(1)
        raise LookupError("out of order")

    with monkeypatch.context() as broken:
        broken.setattr(slot.supervisor._client, "heartbeat", fail)
        slot.heartbeat.hold(held)
        wait_until(lambda: failed)
    sent = len(api.heartbeats)
    slot.heartbeat.drop(held)
    wait_until(lambda: len(api.heartbeats) > sent)
    assert slot.heartbeat.is_alive()
    assert "out of order" in caplog.text
