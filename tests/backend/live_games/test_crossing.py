"""What stages of the same live game say to one another, through a real Redis."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from backend.live_games import crossing
from backend.live_games.crossing import CHANNEL, Crossing
from backend.live_games.stage import Said, Stage
from tests.workers.redis_server import RedisServer
from tests.workers.waiting import PATIENCE_SECONDS


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A running Redis."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


def test_a_message_that_nobody_foresaw_does_not_end_what_hears_the_others(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crossing, "RETRY_SECONDS", 0.05)
    heard: list[bytes] = []
    stage = Stage()

    def hear(origin: str, said: Said, what: bytes) -> None:
        stage.hear(origin, said, what)
        heard.append(what)

    async def talk() -> None:
        async with Redis.from_url(redis_server.url) as redis, Crossing(redis_server.url, 5).open(hear):
            for viewers in (b"1", b"many", b"2"):
                while viewers not in heard:
                    await redis.publish(f"{CHANNEL}.5", b"other viewers " + viewers)
                    await asyncio.sleep(0.05)
                    if viewers == b"many":
                        break

    asyncio.run(asyncio.wait_for(talk(), PATIENCE_SECONDS / 12))
    assert b"2" in heard
