"""A thread that, every few seconds, takes runs back from silent workers and rings for waiting runs."""

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.chores import Chores
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
from backend.workers.registry import forget_gone_workers
from backend.workers.silence import Held, Silence
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
        self._chores = Chores()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def sweep(self) -> None:
        """Do all that is to be done every few seconds, each whatever becomes of the others."""
        now = utc_now()
        for name, work in (
            ("Taking runs back from silent workers", lambda: self.reap(now)),
            ("Ringing for waiting runs", lambda: self._ring(now)),
            ("Removing files", lambda: remove_waiting(self._database.files_dir)),
            ("Giving space back", lambda: give_back_space(self._database)),
            ("Forgetting workers", lambda: forget_gone_workers(self._database, now)),
        ):
            self._chores.do(name, work)

    def _ring(self, now: datetime) -> None:
        """Ring for waiting runs, and announce workers that fell silent."""
        with self._database.read() as session:
            waiting = _waiting_with_idle_worker(session, now)
            here = {worker.name for worker in workers_here(session, now)}
        for queue, run_id in waiting.items():
            self._doorbell.ring(queue, run_id)
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
        for held in self._silence.silent(leases, now):
            self._chores.do(f"Taking back run {held[0]}", lambda held=held: self._take_back(held, leases[held]))  # type: ignore[misc]

    def _take_back(self, held: Held, lease: datetime) -> None:
        run_id, attempt = held
        with self._database.write() as session:
            unrenewed = (Run.attempt == attempt, Run.lease_expires_at == lease)
            mine = select(Run).where(Run.id == run_id, Run.state.in_(ACTIVE), *unrenewed)
            run = session.scalar(mine.with_for_update())
            if run is None:
                return
            log.warning("run %d: worker %s fell silent", run.id, run.worker)
            conclude(session, self._settings, run, "lost")
            self._doorbell.ring_after_commit(session, run)

    def _run(self) -> None:
        while not self._stopping.wait(self._settings.sweep_seconds):
            self.sweep()


def _waiting_with_idle_worker(session: Session, now: datetime) -> dict[QueueName, int]:
    """The next run of each queue that has both a waiting run and an idle worker."""
    idle = {worker.queue for worker in workers_here(session, now) if worker.run_id is None}
    query = select(Run.id, Run.queue).where(Run.state == "queued", Run.queue.in_(idle))
    found: dict[QueueName, int] = {}
    for row in session.execute(query.order_by(Run.priority.desc(), Run.created_at, Run.id)):
        found.setdefault(row.queue, row.id)
    return found
