"""Notices between processes over a real Redis that is killed and restarted."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from arcadia_backend.live import channel, notices
from arcadia_backend.live.notices import Hub, Notice, Stream, current_hub, publish, running
from tests.workers.redis_server import RedisServer
from tests.workers.waiting import PATIENCE_SECONDS


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """Yield a running Redis server."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "RETRY_SECONDS", 0.05)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end with a timeout."""
    asyncio.run(asyncio.wait_for(work, PATIENCE_SECONDS))


async def heard(stream: Stream, wanted: Callable[[Notice], bool], say: Callable[[], None]) -> None:
    """Repeat a message until it is received. Redis drops messages that are sent before the subscription."""
    while True:
        say()
        notice = await stream.next(0.2)
        while notice is not None:
            if isinstance(notice, Notice) and wanted(notice):
                return
            notice = await stream.next(0.2)


def test_processes_receive_notices_again_after_redis_restarts_without_data(redis_server: RedisServer) -> None:
    async def work() -> None:
        async with running(redis_server.url):
            # A second hub in the same loop represents a second process.
            other = Hub(redis_server.url)
            async with other.connected():
                with current_hub().join() as here, other.join() as there:
                    for step in range(2):
                        await heard(
                            there,
                            lambda notice, step=step: notice.payload == {"run_id": step},  # type: ignore[misc]
                            lambda step=step: publish("run.changed", {"run_id": step}),  # type: ignore[misc]
                        )
                        await heard(
                            here,
                            lambda notice, step=step: notice.payload == {"run_id": 10 + step},  # type: ignore[misc]
                            lambda step=step: other.publish("run.log", {"run_id": 10 + step}),  # type: ignore[misc]
                        )
                        if step == 0:
                            redis_server.kill()
                            publish("run.changed", {"run_id": 99})
                            await heard(here, lambda notice: notice.payload == {"run_id": 99}, lambda: None)
                            redis_server.start()
                            await heard(there, lambda notice: notice.name == "refetch", lambda: None)

    run(work())


def test_a_process_receives_its_own_notice_once(redis_server: RedisServer) -> None:
    async def work() -> None:
        async with running(redis_server.url):
            with current_hub().join() as stream:
                publish("run.changed", {"run_id": 1})
                first = await stream.next(PATIENCE_SECONDS)
                assert isinstance(first, Notice)
                assert first.payload == {"run_id": 1}
                assert await stream.next(0.5) is None

    run(work())


def test_invalid_messages_are_ignored(redis_server: RedisServer) -> None:
    async def work() -> None:
        async with running(redis_server.url):
            with current_hub().join() as stream, redis.Redis.from_url(redis_server.url) as stranger:

                def speak() -> None:
                    for message in (b"\xff", b"x []", b"x {}", b'x {"name": 1, "payload": {}}', b"x" * 20_000):
                        stranger.publish(notices.CHANNEL, message)
                    stranger.publish(notices.CHANNEL, b'x {"name": "run.changed", "payload": {"run_id": 3}}')

                await heard(stream, lambda notice: notice.payload == {"run_id": 3}, speak)

    run(work())


def test_a_task_that_loses_its_cancellation_is_cancelled_again() -> None:
    async def lose_first() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    async def work() -> None:
        tasks = [asyncio.create_task(lose_first()) for _ in range(2)]
        await asyncio.sleep(0)
        await channel.cancel_all(tasks)
        assert all(task.cancelled() for task in tasks)

    run(work())


def test_pages_of_this_process_receive_notices_without_redis() -> None:
    async def work() -> None:
        async with running("redis://127.0.0.1:1/0"):
            with current_hub().join() as stream:
                for run_id in range(20):
                    publish("run.changed", {"run_id": run_id})
                for run_id in range(20):
                    notice = await stream.next(PATIENCE_SECONDS)
                    assert isinstance(notice, Notice)
                    assert notice.payload == {"run_id": run_id}

    run(work())


def test_deeply_nested_json_does_not_stop_the_listener(redis_server: RedisServer) -> None:
    async def work() -> None:
        async with running(redis_server.url):
            with current_hub().join() as stream, redis.Redis.from_url(redis_server.url) as stranger:
                said = b'x {"name": "run.changed", "payload": {"run_id": %d}}'
                await heard(
                    stream,
                    lambda notice: notice.payload == {"run_id": 3},
                    lambda: stranger.publish(notices.CHANNEL, said % 3),
                )
                stranger.publish(notices.CHANNEL, b"x " + b"[" * notices.MAX_NOTICE_BYTES)
                await heard(
                    stream,
                    lambda notice: notice.payload == {"run_id": 4},
                    lambda: stranger.publish(notices.CHANNEL, said % 4),
                )

    run(work())


def test_sender_and_listener_restart_after_an_unexpected_error(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        failures: list[int] = []
        made = channel.Channel._client

        def broken(self: channel.Channel) -> Any:
            if len(failures) < 4:
                failures.append(1)
                raise ValueError("an odd address")
            return made(self)

        monkeypatch.setattr(channel.Channel, "_client", broken)
        async with running(redis_server.url):
            other = Hub(redis_server.url)
            async with other.connected():
                with other.join() as there:
                    wanted = {"run_id": 1}
                    await heard(
                        there, lambda notice: notice.payload == wanted, lambda: publish("run.changed", {"run_id": 1})
                    )
        assert "an odd address" in caplog.text

    run(work())
