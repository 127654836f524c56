"""Carries what stages of the same live game say between backend processes, through Redis, which keeps nothing of it."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import get_args

from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.failure_log import FailureLog
from backend.live_games.stage import Said
from workers.contract.live import LARGEST_PICTURE

log = logging.getLogger(__name__)

CHANNEL = "arcadia.live"
RETRY_SECONDS = 1.0
SOCKET_SECONDS = 5.0
MOST_WAITING = 60
SAID: tuple[Said, ...] = get_args(Said)

Hear = Callable[[str, Said, bytes], None]


class Crossing:
    """The channel of one live game; where Redis does not answer, its stages know nothing of each other."""

    def __init__(self, url: str, number: int) -> None:
        self._url, self._channel = url, f"{CHANNEL}.{number}"
        self._origin = secrets.token_hex(8)
        self._waiting: asyncio.Queue[bytes] = asyncio.Queue(MOST_WAITING)
        # What is said before this stage hears would be answered too early.
        self._hears = asyncio.Event()

    def send(self, said: Said, what: bytes) -> None:
        """Say something to the other stages soon; what waits too long for Redis is dropped."""
        if self._waiting.full():
            self._waiting.get_nowait()
        self._waiting.put_nowait(b" ".join((self._origin.encode(), said.encode(), what)))

    @asynccontextmanager
    async def open(self, hear: Hear) -> AsyncIterator[None]:
        """Send and hear for as long as this is open."""
        tasks = [asyncio.create_task(self._again(work)) for work in (self._publish, lambda: self._listen(hear))]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _again(self, work: Callable[[], Awaitable[None]]) -> None:
        failures = FailureLog(log)
        while True:
            try:
                await work()
            except (RedisError, OSError) as error:
                failures.failed(
                    "Redis does not answer: live games stay in this process",
                    error,
                    traceback=False,
                    level=logging.WARNING,
                )
            except Exception as error:
                # Whatever it was: without this, the stages would know nothing of each other until the game is over.
                failures.failed("Live games may not reach other backend processes; trying on", error)
            await asyncio.sleep(RETRY_SECONDS)

    async def _publish(self) -> None:
        async with self._client() as redis:
            while True:
                message = await self._waiting.get()
                await self._hears.wait()
                await redis.publish(self._channel, message)

    async def _listen(self, hear: Hear) -> None:
        async with self._client() as redis, redis.pubsub() as channel:
            await channel.subscribe(self._channel)
            while True:
                message = await channel.get_message(timeout=SOCKET_SECONDS)
                if message and message["type"] == "subscribe":
                    self._hears.set()
                data = message.get("data") if message else None
                if isinstance(data, bytes) and len(data) <= LARGEST_PICTURE + 100:
                    self._take(data, hear)

    def _take(self, data: bytes, hear: Hear) -> None:
        origin, _, rest = data.partition(b" ")
        name, _, what = rest.partition(b" ")
        said = next((known for known in SAID if known.encode() == name), None)
        if said is None:
            log.warning("a message on channel %s is none of a live game's", self._channel)
        elif origin != self._origin.encode():
            hear(origin.decode("ascii", "replace"), said, what)

    def _client(self) -> Redis:
        return Redis.from_url(
            self._url,
            socket_timeout=SOCKET_SECONDS,
            socket_connect_timeout=SOCKET_SECONDS,
            socket_keepalive=True,
            health_check_interval=10,
        )
