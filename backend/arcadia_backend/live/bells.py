"""Workers without a broker, which wait at this backend for the doorbell. A ring is a notice."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import update

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Worker
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.channel import cancel_all
from arcadia_backend.live.notices import RIGHTS_CHANGED, RUNG, Hub, Notice
from arcadia_workers.contract.worker_api import Noun

log = logging.getLogger(__name__)

# A ring wakes at most this many waiting workers, since each of them claims. The sweeper rings again for the others.
MOST_WOKEN = 4
# Pause between looks whether a worker that waits is still connected, and between reports of those that are.
CONNECTION_SECONDS, PRESENCE_SECONDS = 10.0, 5.0


class WaitingWorker:
    """A worker that waits at this backend for the doorbell of its queues."""

    def __init__(self, name: str, queues: Collection[str]) -> None:
        self.name, self.queues = name, queues
        self.look: set[Noun] = set()
        self.woken_at: float | None = None
        self._changed = asyncio.Event()

    def wake(self, *look: Noun) -> None:
        """End the wait, with what to look for."""
        self.look.update(look)
        self.woken_at = time.monotonic()
        self._changed.set()

    async def wait(self, seconds: float) -> None:
        """Wait for a ring, at most for this time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()


class Waits:
    """The workers without a broker that wait at this backend process, in the order of their arrival."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[str, WaitingWorker] = {}
        # When each worker's last wait ended, and each queue last rang, by time.monotonic().
        self._left: dict[str, float] = {}
        self._rung: dict[tuple[str, Noun], float] = {}
        self._has_ended = False

    async def wait(
        self, name: str, queues: Collection[str], seconds: float, is_gone: Callable[[], Awaitable[bool]]
    ) -> set[Noun]:
        """Wait until a queue rings, and return what to look for. Return at once if one rang since the last wait."""
        worker = WaitingWorker(name, queues)
        if self._has_ended:
            worker.wake()
        elif missed := self._missed(worker):
            worker.wake(*missed)
        if (other := self._waiting.pop(name, None)) is not None:
            other.wake()
        self._waiting[name] = worker
        deadline = time.monotonic() + seconds
        try:
            while worker.woken_at is None and (left := deadline - time.monotonic()) > 0:
                await worker.wait(min(left, CONNECTION_SECONDS))
                if await is_gone():
                    break
        finally:
            if self._waiting.get(name) is worker:
                del self._waiting[name]
            self._left[name] = worker.woken_at or time.monotonic()
        return worker.look

    def _missed(self, worker: WaitingWorker) -> set[Noun]:
        """Return what rang while a worker did not wait. An unknown worker looks for everything."""
        left = self._left.get(worker.name)
        if left is None:
            return {"runs", "jobs"}
        return {look for (queue_name, look), at in self._rung.items() if queue_name in worker.queues and at >= left}

    def put(self, notice: Notice) -> None:
        """Wake workers for a ring. All of them return if rights have changed, so that each has to be allowed again."""
        if notice.name == RUNG:
            queue_name, look = notice.payload["queue"], notice.payload["look"]
            self._rung[queue_name, look] = time.monotonic()
            found = [worker for worker in self._waiting.values() if queue_name in worker.queues]
            for worker in found[:MOST_WOKEN]:
                self._waiting.pop(worker.name, None)
                worker.wake(look)
        elif notice.name == RIGHTS_CHANGED:
            self._wake_all()

    def end(self) -> None:
        """End all waits, because the application stops."""
        self._has_ended = True
        self._wake_all()

    def _wake_all(self) -> None:
        for worker in self._waiting.values():
            worker.wake()

    async def report_presence(self) -> None:
        """Store repeatedly that the waiting workers are there, since they send few heartbeats."""
        failures = FailureLog(log)
        while True:
            await asyncio.sleep(PRESENCE_SECONDS)
            if self._waiting:
                with failures.guard("Storing that workers wait"):
                    await run_in_threadpool(_store_presence, self._database, list(self._waiting))


def _store_presence(database: Database, names: list[str]) -> None:
    now = utc_now()
    with acting_as(BACKEND), database.write() as session:
        session.execute(update(Worker).where(Worker.name.in_(names), ~Worker.left).values(last_seen_at=now))


@asynccontextmanager
async def waiting_workers(database: Database, hub: Hub) -> AsyncIterator[Waits]:
    """Let workers wait for the doorbell inside the block."""
    waits = Waits(database)
    hub.others.add(waits)
    task = asyncio.create_task(waits.report_presence())
    try:
        yield waits
    finally:
        hub.others.discard(waits)
        await cancel_all([task])
