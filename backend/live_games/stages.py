"""The stages of this process: one for each live game, from its first connection to its last."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import get_args

from backend.live.channel import Channel
from backend.live_games.stage import BEAT_SECONDS, MessageKind, Stage
from workers.contract.live import LARGEST_PICTURE

log = logging.getLogger(__name__)

CHANNEL = "arcadia.live"
CHANNEL_QUEUE_LIMIT = 60
MESSAGE_KINDS: tuple[MessageKind, ...] = get_args(MessageKind)


@dataclass
class _Open:
    """An open stage with its number of connections and its background task."""

    stage: Stage
    working: asyncio.Task[None]
    users: int = 0


class Stages:
    """The open stages by job id."""

    def __init__(self, broker_url: str) -> None:
        self._broker_url = broker_url
        self._open: dict[int, _Open] = {}
        # The event loop keeps only weak references to tasks.
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def viewers(self) -> int:
        """Return the number of viewers connected to this process."""
        return sum(len(each.stage.viewers) for each in self._open.values())

    @contextmanager
    def on(self, number: int) -> Iterator[Stage]:
        """Open the stage of a live game for one connection."""
        opened = self._open.get(number) or self._opened(number)
        opened.users += 1
        try:
            yield opened.stage
        finally:
            opened.users -= 1
            if not opened.users:
                del self._open[number]
                self._end(opened.working)

    def _end(self, working: asyncio.Task[None]) -> None:
        self._keep(working)
        working.cancel()

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _opened(self, number: int) -> _Open:
        channel = self._channel(number) if self._broker_url else None
        stage = Stage(send_to_others=partial(_send, channel)) if channel else Stage()
        opened = self._open[number] = _Open(stage, asyncio.create_task(_work(stage, channel)))
        return opened

    def _channel(self, number: int) -> Channel:
        return Channel(
            self._broker_url, f"{CHANNEL}.{number}", queue_limit=CHANNEL_QUEUE_LIMIT, max_bytes=LARGEST_PICTURE
        )


async def _work(stage: Stage, channel: Channel | None) -> None:
    async with AsyncExitStack() as stack:
        if channel:
            await stack.enter_async_context(channel.open(partial(_receive, stage)))
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            stage.beat()


def _send(channel: Channel, kind: MessageKind, content: bytes) -> None:
    channel.send(b" ".join((kind.encode(), content)))


def _receive(stage: Stage, origin: str, message: bytes) -> None:
    name, _, content = message.partition(b" ")
    kind = next((known for known in MESSAGE_KINDS if known.encode() == name), None)
    if kind is None:
        log.warning("a message on channel %s is not of a live game", CHANNEL)
    else:
        stage.receive(origin, kind, content)
