"""A thread that, every moment, has studies go on whose runs have ended."""

import logging
import threading
from contextlib import suppress

from sqlalchemy import select

from backend.config import Settings
from backend.database.engine import Database
from backend.database.tables import Study
from backend.doorbell import Doorbell
from backend.errors import NotFound
from backend.failure_log import FailureLog
from backend.studies import measurements, planning, run_queue
from backend.studies.points import read_specification
from backend.studies.pruning import StudyPruner
from backend.studies.results import load_points
from backend.studies.sampling import next_draw
from backend.studies.service import find_study

log = logging.getLogger(__name__)

# How often it looks, in parts of the sweeper's pause: a worker waits for the next run of a study.
PART = 1 / 4


class StudyScheduler:
    """Several backends may each run one, since a study is locked and looked at again before it goes on."""

    def __init__(self, database: Database, settings: Settings, doorbell: Doorbell) -> None:
        self._database = database
        self._doorbell = doorbell
        self._pause = PART * settings.sweep_seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._failures = FailureLog(log)
        self._judge = StudyPruner(database)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def run_once(self) -> None:
        """Have each study go on that can, whatever becomes of the others."""
        with self._failures.guard("Scheduling studies"):
            self._keep()
        with self._failures.guard("Ending measurements"):
            self._end_measurements()

    def _end_measurements(self) -> None:
        with self._database.read() as session:
            due = measurements.has_work(session)
        if due:
            with self._database.write() as session:
                measurements.end_measurements(session)

    def _keep(self) -> None:
        with self._database.read() as session:
            running = session.scalars(select(Study).where(Study.state == "running").order_by(Study.id)).all()
        if not running:
            self._judge.forget()
        for study in running:
            with self._failures.guard(f"Scheduling study {study.id}"):
                self._go_on(study)
            with self._failures.guard(f"Pruning study {study.id}"):
                self._judge.judge(study)

    def _go_on(self, study: Study) -> None:
        self._draw(study)
        with self._database.read() as session:
            due = run_queue.has_work(session, study)
        if due:
            with self._database.write() as session, suppress(NotFound):
                for run in run_queue.queue_next_runs(session, find_study(session, study.id, lock=True)):
                    self._doorbell.ring_after_commit(session, run)

    def _draw(self, study: Study) -> None:
        """Draw points by what the runs have come to; a slow thing, so outside of the transaction that plans it."""
        asked = read_specification(study)
        while asked.sampler == "tpe":
            with self._database.read() as session:
                if not run_queue.needs_point(session, study):
                    return
                known = load_points(session, study)
            drawn = next_draw(asked, known)
            with self._database.write() as session:
                locked = session.get(Study, study.id, with_for_update=True)
                # Meanwhile it may have been removed too.
                if locked is None or locked.state != "running" or len(load_points(session, locked)) != len(known):
                    return
                planning.add_points(session, locked, [drawn], asked.seeds)
                run_queue.announce_study(session, locked)

    def _run(self) -> None:
        while not self._stopping.wait(self._pause):
            self.run_once()
