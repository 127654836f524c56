"""Workers that do jobs, such as evaluations, in jobs of a scheduler. One is submitted when jobs wait, and ends after.

A row is stored before its job is submitted, and its mark is the job's name. So a backend that is killed in between
finds the job again, or submits another one, and cancels the first if that appears later.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, after_commit
from arcadia_backend.database.tables import ExecutorSettings, Job, JobWorker, Worker
from arcadia_backend.executors.executor import DEFAULT_JOB_WORKERS, Executor, ExecutorError, JobOrder, SchedulerJob
from arcadia_backend.executors.submitting import require_worker_token
from arcadia_backend.jobs import EXPECTED_CLAIM_TIME, executor_of_job
from arcadia_backend.live.notices import publish
from arcadia_backend.web.security import job_worker_token
from arcadia_backend.worker_api.attempts import read_installation_id
from arcadia_backend.workers import is_connected, open_workers
from arcadia_workers.contract.worker_api import EXECUTOR_TITLES, MOST_JOBS

log = logging.getLogger(__name__)

# Time after which the scheduler lists a job whose backend was killed while it submitted it.
LISTED_AFTER = timedelta(seconds=10)
# After a job that did nothing, the next one waits. Each further failure doubles the time.
FIRST_DELAY, MAX_DELAY = timedelta(seconds=15), timedelta(minutes=10)
FORGOTTEN_AFTER = timedelta(days=7)


class JobWorkers:
    """The workers for jobs of one scheduler."""

    def __init__(self, database: Database, settings: Settings, name: str, missing_after: timedelta) -> None:
        self._database, self._settings, self._name, self._missing_after = database, settings, name, missing_after

    def is_idle(self, session: Session) -> bool:
        """Return True if no job waits for the scheduler, and it has no job of this server that does jobs."""
        has_open = session.scalar(select(JobWorker.id).where(*self._is_open).limit(1))
        return has_open is None and session.scalar(select(Job.id).where(*self._is_waiting).limit(1)) is None

    @property
    def _is_open(self) -> tuple[ColumnElement[bool], ...]:
        return JobWorker.executor == self._name, JobWorker.state != "ended"

    @property
    def _is_waiting(self) -> tuple[ColumnElement[bool], ...]:
        return Job.state == "queued", executor_of_job() == self._name

    def follow(self, executor: Executor) -> None:
        """Compare the workers with the jobs that the scheduler lists. Cancel jobs that are not needed."""
        with self._database.read() as session:
            prefix = self._prefix(session)
            handles = {row.handle for row in session.scalars(select(JobWorker).where(*self._is_open)) if row.handle}
        try:
            found, listed = executor.find(prefix), executor.poll(handles)
        except ExecutorError as error:
            self._mark_unknown(str(error))
            return
        by_mark = {job.mark: job for job in found}
        canceled: list[str] = []
        with self._database.write() as session:
            rows = session.scalars(select(JobWorker).where(*self._is_open).order_by(JobWorker.id).with_for_update())
            is_needed = session.scalar(select(Job.id).where(*self._is_waiting).limit(1)) is not None
            known = set()
            for row in rows.all():
                known.add(f"{prefix}{row.id}")
                job = listed.get(row.handle or "") or by_mark.get(f"{prefix}{row.id}")
                before = _shown(row)
                self._store(session, row, job)
                if job is not None and row.state == "cancelling":
                    canceled.append(job.handle)
                elif job is not None and row.state == "waiting" and not is_needed:
                    row.state = "cancelling"
                    canceled.append(job.handle)
                if _shown(row) != before:
                    _announce(session, self._name)
        canceled += [job.handle for job in found if job.mark not in known and job.phase != "ended"]
        if canceled:
            try:
                executor.cancel(canceled)
            except ExecutorError as error:
                log.warning("Jobs %s cannot be cancelled, retrying: %s", ", ".join(canceled), error)

    def _store(self, session: Session, row: JobWorker, job: SchedulerJob | None) -> None:
        """Store the state of a job, which is None if the scheduler does not list it."""
        now = utc_now()
        if job is None:
            if row.handle is None and now - row.submitted_at >= LISTED_AFTER:
                _end(row, row.reason or f"{EXECUTOR_TITLES[self._name]} does not list its job.")
            elif row.handle is not None:
                row.unknown_since = row.unknown_since or now
                if now - row.unknown_since >= self._missing_after and not self._is_connected(session, row, now):
                    _end(row, f"{EXECUTOR_TITLES[self._name]} does not list job {row.handle} any more.")
            return
        row.handle, row.unknown_since = job.handle, None
        row.scheduler_state, row.host = job.scheduler_state, job.host or row.host
        if job.phase == "ended":
            how = f" and {job.status}" if job.status else ""
            failed = f"Job {job.handle} of {EXECUTOR_TITLES[self._name]} ended as {job.scheduler_state}{how}, "
            _end(row, None if job.outcome == "completed" else f"{failed}without doing a job.")
        elif row.state != "cancelling":
            row.state, row.reason = job.phase, job.reason

    @staticmethod
    def _is_connected(session: Session, row: JobWorker, now: datetime) -> bool:
        workers = session.scalars(select(Worker).where(Worker.name.endswith(f".jobs-{row.id}", autoescape=True)))
        return any(is_connected(worker, now) for worker in workers)

    def _mark_unknown(self, reason: str) -> None:
        with self._database.write() as session:
            for row in session.scalars(select(JobWorker).where(*self._is_open).with_for_update()):
                row.unknown_since, row.reason = row.unknown_since or utc_now(), reason

    def submit(self, executor: Executor) -> None:
        """Submit a worker if more jobs wait than the others can do."""
        with self._database.read() as session:
            if not self._needs_another(session):
                return
        with self._database.write() as session:
            # Only one backend submits.
            stored = session.get(ExecutorSettings, self._name, with_for_update=True)
            if stored is None or not self._needs_another(session):
                return
            session.execute(delete(JobWorker).where(JobWorker.ended_at < utc_now() - FORGOTTEN_AFTER))
            row = JobWorker(executor=self._name)
            session.add(row)
            session.flush()
            number, prefix = row.id, self._prefix(session)
            slots = _slots(stored)
            _announce(session, self._name)
        problem = handle = None
        arguments = ("--job-worker", str(number), "--jobs", str(slots))
        try:
            token = job_worker_token(require_worker_token(self._settings), number)
            order = JobOrder(f"{prefix}{number}", arguments, token)
            (handle,) = executor.submit([order])
        except ExecutorError as error:
            problem = str(error)
        with self._database.write() as session:
            sent = session.get(JobWorker, number, with_for_update=True)
            if sent is not None and sent.state == "submitting":
                sent.handle, sent.reason = handle or sent.handle, problem
                sent.state = "waiting" if sent.handle else "submitting"
                _announce(session, self._name)

    def _needs_another(self, session: Session) -> bool:
        stored = session.get(ExecutorSettings, self._name)
        most = stored.settings.get("job_workers", DEFAULT_JOB_WORKERS) if stored is not None else 0
        if stored is None or not most:
            return False
        now = utc_now()
        waiting = select(func.count()).select_from(Job).where(*self._is_waiting)
        if any(worker.job_slots for worker in open_workers(session, now)):
            # A worker of this installation may take it.
            waiting = waiting.where(Job.created_at < now - EXPECTED_CLAIM_TIME)
        count = session.scalars(waiting).one()
        if not count:
            return False
        own = select(Worker.name).where(Worker.executor == self._name)
        held = select(func.count()).select_from(Job).where(Job.state == "running", Job.worker.in_(own))
        wanted = -(-(count + session.scalars(held).one()) // _slots(stored))
        has = session.scalars(select(func.count()).select_from(JobWorker).where(*self._is_open)).one()
        return has < min(most, wanted) and now >= self._next_submission(session)

    def _next_submission(self, session: Session) -> datetime:
        """Return when the next worker may be submitted. It waits after workers that did nothing."""
        ended = select(JobWorker).where(JobWorker.executor == self._name, JobWorker.state == "ended")
        failures = 0
        last: datetime | None = None
        for row in session.scalars(ended.order_by(JobWorker.id.desc()).limit(10)):
            if row.reason is None:
                break
            failures, last = failures + 1, last or row.ended_at
        return datetime.min.replace(tzinfo=utc_now().tzinfo) if last is None else last + _delay(failures)

    @staticmethod
    def _prefix(session: Session) -> str:
        return f"arcadia-{read_installation_id(session)}-jobs-"


def _slots(stored: ExecutorSettings) -> int:
    """Return how many jobs a worker does at once: one on each core."""
    cores: int = stored.settings.get("cores", 1)
    return max(1, min(cores, MOST_JOBS))


def _delay(failures: int) -> timedelta:
    return min(MAX_DELAY, FIRST_DELAY * float(2 ** (failures - 1)))


def _end(row: JobWorker, failure: str | None) -> None:
    """End a row. A failure counts if its worker did no job, and was not cancelled."""
    is_failure = not row.was_used and row.state != "cancelling"
    row.state, row.ended_at, row.unknown_since = "ended", utc_now(), None
    row.reason = failure if is_failure else None


def _shown(row: JobWorker) -> Sequence[object]:
    return row.state, row.handle, row.scheduler_state, row.reason


def _announce(session: Session, name: str) -> None:
    """Let pages ask again why jobs wait."""
    after_commit(session, lambda: publish("worker.changed", {"name": name}))
