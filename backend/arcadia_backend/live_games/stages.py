"""The stages of this process: one for each live game, and the end of games that nobody watches."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import get_args

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import select

from arcadia_backend import jobs
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Job
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.channel import Channel, cancel_all
from arcadia_backend.live.notices import current_hub
from arcadia_backend.live_games.stage import BEAT_SECONDS, MessageKind, Stage
from arcadia_workers.contract.jobs import LIVE_GAMES
from arcadia_workers.contract.live import LARGEST_PICTURE

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


# The interval of checks while games are queued, and the longest one otherwise.
CHECK_SECONDS, IDLE_SECONDS = 2.0, 30.0


@asynccontextmanager
async def cancel_unwatched_games(db: Database, stages: Stages) -> AsyncIterator[None]:
    """Cancel unwatched games in the background inside the block."""
    task = asyncio.create_task(_repeat(QueuedGames(db, stages)))
    try:
        yield
    finally:
        await cancel_all([task])


class QueuedGames:
    """The queued games. Each keeps its stage open, which knows when it was last watched."""

    def __init__(self, db: Database, stages: Stages) -> None:
        self._db, self._stages = db, stages
        self._open: dict[int, tuple[Stage, ExitStack]] = {}

    @property
    def are_queued(self) -> bool:
        """True if there was a queued game at the last check."""
        return bool(self._open)

    async def cancel_unwatched(self) -> None:
        """Cancel the queued games that no one has watched for a while."""
        queued = await run_in_threadpool(_queued, self._db)
        for number in self._open.keys() - queued:
            self._close(number)
        for number in queued - self._open.keys():
            stack = ExitStack()
            self._open[number] = stack.enter_context(self._stages.on(number)), stack
        for number in [number for number, (stage, _) in self._open.items() if stage.is_abandoned]:
            await run_in_threadpool(_cancel, self._db, number)

    def close(self) -> None:
        """Close all stages."""
        for number in list(self._open):
            self._close(number)

    def _close(self, number: int) -> None:
        _, stack = self._open.pop(number)
        stack.close()


async def _repeat(games: QueuedGames) -> None:
    failures = FailureLog(log)
    try:
        with current_hub().wait() as changes:
            changes.hears_all = True
            while True:
                with acting_as(BACKEND), failures.guard("Cancelling unwatched live games"):
                    await games.cancel_unwatched()
                await asyncio.sleep(CHECK_SECONDS)
                if not games.are_queued:
                    await changes.next(IDLE_SECONDS)
    finally:
        games.close()


def _queued(db: Database) -> set[int]:
    with db.read() as session:
        return set(session.scalars(select(Job.id).where(Job.state == "queued", Job.kind.in_(LIVE_GAMES))))


def _cancel(db: Database, number: int) -> None:
    """Cancel a game, unless a worker has claimed it."""
    with db.write() as session:
        job = session.get(Job, number, with_for_update=True)
        if job is not None and job.state == "queued":
            jobs.cancel(session, job)
