"""A thread that, every few seconds, takes runs back from silent workers and rings for waiting runs."""

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from backend.columns import utc_now
from backend.config import Settings
from backend.db import Database
from backend.doorbell import Doorbell
from backend.files.removal import remove_waiting
from backend.live.notices import publish
from backend.models import Run
from backend.presence import workers_here
from backend.runs.states import ACTIVE
from backend.space import give_back_space
from backend.workers.attempts import conclude
from backend.workers.silence import Silence
from workers.contract.worker_api import QueueName

log = logging.getLogger(__name__)


class Sweeper:
    """Several backends may each run one, since each row is locked and checked again before it changes."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        doorbell: Doorbell,
        clock: Callable[[], float] = time.monotonic,  # stands still while the machine is suspended
    ) -> None:
        self._database = database
        self._settings = settings
        self._doorbell = doorbell
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)
        self._silence = Silence(settings.lease_seconds, settings.sweep_seconds, clock)
        self._here: set[str] = set()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def sweep(self) -> None:
        """Take back expired runs, ring for waiting ones, and announce workers that fell silent."""
        now = utc_now()
        self.reap(now)
        with self._database.read() as session:
            waiting = _waiting_with_idle_worker(session, now)
            here = {worker.name for worker in workers_here(session, now)}
        for queue, run_id in waiting.items():
            self._doorbell.ring(queue, run_id)
        remove_waiting(self._database.files_dir)
        give_back_space(self._database)
        for name in self._here - here:
            publish("worker.changed", {"name": name})
        self._here = here

    def reap(self, now: datetime) -> None:
        """Take back runs whose workers have been silent for too long."""
        with self._database.read() as session:
            query = select(Run.id, Run.attempt, Run.lease_expires_at).where(
                Run.state.in_(ACTIVE), Run.lease_expires_at.is_not(None)
            )
            leases = {(row.id, row.attempt): row.lease_expires_at for row in session.execute(query)}
        for run_id, attempt in self._silence.silent(leases, now):
            with self._database.write() as session:
                unrenewed = (Run.attempt == attempt, Run.lease_expires_at == leases[run_id, attempt])
                mine = select(Run).where(Run.id == run_id, Run.state.in_(ACTIVE), *unrenewed)
                run = session.scalar(mine.with_for_update())
                if run is None:
                    continue
                log.warning("run %d: worker %s fell silent", run.id, run.worker)
                conclude(session, self._settings, run, "lost")
                self._doorbell.ring_after_commit(session, run)

    def _run(self) -> None:
        while not self._stopping.wait(self._settings.sweep_seconds):
            try:
                self.sweep()
            except SQLAlchemyError:
                log.exception("the database does not answer; looking again in %g s", self._settings.sweep_seconds)


def _waiting_with_idle_worker(session: Session, now: datetime) -> dict[QueueName, int]:
    """The next run of each queue that has both a waiting run and an idle worker."""
    idle = {worker.queue for worker in workers_here(session, now) if worker.run_id is None}
    query = select(Run.id, Run.queue).where(Run.state == "queued", Run.queue.in_(idle))
    found: dict[QueueName, int] = {}
    for row in session.execute(query.order_by(Run.priority.desc(), Run.created_at, Run.id)):
        found.setdefault(row.queue, row.id)
    return found
