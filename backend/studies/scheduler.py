"""Background scheduling of studies."""

import logging
import math
from contextlib import suppress

from sqlalchemy import select

from backend.config import Settings
from backend.database.engine import Database
from backend.database.tables import Study
from backend.doorbell import Doorbell
from backend.errors import NotFound
from backend.failure_log import FailureLog
from backend.live.background import BackgroundThread
from backend.studies import measurements, planning, run_queue
from backend.studies.points import read_specification
from backend.studies.pruning import StudyPruner
from backend.studies.results import load_points
from backend.studies.sampling import next_draw
from backend.studies.service import find_study
from backend.studies.verdicts import announce_verdicts

log = logging.getLogger(__name__)

# Interval of the scheduler, as a share of the sweep interval. It is short because workers wait for the next run.
SWEEP_SHARE = 1 / 4


class StudyScheduler:
    """Background thread that schedules the runs of active studies after each change.

    Several backends may each run one, because every change re-checks the study under a row lock.
    """

    def __init__(self, database: Database, settings: Settings, doorbell: Doorbell) -> None:
        self._database = database
        self._doorbell = doorbell
        self._thread = BackgroundThread("study-scheduler", SWEEP_SHARE * settings.sweep_seconds, self._work)
        self._failures = FailureLog(log)
        self._pruner = StudyPruner(database)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._thread.stop()

    def run_once(self) -> None:
        """Schedule and prune all running studies, announce verdicts, and end measurements. Log failures."""
        with self._failures.guard("Scheduling studies"):
            self._schedule_studies()
        with self._failures.guard("Announcing verdicts"):
            announce_verdicts(self._database)
        with self._failures.guard("Ending measurements"):
            self._end_measurements()

    def _end_measurements(self) -> None:
        with self._database.read() as session:
            due = measurements.has_work(session)
        if due:
            with self._database.write() as session:
                measurements.end_measurements(session)

    def _schedule_studies(self) -> None:
        with self._database.read() as session:
            running = session.scalars(select(Study).where(Study.state == "running").order_by(Study.id)).all()
        if not running:
            self._pruner.forget()
        for study in running:
            with self._failures.guard(f"Scheduling study {study.id}"):
                self._schedule(study)
            with self._failures.guard(f"Pruning study {study.id}"):
                self._pruner.prune(study)

    def _schedule(self, study: Study) -> None:
        self._draw_points(study)
        with self._database.read() as session:
            due = run_queue.has_work(session, study)
        if due:
            with self._database.write() as session, suppress(NotFound):
                for run in run_queue.queue_next_runs(session, find_study(session, study.id, lock=True)):
                    self._doorbell.ring_after_commit(session, run)

    def _draw_points(self, study: Study) -> None:
        """Draw points from the results so far. Drawing is slow, so it happens outside of a transaction."""
        spec = read_specification(study)
        while spec.sampler == "tpe":
            with self._database.read() as session:
                if not run_queue.needs_point(session, study):
                    return
                known = load_points(session, study)
            draw = next_draw(spec, known)
            with self._database.write() as session:
                locked = session.get(Study, study.id, with_for_update=True)
                # Another backend may have deleted or extended the study since.
                if locked is None or locked.state != "running" or len(load_points(session, locked)) != len(known):
                    return
                planning.add_points(session, locked, [draw], spec.seeds)
                run_queue.announce_study(session, locked)

    def _work(self) -> float:
        """Schedule. Everything that makes a study continue is announced by a notice, but a failure is not."""
        self.run_once()
        return 0.0 if self._failures.has_failures else math.inf
