"""Carries notices between backend processes through Redis; reconnects for as long as it runs."""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.failure_log import FailureLog

log = logging.getLogger(__name__)

CHANNEL = "arcadia.notices"
RETRY_SECONDS = 1.0
SOCKET_SECONDS = 5.0
MOST_WAITING = 1_000
LARGEST_MESSAGE = 10_000

Message = dict[str, Any]


class Relay:
    """One connection that publishes and one that listens.

    When messages to others were lost they are sent `refetch`; when messages from others were, `lost` is called.
    """

    def __init__(
        self, url: str, received: Callable[[Message], None], lost: Callable[[], None], refetch: Message
    ) -> None:
        self._url = url
        self._received = received
        self._lost = lost
        self._refetch = refetch
        self._outgoing: asyncio.Queue[Message] = asyncio.Queue(MOST_WAITING)

    def send(self, message: Message) -> None:
        """Publish soon; with too much waiting, one message stands for all of it."""
        if self._outgoing.full():
            self._empty()
            message = self._refetch
        self._outgoing.put_nowait(message)

    def work(self) -> list[Coroutine[Any, Any, None]]:
        """Coroutines to run for as long as the application does."""
        return [self._again(self._publish), self._again(self._listen)]

    async def _again(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Restart the work after any failure."""
        failures = FailureLog(log)
        while True:
            try:
                await work()
            except Exception as error:
                failures.failed("Notices may not reach other backend processes; trying on", error)
            await asyncio.sleep(RETRY_SECONDS)
            self._lost()
            self.send(self._refetch)

    async def _publish(self) -> None:
        async with self._client() as redis:
            while True:
                message = await self._outgoing.get()
                while not await self._published(redis, message):
                    await asyncio.sleep(RETRY_SECONDS)
                    self._empty()
                    message = self._refetch

    async def _published(self, redis: Redis, message: Message) -> bool:
        try:
            await redis.publish(CHANNEL, json.dumps(message))
        except (RedisError, OSError) as error:
            log.debug("a notice was not published: %s", error)
            return False
        return True

    async def _listen(self) -> None:
        failures, failure = FailureLog(log), "Redis does not answer: notices stay in this process"
        while True:
            try:
                async with self._client() as redis, redis.pubsub() as channel:
                    await channel.subscribe(CHANNEL)
                    if failures.recovered(failure):
                        log.info("Redis answers again: notices reach other backend processes")
                        self._lost()
                    while True:
                        self._take(await channel.get_message(ignore_subscribe_messages=True, timeout=SOCKET_SECONDS))
            except (RedisError, OSError) as error:
                failures.failed(failure, error, traceback=False, level=logging.WARNING)
                await asyncio.sleep(RETRY_SECONDS)

    def _take(self, message: Message | None) -> None:
        data = message.get("data") if message else None
        if not isinstance(data, bytes) or len(data) > LARGEST_MESSAGE:
            return
        try:
            notice = json.loads(data)
        except (ValueError, RecursionError):
            log.warning("a message on channel %s is no notice", CHANNEL)
            return
        if isinstance(notice, dict):
            self._received(notice)

    def _empty(self) -> None:
        while not self._outgoing.empty():
            self._outgoing.get_nowait()

    def _client(self) -> Redis:
        return Redis.from_url(
            self._url,
            socket_timeout=SOCKET_SECONDS,
            socket_connect_timeout=SOCKET_SECONDS,
            socket_keepalive=True,
            health_check_interval=10,
        )
