"""The doorbell: a message that there is work, such as "look at run 12". A lost or duplicate message does no harm.

Workers with a broker get it from Celery. The others wait for it at this backend.
"""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from typing import Annotated

from celery import Celery
from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from kombu.exceptions import KombuError
from redis.exceptions import RedisError
from sqlalchemy import update
from sqlalchemy.orm import Session

from arcadia_backend.accounts.roles import RIGHTS_CHANGED
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, after_commit
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Job, Run, Worker
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.channel import cancel_all
from arcadia_backend.live.notices import RUNG, Hub, Notice, publish
from arcadia_workers.contract.worker_api import JOBS_QUEUE, LOOK_FOR_JOBS_TASK, LOOK_TASK, WORKERS, Noun

log = logging.getLogger(__name__)

# A worker that receives one message claims until its queue is empty, so a few messages suffice.
MAX_WAITING = 16
BROKER_TIMEOUT_SECONDS = 1.0
BROKER_FAILURE = "The broker does not respond. Runs stay queued until it does"

# A ring wakes at most this many waiting workers, since each of them claims. The sweeper rings again for the others.
MOST_WOKEN = 4
# Pause between looks whether a worker that waits is still connected, and between reports of those that are.
CONNECTION_SECONDS, PRESENCE_SECONDS = 10.0, 5.0

_BROKER_ERRORS = (KombuError, RedisError, OSError)


class Doorbell:
    """Sender of doorbell messages. It uses a thread, so that a dead broker never delays a request."""

    def __init__(self, broker_url: str) -> None:
        self._celery = _producer(broker_url) if broker_url else None
        self._pending: queue.Queue[tuple[str, str, int] | None] = queue.Queue(maxsize=100)
        self._thread = threading.Thread(target=self._run, name="doorbell", daemon=True)
        self._failures = FailureLog(log)

    def start(self) -> None:
        """Start the sending thread."""
        self._thread.start()

    def stop(self) -> None:
        """Send the waiting messages, then stop the thread. Wait for a broker that does not respond only once."""
        if self._thread.is_alive():
            with suppress(queue.Full):
                self._pending.put(None, timeout=BROKER_TIMEOUT_SECONDS)
            self._thread.join(timeout=3 * BROKER_TIMEOUT_SECONDS)

    def ring(self, queue_name: str, number: int, task: str = LOOK_TASK) -> None:
        """Send a message soon. Drop it if many are waiting, since the sweeper rings again."""
        publish(RUNG, {"queue": queue_name, "look": "runs" if task == LOOK_TASK else "jobs"})
        if self._celery is not None:
            with suppress(queue.Full):
                self._pending.put_nowait((queue_name, task, number))

    def ring_after_commit(self, session: Session, waiting: Run | Job) -> None:
        """Ring after the commit for a run or job that this transaction queued."""
        if waiting.state != "queued":
            return
        if isinstance(waiting, Job):
            after_commit(session, lambda: self.ring(JOBS_QUEUE, waiting.id, LOOK_FOR_JOBS_TASK))
        elif (queue_name := waiting.queue) is not None and waiting.executor == WORKERS:
            after_commit(session, lambda: self.ring(queue_name, waiting.id))

    def _run(self) -> None:
        if self._celery is None:
            return
        while (ring := self._pending.get()) is not None:
            try:
                _send(self._celery, *ring)
                self._failures.recovered(BROKER_FAILURE)
            except Exception as error:
                # Catch every error, since without this thread nothing rings until the next start.
                expected = isinstance(error, _BROKER_ERRORS)
                self._failures.failed(BROKER_FAILURE, error, traceback=not expected, level=logging.WARNING)
                # Drop the waiting messages, since the sweeper rings again, but not a stop.
                stopped = False
                while not self._pending.empty():
                    stopped = self._pending.get() is None or stopped
                if stopped:
                    return


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


def _send(celery: Celery, queue_name: str, task: str, number: int) -> None:
    with celery.connection_for_write() as connection:
        connection.ensure_connection(max_retries=0, timeout=BROKER_TIMEOUT_SECONDS)
        if connection.default_channel.client.llen(queue_name) < MAX_WAITING:
            celery.send_task(task, args=[number], queue=queue_name, connection=connection, retry=False)


def get_doorbell(request: Request) -> Doorbell:
    """Return the doorbell of the application."""
    doorbell: Doorbell = request.app.state.doorbell
    return doorbell


Bell = Annotated[Doorbell, Depends(get_doorbell)]


def _producer(broker_url: str) -> Celery:
    celery = Celery("arcadia", broker=broker_url, set_as_current=False)
    celery.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        broker_connection_timeout=BROKER_TIMEOUT_SECONDS,
        broker_transport_options={
            "socket_timeout": BROKER_TIMEOUT_SECONDS,
            "socket_connect_timeout": BROKER_TIMEOUT_SECONDS,
            "socket_keepalive": True,
            "max_retries": 0,
        },
    )
    return celery
