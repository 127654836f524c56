"""Tests that heartbeats continue after one fails."""

import errno
import os
from pathlib import Path

import pytest

from arcadia_workers.worker import machine
from arcadia_workers.worker.assignment import Assignment, Lease
from arcadia_workers.worker.backend_client import BackendClient
from arcadia_workers.worker.heartbeat import HeartbeatThread
from arcadia_workers.worker.machine import low_disk_bytes, machine_facts
from tests.workers.conftest import Slot
from tests.workers.waiting import wait_until
from tests.workers.worker_api import WorkerApi


def test_heartbeats_continue_after_an_unexpected_error(
    api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wait_until(lambda: api.heartbeats)
    failed: list[int] = []
    held = Lease(Assignment("runs", 7, 1))

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


def test_only_answered_heartbeats_touch_the_alive_file(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    heartbeat = HeartbeatThread(client, machine_facts(), alive_file=alive)
    api.away = True
    heartbeat._beat(())
    assert not alive.exists()
    api.away = False
    heartbeat._beat(())
    assert alive.exists()


def test_heartbeats_continue_without_an_alive_file(
    api: WorkerApi, client: BackendClient, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heartbeat = HeartbeatThread(client, machine_facts(), alive_file=tmp_path / "none" / "alive")
    heartbeat._beat(())
    heartbeat._beat(())
    assert len(api.heartbeats) == 2
    assert caplog.text.count("ARCADIA_WORKER_ALIVE_FILE") == 1


def test_a_disk_without_space_is_seen_by_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as low:
        low.setattr(machine, "LOW_DISK_BYTES", 2**62)
        assert (low_disk_bytes(tmp_path) or 0) > 0
    assert low_disk_bytes(tmp_path) is None
    assert not [*tmp_path.iterdir()]

    def refuse(*_: object) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    # The file system has space, but the quota of the user is used up.
    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert low_disk_bytes(tmp_path) == 0
    monkeypatch.undo()
    assert low_disk_bytes(tmp_path / "none") is None


def test_a_heartbeat_names_the_disk_only_if_it_is_almost_full() -> None:
    # Servers of earlier versions refuse fields that they do not know.
    facts = machine_facts()
    assert "low_disk_bytes" not in facts.model_dump()
    assert facts.model_copy(update={"low_disk_bytes": 0}).model_dump()["low_disk_bytes"] == 0
