"""Background scheduling of studies and practices."""

import logging
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.accounts.roles import present_scope
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, acting_as, current
from arcadia_backend.database.tables import Attempt, Measurement, Run, Study
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.errors import NotFound
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.job_kinds.practices.queries import find_due
from arcadia_backend.job_kinds.practices.service import continue_due, end_if_without_right, find_without_right
from arcadia_backend.live.background import BackgroundThread
from arcadia_backend.metrics.points import training_seconds
from arcadia_backend.runs import service as runs
from arcadia_backend.runs.history import kind_label, measure
from arcadia_backend.studies import planning, service
from arcadia_backend.studies.points import next_draw, read_specification
from arcadia_backend.studies.pruning import StudyPruner
from arcadia_backend.studies.queries import announce_verdicts
from arcadia_backend.studies.results import load_points
from arcadia_backend.studies.service import find_study
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.worker_api import ACTIVE, ENDED

NAME_PREFIX = "Measure "
MIN_TRAINING_SECONDS = 30.0
# Stop measurements that report nothing for this long after the claim.
MAX_DURATION = timedelta(minutes=5)


def queue_measurements(session: Session, configs: Iterable[RunConfig]) -> list[Run]:
    """Queue a run for each method with unknown speed, unless a measurement is already queued or active."""
    wanted: dict[str, RunConfig] = {}
    for config in configs:
        if measure(session, config.algorithm, config.env) is None:
            wanted.setdefault(config.algorithm, config)
    unfinished = select(Run.algorithm).join(Measurement, Measurement.run_id == Run.id).where(Run.state.not_in(ENDED))
    for algorithm in session.scalars(unfinished):
        wanted.pop(algorithm, None)
    queued = []
    for config in wanted.values():
        only_training = config.model_copy(update={"evaluate_every_steps": 0, "calibrate_every_steps": 0})
        name = NAME_PREFIX + kind_label((config.algorithm, config.env))
        queued.append(runs.add_to_queue(session, only_training, name=name))
    session.add_all(Measurement(run_id=run.id) for run in queued)
    session.flush()
    return queued


def has_work(session: Session) -> bool:
    """Return True if a measurement must be stopped or archived."""
    runs = _open(session)
    return any(run.state in ENDED for run in runs) or bool(_stoppable(session, runs))


def _open(session: Session, *, lock: bool = False) -> Sequence[Run]:
    query = select(Run).join(Measurement, Measurement.run_id == Run.id).where(Run.archived_at.is_(None))
    query = query.order_by(Run.id)
    return session.scalars(query.with_for_update(of=Run) if lock else query).all()


def _stoppable(session: Session, runs: Sequence[Run]) -> list[Run]:
    running = [run for run in runs if run.state in ACTIVE and run.desired == "run"]
    ids = [run.id for run in running]
    trained = training_seconds(session, ids)
    claimed = select(Attempt.run_id).where(Attempt.run_id.in_(ids), Attempt.claimed_at < utc_now() - MAX_DURATION)
    overdue = {*session.scalars(claimed)}
    return [run for run in running if trained[run.id] >= MIN_TRAINING_SECONDS or run.id in overdue]


log = logging.getLogger(__name__)

# Interval of the scheduler, as a share of the sweep interval. It is short because workers wait for the next run.
SWEEP_SHARE = 1 / 4


class StudyScheduler(BackgroundThread):
    """Background thread that schedules the runs of active studies and practices after each change.

    Several backends may each run one, because every change re-checks under a row lock.
    """

    def __init__(self, database: Database, settings: Settings, doorbell: Doorbell) -> None:
        self._database = database
        self._doorbell = doorbell
        super().__init__("study-scheduler", SWEEP_SHARE * settings.sweep_seconds, self._work)
        self._failures = FailureLog(log)
        self._pruner = StudyPruner(database)

    def run_once(self) -> None:
        """Schedule and prune studies, announce verdicts, continue practices, and end measurements. Log failures."""
        with self._failures.guard("Scheduling studies"):
            self._schedule_studies()
        with self._failures.guard("Announcing verdicts"):
            announce_verdicts(self._database)
        with self._failures.guard("Continuing practices"):
            self._continue_practices()
        with self._failures.guard("Ending measurements"):
            self._end_measurements()

    def _continue_practices(self) -> None:
        with self._database.read() as session:
            due, without_right = find_due(session), find_without_right(session)
        for practice_id in without_right:
            guard = self._failures.guard(f"Ending practice {practice_id}")
            with guard, self._database.write() as session, suppress(NotFound):
                end_if_without_right(session, practice_id)
        for practice_id in due:
            guard = self._failures.guard(f"Continuing practice {practice_id}")
            with guard, self._database.write() as session, suppress(NotFound):
                for queued in continue_due(session, practice_id):
                    self._doorbell.ring_after_commit(session, queued)

    def _end_measurements(self) -> None:
        with self._database.read() as session:
            due = has_work(session)
        if due:
            with self._database.write() as session:
                # Stop measurements that have trained long enough, and archive those that have ended.
                active = _open(session, lock=True)
                for run in _stoppable(session, active):
                    runs.act(session, run, "stop")
                for run in active:
                    if run.state in ENDED:
                        runs.act(session, run, "archive")

    def _schedule_studies(self) -> None:
        with self._database.read() as session:
            running = session.scalars(select(Study).where(Study.state == "running").order_by(Study.id)).all()
            scopes = {
                person_id: present_scope(session, person_id) for person_id in {each.person_id for each in running}
            }
        if not running:
            self._pruner.forget()
        for study in running:
            with self._failures.guard(f"Scheduling study {study.id}"), acting_as(scopes[study.person_id]):
                self._schedule(study)
            with self._failures.guard(f"Pruning study {study.id}"):
                self._pruner.prune(study)

    def _schedule(self, study: Study) -> None:
        """Schedule a study with the present rights of the person who runs it. Pause it once these are gone."""
        if not current().can_edit(study.project_id):
            with acting_as(BACKEND), self._database.write() as session, suppress(NotFound):
                service.pause_without_right(session, find_study(session, study.id, lock=True))
            return
        self._draw_points(study)
        with self._database.read() as session:
            due = service.has_work(session, study)
        if due:
            with self._database.write() as session, suppress(NotFound):
                for run in service.queue_next_runs(session, find_study(session, study.id, lock=True)):
                    self._doorbell.ring_after_commit(session, run)

    def _draw_points(self, study: Study) -> None:
        """Draw points from the results so far. Drawing is slow, so it happens outside of a transaction."""
        spec = read_specification(study)
        while spec.sampler == "tpe":
            with self._database.read() as session:
                if not service.needs_point(session, study):
                    return
                known = load_points(session, study)
            draw = next_draw(spec, known)
            with self._database.write() as session:
                locked = session.get(Study, study.id, with_for_update=True)
                # Another backend may have deleted or extended the study since.
                if locked is None or locked.state != "running" or len(load_points(session, locked)) != len(known):
                    return
                planning.add_points(session, locked, [draw], spec.seeds)
                service.announce_study(session, locked)

    def _work(self) -> float:
        """Schedule. Everything that makes a study continue is announced by a notice, but a failure is not."""
        self.run_once()
        return 0.0 if self._failures.has_failures else math.inf
