"""The doorbell, which rings through a real Redis and never blocks on an unresponsive one."""

import base64
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from arcadia_backend.doorbell import MAX_WAITING, Doorbell
from tests.workers.redis_server import RedisServer
from tests.workers.waiting import PATIENCE_SECONDS, wait_until


@pytest.fixture
def redis_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RedisServer]:
    """Yield a running Redis server. On a busy machine, it may take longer than the doorbell waits for it."""
    monkeypatch.setattr("arcadia_backend.doorbell.BROKER_TIMEOUT_SECONDS", PATIENCE_SECONDS)
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def silent_address() -> Iterator[str]:
    """Yield an address that accepts connections but never responds."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


def messages(url: str, queue: str) -> list[dict[str, Any]]:
    with Redis.from_url(url) as connection:
        return [json.loads(raw) for raw in connection.lrange(queue, 0, -1)]


def test_a_ring_contains_only_the_run(redis_server: RedisServer) -> None:
    doorbell = Doorbell(redis_server.url)
    doorbell.start()
    doorbell.ring("gpu", 12)
    wait_until(lambda: messages(redis_server.url, "gpu"))
    doorbell.stop()
    (message,) = messages(redis_server.url, "gpu")
    assert message["headers"]["task"] == "workers.look"
    assert message["content-type"] == "application/json"
    arguments, _, _ = json.loads(base64.b64decode(message["body"]))
    assert arguments == [12]
    assert messages(redis_server.url, "cpu") == []


def test_a_queue_without_a_consumer_does_not_grow(redis_server: RedisServer) -> None:
    doorbell = Doorbell(redis_server.url)
    doorbell.start()
    for run_id in range(3 * MAX_WAITING):
        doorbell.ring("cpu", run_id)
    doorbell.stop()
    assert len(messages(redis_server.url, "cpu")) == MAX_WAITING


def test_it_rings_again_once_the_broker_is_back(redis_server: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    doorbell = Doorbell(redis_server.url)
    doorbell.start()
    redis_server.kill()
    for run_id in range(3):
        doorbell.ring("cpu", run_id)
    wait_until(lambda: "The broker does not respond" in caplog.text)
    redis_server.start()

    def rung() -> bool:
        doorbell.ring("cpu", 9)
        return bool(messages(redis_server.url, "cpu"))

    wait_until(rung)
    doorbell.stop()
    assert caplog.text.count("The broker does not respond") == 1, "logged once, not for every ring"


def test_an_unresponsive_broker_blocks_nobody(silent_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    talkers = []
    connect = socket.socket.connect

    def noted(self: socket.socket, address: Any) -> None:
        talkers.append(threading.current_thread())
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", noted)
    doorbell = Doorbell(silent_address)
    doorbell.start()
    for run_id in range(500):
        doorbell.ring("cpu", run_id)
    wait_until(lambda: talkers)
    doorbell.stop()
    assert threading.current_thread() not in talkers, "only the doorbell's thread connects to the broker"


def test_without_a_broker_nothing_is_sent() -> None:
    doorbell = Doorbell("")
    doorbell.start()
    doorbell.ring("cpu", 1)
    doorbell.stop()


def test_it_rings_again_after_an_unexpected_error(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    doorbell = Doorbell(redis_server.url)
    asked: list[int] = []

    def broken(_celery: object, _queue: str, _task: str, run_id: int) -> None:
        asked.append(run_id)
        raise LookupError("no such transport")

    with monkeypatch.context() as patch:
        patch.setattr("arcadia_backend.doorbell._send", broken)
        doorbell.start()
        doorbell.ring("cpu", 1)
        wait_until(lambda: asked)
        doorbell.ring("cpu", 2)
        wait_until(lambda: len(asked) == 2)
    doorbell.ring("cpu", 3)
    wait_until(lambda: messages(redis_server.url, "cpu"))
    doorbell.stop()
    assert caplog.text.count("The broker does not respond") == 1
