"""Cancels games that wait for a worker while nobody watches: the pages have gone, or have never come.

A game that is played ends with the connection of its process (`Stage.beat`); one that waits has no process yet.
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
from backend.jobs.queue import INTERACTIVE
from backend.live_games.stage import Stage
from backend.live_games.stages import Stages

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0


@asynccontextmanager
async def calling_off(db: Database, stages: Stages) -> AsyncIterator[None]:
    """Look again and again for as long as this is open."""
    task = asyncio.create_task(_again(Waiting(db, stages)))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Waiting:
    """The games that wait. Each has its stage open, which knows when somebody has watched last."""

    def __init__(self, db: Database, stages: Stages) -> None:
        self._db, self._stages = db, stages
        self._open: dict[int, tuple[Stage, ExitStack]] = {}

    async def look(self) -> None:
        """Cancel those that nobody has watched for a while."""
        waiting = await run_in_threadpool(_waiting, self._db)
        for number in self._open.keys() - waiting:
            self._close(number)
        for number in waiting - self._open.keys():
            stack = ExitStack()
            self._open[number] = stack.enter_context(self._stages.on(number)), stack
        for number in [number for number, (stage, _) in self._open.items() if stage.is_abandoned]:
            await run_in_threadpool(_cancel, self._db, number)

    def close(self) -> None:
        """Leave all stages."""
        for number in list(self._open):
            self._close(number)

    def _close(self, number: int) -> None:
        _, stack = self._open.pop(number)
        stack.close()


async def _again(waiting: Waiting) -> None:
    failures = FailureLog(log)
    try:
        while True:
            with failures.guard("Cancelling games that nobody watches"):
                await waiting.look()
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        waiting.close()


def _waiting(db: Database) -> set[int]:
    with db.read() as session:
        return set(session.scalars(select(Job.id).where(Job.state == "queued", Job.kind.in_(INTERACTIVE))))


def _cancel(db: Database, number: int) -> None:
    """Cancel a game, unless a worker has taken it meanwhile."""
    with db.write() as session:
        job = session.get(Job, number, with_for_update=True)
        if job is not None and job.state == "queued":
            jobs.cancel(session, job)
