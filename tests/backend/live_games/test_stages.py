"""The stages of a process, from the first connection to the last, and their channel over a real Redis."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from arcadia_backend.live import channel
from arcadia_backend.live_games import stage as stages
from arcadia_backend.live_games.stage import CHANNEL, Stages
from tests.workers.redis_server import RedisServer
from tests.workers.waiting import PATIENCE_SECONDS


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """Yield a running Redis server."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


def test_connections_are_closed_completely_after_the_last_viewer_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    closing: list[weakref.ref[asyncio.Future[None]]] = []
    closed = False

    async def work(*_: object) -> None:
        nonlocal closed
        try:
            await asyncio.Event().wait()
        finally:
            # As when a Redis connection is closed, only the waiting task references the future.
            answer = asyncio.get_running_loop().create_future()
            closing.append(weakref.ref(answer))
            await answer
            closed = True

    async def open_and_leave() -> None:
        opened = Stages("")
        with opened.on(1):
            await asyncio.sleep(0)
        while not closing:
            await asyncio.sleep(0)
        gc.collect()
        answer = closing[0]()
        assert answer is not None, "the task that closes connections was garbage-collected"
        answer.set_result(None)
        del answer
        while not closed:
            await asyncio.sleep(0)

    monkeypatch.setattr(stages, "_work", work)
    asyncio.run(asyncio.wait_for(open_and_leave(), PATIENCE_SECONDS))


def test_a_stage_receives_messages_after_an_invalid_one(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "RETRY_SECONDS", 0.05)

    async def talk() -> None:
        async with Redis.from_url(redis_server.url) as redis:
            with Stages(redis_server.url).on(5) as stage:
                for message in (b"viewers 1", b"viewers many", b"unknown 1", b"viewers 0", b"viewers 1"):
                    while not await redis.publish(f"{CHANNEL}.5", b"other " + message):
                        await asyncio.sleep(0.05)
                    is_watched = {b"viewers 1": True, b"viewers 0": False}.get(message)
                    while is_watched is not None and stage.is_watched != is_watched:
                        await redis.publish(f"{CHANNEL}.5", b"other " + message)
                        await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(talk(), PATIENCE_SECONDS))
