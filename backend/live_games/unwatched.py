"""Cancellation of queued live games that no page watches.

A running game ends through its player's connection (`Stage.beat`). A queued game has no player yet.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import select

from backend.database.engine import Database
from backend.database.tables import Job
from backend.failure_log import FailureLog
from backend.jobs import service as jobs
from backend.jobs.queue import LIVE_GAMES
from backend.live.channel import cancel_all
from backend.live.notices import current_hub
from backend.live_games.stage import Stage
from backend.live_games.stages import Stages

log = logging.getLogger(__name__)

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
        with current_hub().watch() as changes:
            changes.hears_all = True
            while True:
                with failures.guard("Cancelling unwatched live games"):
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
