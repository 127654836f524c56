"""Submission of waiting runs to schedulers, as single jobs or as job arrays.

A submission is stored before its job is submitted, and its mark is the job's name. So a backend that is killed in
between finds the job again, and submits it only if the scheduler does not list it.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from arcadia_backend.caps import within_caps
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, after_commit
from arcadia_backend.database.tables import Run, RunSubmission, Study, StudyRun
from arcadia_backend.executors.executor import Executor, ExecutorError, JobOrder, TooManyJobsError
from arcadia_backend.live.notices import publish
from arcadia_backend.logs import note
from arcadia_backend.runs.states import announce_run, announcing_together
from arcadia_backend.runs.waiting import QUEUE_ORDER
from arcadia_backend.web.security import job_token
from arcadia_backend.worker_api.attempts import read_installation_id
from arcadia_workers.contract.worker_api import ACTIVE, EXECUTOR_TITLES, State

# Limit of the jobs and arrays that are submitted in one round, between which jobs are polled.
SUBMIT_BATCH = 100
# Limit of the submissions that are changed in one transaction, to keep locks short.
WRITE_BATCH = 100
# More changed runs have one notice together.
MAX_NOTICES = 20


def mark_prefix(installation: str) -> str:
    """Return the start of the names of all jobs of this installation."""
    return f"arcadia-{installation}-run-"


def mark_of(prefix: str, row: RunSubmission) -> str:
    """Return the mark of a submission that is not in an array, or of an array that starts with it."""
    return f"{prefix}{row.run_id}-{row.attempt}"


def token_of_job(settings: Settings, run_id: int, attempt: int) -> str:
    """Return the token that the job of a run sends."""
    return job_token(require_worker_token(settings), run_id, attempt)


def require_worker_token(settings: Settings) -> str:
    """Return the worker token. Raise ExecutorError if this server accepts no workers."""
    worker_token = settings.worker_token.get_secret_value()
    if not worker_token:
        raise ExecutorError("This server accepts no workers. Set ARCADIA_WORKER_TOKEN.")
    return worker_token


@dataclass(frozen=True)
class RunBatch:
    """Runs that become one job or array, with the limit of its simultaneous tasks."""

    run_ids: Sequence[int]
    limit: int | None = None


def waiting_batches(session: Session, name: str, max_orders: int) -> list[RunBatch]:
    """Return the runs to submit, in the order of the queue. The runs of a study are submitted together."""
    groups: dict[tuple[int | None, str | None, tuple[str, ...]], list[int]] = {}
    waiting = waiting_runs(name).add_columns(Run.queue, Run.job_options, StudyRun.study_id)
    rows = session.execute(waiting.outerjoin(StudyRun, StudyRun.run_id == Run.id)).all()
    allowed = {*within_caps(session, [row.id for row in rows])}
    for run_id, queue, options, study_id in (row for row in rows if row.id in allowed):
        groups.setdefault((study_id, queue, tuple(options)), []).append(run_id)
    studies = {study_id for study_id, *_ in groups if study_id is not None}
    (limits, growing), open_jobs = _read_studies(session, studies), _count_open(session, studies)
    batches: list[RunBatch] = []
    for (study_id, *_), ids in groups.items():
        if study_id in growing:
            continue
        limit = None if study_id is None else limits[study_id]
        chosen = ids
        if study_id is not None and limit is not None:
            # An array limits only its tasks. Other jobs of the study must not exceed the limit.
            is_first = open_jobs[study_id] == 0 and max_orders > 1
            chosen = ids[:max_orders] if is_first else ids[: max(0, limit - open_jobs[study_id])]
            open_jobs[study_id] += len(chosen)
        batches += [RunBatch(chosen[at : at + max_orders], limit) for at in range(0, len(chosen), max_orders)]
    return batches[:SUBMIT_BATCH]


def _read_studies(session: Session, ids: Collection[int]) -> tuple[dict[int, int], set[int]]:
    """Return how many runs of each study may train at once, and the studies that are still creating their runs."""
    studies = session.scalars(select(Study).where(Study.id.in_(ids))).all()
    is_planned = select(StudyRun.study_id).where(StudyRun.study_id.in_(ids), StudyRun.run_id.is_(None))
    planned = {*session.scalars(is_planned.distinct())}
    # The sampler tpe plans a run when another one has ended.
    growing = {
        study.id
        for study in studies
        if study.id in planned and study.state == "running" and study.specification.get("sampler") != "tpe"
    }
    return {study.id: study.specification["max_concurrent_runs"] for study in studies}, growing


def _count_open(session: Session, study_ids: Collection[int]) -> Counter[int]:
    """Return the number of open submissions of each study."""
    query = select(StudyRun.study_id, func.count()).join(RunSubmission, RunSubmission.run_id == StudyRun.run_id)
    query = query.where(StudyRun.study_id.in_(study_ids), RunSubmission.state != "ended")
    return Counter(dict(session.execute(query.group_by(StudyRun.study_id)).all()))


class Submitter:
    """Submits runs to one scheduler, and stores the handles of their jobs."""

    def __init__(self, database: Database, settings: Settings, name: str) -> None:
        self._database, self._settings, self._name = database, settings, name
        # Whether the scheduler refused a job in this round that has no options of its run.
        self.is_refused = False
        # Whether the scheduler accepts no job until others have ended.
        self.is_full = False
        # The largest number of jobs that the scheduler may accept at once. Null if it has accepted each number.
        self._accepted: int | None = None

    def submit_waiting(self, executor: Executor) -> None:
        """Submit the waiting runs, until the scheduler refuses one. Submit fewer at once if there are too many."""
        with self._database.read() as session:
            if session.scalar(waiting_runs(self._name).limit(1)) is None:
                return
        try:
            max_orders = executor.max_orders
        except ExecutorError:
            max_orders = 1  # the submission stores its message
        with self._database.read() as session:
            batches = waiting_batches(session, self._name, min(max_orders, self._accepted or max_orders))
        for batch in batches:
            if not self._submit(executor, batch):
                self.submit_waiting(executor)
                return
            if self.is_refused or self.is_full:
                return

    def _submit(self, executor: Executor, batch: RunBatch) -> bool:
        """Store the submissions of waiting runs, and submit them. Return False if these are too many at once."""
        with self._database.write() as session:
            # Checked again: a worker or another scheduler may have used the caps.
            allowed = within_caps(session, batch.run_ids, lock=True)
            locked = select(Run).where(Run.id.in_(allowed)).order_by(Run.id).with_for_update()
            runs = {run.id: run for run in session.scalars(locked)}
            still = session.scalars(waiting_runs(self._name).where(Run.id.in_(allowed))).all()
            last = select(RunSubmission.run_id, func.max(RunSubmission.attempt)).where(RunSubmission.run_id.in_(still))
            submitted = dict(session.execute(last.group_by(RunSubmission.run_id)).all())
            rows = [
                RunSubmission(run_id=run_id, attempt=max(runs[run_id].attempt, submitted.get(run_id, 0)) + 1)
                for run_id in still
            ]
            for row in rows:
                row.executor = self._name
            session.add_all(rows)
            _number_tasks(session, rows)
            session.flush()
        return self._send(executor, rows, batch.limit)

    def submit_again(self, executor: Executor, missing: Sequence[RunSubmission]) -> None:
        """Submit jobs that the scheduler does not list. Only one backend does so."""
        groups: dict[str | int, list[RunSubmission]] = {}
        for row in missing:
            groups.setdefault(row.array_mark or row.id, []).append(row)
        for group in groups.values():
            seen = {row.id: row.submitted_at for row in group}
            with self._database.write() as session:
                again = []
                for run, row in lock_submissions(session, [*seen]):
                    if row.handle is not None or row.submitted_at != seen[row.id]:
                        continue
                    if needs_job(run.state, run.archived_at):
                        row.submitted_at = utc_now()
                        again.append(row)
                    else:
                        row.state, row.ended_at, row.reason, row.unknown_since = "ended", utc_now(), None, None
                        announce_run(session, run.id, "run.changed")
                _number_tasks(session, again)
                studies = select(StudyRun.study_id).where(StudyRun.run_id.in_([row.run_id for row in again]))
                study_id = session.scalar(studies)
                limit = None if study_id is None else _read_studies(session, [study_id])[0].get(study_id)
            if again:
                self._send(executor, again, limit)
            if self.is_refused or self.is_full:
                return

    def _send(self, executor: Executor, rows: Sequence[RunSubmission], limit: int | None) -> bool:
        """Submit the job of one row, or the array of several. All have the same needs.

        Return False if the scheduler accepts fewer at once. Their runs wait again then.
        """
        if not rows:
            return True
        with self._database.read() as session:
            prefix = mark_prefix(read_installation_id(session))
            first = session.get(Run, rows[0].run_id)
            queue, options = (first.queue or "cpu", first.job_options) if first is not None else ("cpu", [])
        handles: list[str] = []
        problem = None
        try:
            orders = [self._order(prefix, row, queue, options) for row in rows]
            handles = executor.submit(orders, limit)
            self._accepted, self.is_full = self._accepted and 2 * self._accepted, False
        except TooManyJobsError as error:
            if len(rows) > 1:
                self._accepted = len(rows) // 2
                with self._database.write() as session:
                    session.execute(delete(RunSubmission).where(RunSubmission.id.in_([row.id for row in rows])))
                return False
            problem, self.is_full = str(error), True
        except ExecutorError as error:
            problem = str(error)
            # A wrong option of one run does not delay the others.
            self.is_refused = self.is_refused or not options
        handle_of = dict(zip((row.id for row in rows), handles, strict=False))
        for ids in batches_of([row.id for row in rows]):
            # If a run was deleted, its job is cancelled once it is listed.
            with self._database.write() as session, announcing(session, len(ids)):
                for run, sent in lock_submissions(session, ids):
                    if problem is not None:
                        sent.reason = problem
                        announce_run(session, run.id, "run.changed")
                    elif sent.handle is None:
                        sent.handle, sent.state = handle_of[sent.id], "waiting"
                        sent.reason = sent.unknown_since = None
                        note_and_announce(
                            session, run, f"Submitted to {EXECUTOR_TITLES[sent.executor]} as job {sent.handle}."
                        )
        return True

    def _order(self, prefix: str, row: RunSubmission, queue: str, options: Sequence[str]) -> JobOrder:
        worker = ("--run", str(row.run_id), "--attempt", str(row.attempt), "--once", "--queue", queue)
        token = token_of_job(self._settings, row.run_id, row.attempt)
        return JobOrder(mark_of(prefix, row), worker, token, needs_gpu=queue == "gpu", options=tuple(options))


def _number_tasks(session: Session, rows: Sequence[RunSubmission]) -> None:
    """Store the place of each submission in the array that they become, if there are several."""
    prefix = mark_prefix(read_installation_id(session))
    for task, row in enumerate(rows):
        row.array_mark = mark_of(prefix, rows[0]) if len(rows) > 1 else None
        row.task = task if len(rows) > 1 else None


def batches_of(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split ids into batches for one transaction each."""
    for start in range(0, len(ids), WRITE_BATCH):
        yield ids[start : start + WRITE_BATCH]


@contextmanager
def announcing(session: Session, count: int) -> Iterator[None]:
    """Publish the notices about many runs together."""
    if count <= MAX_NOTICES:
        yield
        return
    with announcing_together(session) as names:
        yield
    for name in sorted(names):
        after_commit(session, lambda name=name: publish(name, {}))  # type: ignore[misc]


def note_and_announce(session: Session, run: Run, message: str) -> None:
    """Add a line to the log of a run, and announce it."""
    note(session, run, message)
    announce_run(session, run.id, "run.changed", "run.log")


def needs_job(state: State, archived_at: datetime | None) -> bool:
    """Return True if the job of a run must train, or must continue to do so."""
    return state in ACTIVE or (state == "queued" and archived_at is None)


def lock_submissions(session: Session, ids: Sequence[int]) -> list[tuple[Run, RunSubmission]]:
    """Lock open submissions with their runs, in the order of claims. Leave out ended and deleted ones."""
    run_ids = select(RunSubmission.run_id).where(RunSubmission.id.in_(ids))
    runs = {
        run.id: run
        for run in session.scalars(select(Run).where(Run.id.in_(run_ids)).order_by(Run.id).with_for_update())
    }
    wanted = select(RunSubmission).where(RunSubmission.id.in_(ids)).order_by(RunSubmission.id).with_for_update()
    rows = session.scalars(wanted.execution_options(populate_existing=True))
    return [(runs[row.run_id], row) for row in rows if row.run_id in runs and row.state != "ended"]


def open_submissions(name: str) -> Select[RunSubmission]:
    """Return the query for the submissions of a scheduler whose jobs have not ended."""
    return (
        select(RunSubmission)
        .where(RunSubmission.executor == name, RunSubmission.state != "ended")
        .order_by(RunSubmission.id)
    )


def waiting_runs(name: str) -> Select[int]:
    """Return the query for the runs that must be submitted, in the order of the queue."""
    has_job = select(RunSubmission.id).where(RunSubmission.run_id == Run.id, RunSubmission.state != "ended").exists()
    waiting = (Run.state == "queued", Run.executor == name, Run.archived_at.is_(None), ~has_job)
    return select(Run.id).where(*waiting).order_by(*QUEUE_ORDER)
