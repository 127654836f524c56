"""A thread that looks every few seconds: takes runs back from silent workers, and rings for runs that wait."""

import logging
import threading
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from backend.columns import utc_now
from backend.config import Settings
from backend.db import Database
from backend.live.notices import publish
from backend.models import QueueName, Run, Worker
from backend.runs.states import ACTIVE
from backend.runs.view import is_here
from backend.workers.attempts import conclude
from backend.workers.doorbell import Doorbell

log = logging.getLogger(__name__)


class Sweeper:
    """Reaper and reconciler; several backends may each run one, since each row is locked and looked at again."""

    def __init__(self, database: Database, settings: Settings, doorbell: Doorbell) -> None:
        self._database = database
        self._settings = settings
        self._doorbell = doorbell
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)
        # Workers could not report while no backend was up: give them time to before calling them silent.
        self._reap_from = utc_now() + timedelta(seconds=settings.lease_seconds / 4)
        self._here: set[str] = set()

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def sweep(self) -> None:
        """Look once."""
        now = utc_now()
        if now >= self._reap_from:
            self.reap(now)
        with self._database.read() as session:
            waiting = _waiting_with_idle_worker(session, now)
            here = {worker.name for worker in session.scalars(select(Worker)) if is_here(worker, now)}
        for queue, run_id in waiting.items():
            self._doorbell.ring(queue, run_id)
        for name in self._here - here:
            publish("worker.changed", {"name": name})
        self._here = here

    def reap(self, now: datetime) -> None:
        """Take back runs whose lease has expired."""
        expired = (Run.state.in_(ACTIVE), Run.lease_expires_at < now)
        with self._database.read() as session:
            found = session.scalars(select(Run.id).where(*expired)).all()
        for run_id in found:
            with self._database.write() as session:
                run = session.scalar(select(Run).where(Run.id == run_id, *expired).with_for_update())
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
    idle = {
        worker.queue for worker in session.scalars(select(Worker)) if worker.run_id is None and is_here(worker, now)
    }
    query = select(Run.id, Run.queue).where(Run.state == "queued", Run.queue.in_(idle))
    found: dict[QueueName, int] = {}
    for row in session.execute(query.order_by(Run.priority.desc(), Run.created_at, Run.id)):
        found.setdefault(row.queue, row.id)
    return found
