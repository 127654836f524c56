"""The doorbell: a message that there is work, such as "look at run 12". A lost or duplicate message does no harm.

Workers with a broker get it from Celery. The others wait for it at this backend.
"""

import logging
import queue
import threading
from contextlib import suppress
from typing import Annotated

from celery import Celery
from fastapi import Depends, Request
from kombu.exceptions import KombuError
from redis.exceptions import RedisError
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import after_commit
from arcadia_backend.database.tables import Job, Run
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.notices import RUNG, publish
from arcadia_workers.contract.worker_api import JOBS_QUEUE, LOOK_FOR_JOBS_TASK, LOOK_TASK, WORKERS

log = logging.getLogger(__name__)

# A worker that receives one message claims until its queue is empty, so a few messages suffice.
MAX_WAITING = 16
BROKER_TIMEOUT_SECONDS = 1.0
BROKER_FAILURE = "The broker does not respond. Runs stay queued until it does"

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
