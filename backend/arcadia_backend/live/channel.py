"""A Redis channel between backend processes. Redis stores none of its messages."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager

from redis.asyncio import Redis
from redis.exceptions import RedisError

from arcadia_backend.failure_log import FailureLog

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
# A task that has not ended after this time is cancelled again.
CANCEL_SECONDS = 1.0
SOCKET_SECONDS = 5.0
# Room for the origin in front of a message.
ORIGIN_BYTES = 100

Receive = Callable[[str, bytes], None]


async def cancel_all(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancel tasks until they have ended.

    Before Python 3.12, `asyncio.wait_for` loses a cancellation that comes together with its result. The client of Redis
    uses it, so a task could run forever.
    """
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=CANCEL_SECONDS)


class Channel:
    """A named channel that reconnects after every failure. Without Redis, messages stay in this process.

    A full queue drops its oldest message. If `replacement` is given, it replaces all messages that were lost.
    """

    def __init__(
        self, url: str, name: str, *, queue_limit: int, max_bytes: int, replacement: bytes | None = None
    ) -> None:
        self.name = name
        self._url, self._max_bytes, self._replacement = url, max_bytes, replacement
        self._origin = secrets.token_hex(8)
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue(queue_limit)
        # Other processes may answer a message immediately, so nothing is published before this one listens.
        self._listens = asyncio.Event()
        self._may_have_missed = False
        self._failures = FailureLog(log)

    def send(self, message: bytes) -> None:
        """Queue a message for the other processes."""
        if not self._outgoing.full():
            self._outgoing.put_nowait(message)
        elif self._replacement is None:
            self._outgoing.get_nowait()
            self._outgoing.put_nowait(message)
        else:
            self._replace_queue()

    @asynccontextmanager
    async def open(self, receive: Receive, on_loss: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
        """Exchange messages inside the block.

        Call `receive` with the origin and the content of each message of another process. Call `on_loss` once
        listening works again after a failure.
        """
        work = [
            self._repeat(self._publish, self._replace_queue),
            self._repeat(lambda: self._listen(receive, on_loss), self._mark_missed),
        ]
        tasks = [asyncio.create_task(each) for each in work]
        try:
            yield
        finally:
            await cancel_all(tasks)

    async def _repeat(self, work: Callable[[], Awaitable[None]], after_failure: Callable[[], None]) -> None:
        """Restart the work after every failure, even an unexpected one: otherwise all later messages would be lost."""
        while True:
            try:
                await work()
            except (RedisError, OSError) as error:
                self._failures.failed(self._unreachable, error, traceback=False, level=logging.WARNING)
            except Exception as error:
                self._failures.failed(f"Channel {self.name} failed and will be retried", error)
            await asyncio.sleep(RETRY_SECONDS)
            after_failure()

    async def _publish(self) -> None:
        await self._listens.wait()
        async with self._client() as redis:
            while True:
                message = await self._outgoing.get()
                await redis.publish(self.name, f"{self._origin} ".encode() + message)

    async def _listen(self, receive: Receive, on_loss: Callable[[], None]) -> None:
        async with self._client() as redis, redis.pubsub() as subscription:
            await subscription.subscribe(self.name)
            while True:
                message = await subscription.get_message(timeout=SOCKET_SECONDS)
                if message and message["type"] == "subscribe":
                    self._listens.set()
                    if self._failures.recovered(self._unreachable):
                        log.info("Redis responds again on channel %s", self.name)
                    if self._may_have_missed:
                        self._may_have_missed = False
                        on_loss()
                data = message.get("data") if message else None
                if isinstance(data, bytes) and len(data) <= self._max_bytes + ORIGIN_BYTES:
                    origin, _, content = data.partition(b" ")
                    if origin != self._origin.encode():
                        receive(origin.decode("ascii", "replace"), content)

    def _mark_missed(self) -> None:
        self._may_have_missed = True

    def _replace_queue(self) -> None:
        """Replace all queued messages, and those lost in a failure, by the replacement, if there is one."""
        if self._replacement is not None:
            while not self._outgoing.empty():
                self._outgoing.get_nowait()
            self._outgoing.put_nowait(self._replacement)

    @property
    def _unreachable(self) -> str:
        return f"Redis does not respond: messages of channel {self.name} stay in this process"

    def _client(self) -> Redis:
        return Redis.from_url(
            self._url,
            socket_timeout=SOCKET_SECONDS,
            socket_connect_timeout=SOCKET_SECONDS,
            socket_keepalive=True,
            health_check_interval=10,
        )
