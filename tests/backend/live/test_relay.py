"""Notices between processes, through a real Redis that dies and comes back."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from backend.live import relay
from backend.live.notices import Hub, Notice, Stream, current_hub, publish, running
from tests.workers.redis_server import RedisServer


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A running Redis."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "RETRY_SECONDS", 0.05)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, but not for ever."""
    asyncio.run(asyncio.wait_for(work, 60))


async def heard(stream: Stream, wanted: Callable[[Notice], bool], say: Callable[[], None]) -> None:
    """Say something again and again until it is heard: until a subscription stands, Redis keeps nothing."""
    while True:
        say()
        notice = await stream.next(0.2)
        while notice is not None:
            if wanted(notice):
                return
            notice = await stream.next(0.2)


def test_processes_hear_each_other_also_after_redis_died_with_all_its_data(redis_server: RedisServer) -> None:
    async def work() -> None:
        async with running(redis_server.url):
            # A second hub of the same loop stands for a second process.
            other = Hub(redis_server.url)
            async with other.relaying():
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


def test_a_notice_is_heard_once_by_its_own_process(redis_server: RedisServer) -> None:
    async def work() -> None:
        async with running(redis_server.url):
            with current_hub().join() as stream:
                publish("run.changed", {"run_id": 1})
                first = await stream.next(10)
                assert first is not None
                assert first.payload == {"run_id": 1}
                assert await stream.next(0.5) is None

    run(work())


def test_what_is_no_notice_is_passed_over(redis_server: RedisServer) -> None:
    async def work() -> None:
        async with running(redis_server.url):
            with current_hub().join() as stream, redis.Redis.from_url(redis_server.url) as stranger:

                def speak() -> None:
                    for message in (b"\xff", b"[]", b"{}", b'{"name": 1, "payload": {}}', b"x" * 20_000):
                        stranger.publish(relay.CHANNEL, message)
                    stranger.publish(relay.CHANNEL, b'{"origin": "x", "name": "run.changed", "payload": {"run_id": 3}}')

                await heard(stream, lambda notice: notice.payload == {"run_id": 3}, speak)

    run(work())


def test_without_redis_pages_of_this_process_hear_everything() -> None:
    async def work() -> None:
        async with running("redis://127.0.0.1:1/0"):
            with current_hub().join() as stream:
                for run_id in range(20):
                    publish("run.changed", {"run_id": run_id})
                for run_id in range(20):
                    notice = await stream.next(10)
                    assert notice is not None
                    assert notice.payload == {"run_id": run_id}

    run(work())


def test_nesting_without_end_does_not_end_the_listening(redis_server: RedisServer) -> None:
    async def work() -> None:
        async with running(redis_server.url):
            with current_hub().join() as stream, redis.Redis.from_url(redis_server.url) as stranger:
                said = b'{"origin": "x", "name": "run.changed", "payload": {"run_id": %d}}'
                await heard(
                    stream,
                    lambda notice: notice.payload == {"run_id": 3},
                    lambda: stranger.publish(relay.CHANNEL, said % 3),
                )
                stranger.publish(relay.CHANNEL, b"[" * relay.LARGEST_MESSAGE)
                await heard(
                    stream,
                    lambda notice: notice.payload == {"run_id": 4},
                    lambda: stranger.publish(relay.CHANNEL, said % 4),
                )

    run(work())


def test_both_sides_go_on_after_an_error_that_nobody_foresaw(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        failures: list[int] = []
        made = relay.Relay._client

        def broken(self: relay.Relay) -> Any:
            if len(failures) < 4:
                failures.append(1)
                raise ValueError("an odd address")
            return made(self)

        monkeypatch.setattr(relay.Relay, "_client", broken)
        async with running(redis_server.url):
            other = Hub(redis_server.url)
            async with other.relaying():
                with other.join() as there:
                    wanted = {"run_id": 1}
                    await heard(
                        there, lambda notice: notice.payload == wanted, lambda: publish("run.changed", {"run_id": 1})
                    )
        assert "an odd address" in caplog.text

    run(work())
