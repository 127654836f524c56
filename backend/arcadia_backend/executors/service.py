"""Changes to runs that follow from the states of their jobs on schedulers."""

import logging
import math
import re
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend import usage
from arcadia_backend.alerts.service import raise_run_end
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Attempt, ExecutorSettings, Run, RunSubmission
from arcadia_backend.executors import EXECUTORS
from arcadia_backend.executors.executor import NO_OUTPUT, Executor, ExecutorError, SchedulerJob
from arcadia_backend.executors.job_workers import JobWorkers
from arcadia_backend.executors.submitting import (
    Submitter,
    announcing,
    batches_of,
    lock_submissions,
    mark_of,
    mark_prefix,
    needs_job,
    note_and_announce,
    open_submissions,
    waiting_runs,
)
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.background import BackgroundThread
from arcadia_backend.logs import note
from arcadia_backend.runs.states import announce_run, queue_again
from arcadia_backend.worker_api.attempts import count_loss, read_installation_id
from arcadia_backend.worker_api.runs import RUNS
from arcadia_workers.contract.worker_api import ACTIVE, EXECUTOR_TITLES

log = logging.getLogger(__name__)

# The interval of the thread, as a share of the sweep interval.
SWEEP_SHARE = 1 / 4
# Time after which the scheduler lists a submission whose backend was killed.
RESUBMIT_AFTER = timedelta(seconds=10)
# After its run has ended, a job ends without being cancelled within this time.
ENDING_SECONDS = 60.0
SHOWN_OUTPUT = 500


class SubmissionThread(BackgroundThread):
    """Background thread that submits runs to one scheduler, and follows their jobs.

    Each scheduler has its own thread, so a hanging scheduler does not delay the others. Several backends may run
    them, because every change is checked again under a row lock.
    """

    def __init__(self, database: Database, settings: Settings, name: str) -> None:
        self._database, self._settings, self._name = database, settings, name
        super().__init__(f"submissions-{name}", SWEEP_SHARE * settings.sweep_seconds, self.run_once)
        self._failures = FailureLog(log)
        self._opened: tuple[dict[str, object], Executor] | None = None
        self._polled_at: float | None = None
        self._submitter = Submitter(database, settings, name)
        self._job_workers = JobWorkers(database, settings, name, EXECUTORS[name].missing_after)
        # When a run was first seen to have ended before its running job, by submission.
        self._ending: dict[int, float] = {}

    def run_once(self) -> float:
        """Serve the scheduler if it is set up. Return the seconds until the next round."""
        due_at = math.inf
        with self._failures.guard(f"Submitting runs to {EXECUTOR_TITLES[self._name]}"):
            if (executor := self._open()) is not None:
                due_at = self._serve(executor)
        return self._settings.scheduler_seconds if self._failures.has_failures else due_at - time.monotonic()

    def _open(self) -> Executor | None:
        """Return the scheduler if it is set up. Open it again if its settings changed."""
        with self._database.read() as session:
            stored = session.get(ExecutorSettings, self._name)
        if stored is None:
            return None
        if self._opened is None or self._opened[0] != stored.settings:
            kind, interval = EXECUTORS[self._name], self._settings.scheduler_seconds / 2
            opened = kind.open(kind.settings.model_validate(stored.settings), self._settings, interval)
            self._opened = (stored.settings, opened)
        return self._opened[1]

    def _serve(self, executor: Executor) -> float:
        """Follow the jobs, and submit waiting runs. Return the time of the next round."""
        self._submitter.is_refused = False
        with self._database.read() as session:
            queries = (open_submissions(self._name), waiting_runs(self._name))
            is_idle = all(session.scalar(query.limit(1)) is None for query in queries)
            is_idle = is_idle and self._job_workers.is_idle(session)
        interval = self._settings.scheduler_seconds
        is_idle = is_idle and self._polled_at is not None
        if not is_idle and (self._polled_at is None or time.monotonic() - self._polled_at >= interval):
            self._polled_at = time.monotonic()
            self._poll(executor)
            self._job_workers.follow(executor)
        self._job_workers.submit(executor)
        if not self._submitter.is_refused and not self._submitter.is_full:
            self._submitter.submit_waiting(executor)
        return math.inf if is_idle or self._polled_at is None else self._polled_at + interval

    def _poll(self, executor: Executor) -> None:
        """Compare the submissions with the jobs that the scheduler lists."""
        with self._database.read() as session:
            prefix = mark_prefix(read_installation_id(session))
            handles = {row.handle for row in session.scalars(open_submissions(self._name)) if row.handle}
        try:
            found, listed = executor.find(prefix), executor.poll(handles)
        except ExecutorError as error:
            self._mark_unknown(str(error))
            return
        # Read after the listing, so that each listed job has its row.
        with self._database.read() as session:
            rows = [*session.scalars(open_submissions(self._name))]
        by_mark = {(row.array_mark or mark_of(prefix, row), row.task): row for row in rows}
        known = {row.handle for row in rows}
        adopted: dict[int, SchedulerJob] = {}
        for job in sorted(found, key=lambda job: [int(number) for number in re.findall(r"\d+", job.handle)]):
            row = by_mark.get((job.mark, job.task))
            if row is not None and row.handle is None:
                row.handle = job.handle
                known.add(job.handle)
                listed[job.handle] = job
                adopted[row.id] = job
        self._adopt(adopted)
        self._follow(executor, rows, listed)
        unknown = [job for job in found if job.phase != "ended" and job.handle not in known]
        if unknown:
            marks = ", ".join(job.mark for job in unknown)
            log.warning("Cancelling jobs of %s that belong to no run: %s", self._name, marks)
            self._request_end(executor, [job.handle for job in unknown])

    def _follow(self, executor: Executor, rows: Sequence[RunSubmission], listed: Mapping[str, SchedulerJob]) -> None:
        """Store the states of jobs, and cancel those that their runs need no more."""
        with self._database.read() as session:
            states = select(Run.id, Run.state, Run.archived_at).where(Run.id.in_({row.run_id for row in rows}))
            needed = {run.id for run in session.execute(states) if needs_job(run.state, run.archived_at)}
        self._submitter.is_full = self._submitter.is_full and any(row.handle is None for row in rows)
        changed: dict[int, SchedulerJob] = {}
        unneeded: dict[int, str] = {}
        missing: list[RunSubmission] = []
        for row in rows:
            job = listed.get(row.handle or "")
            if job is None:
                missing += self._miss(executor, row)
            elif job.phase == "ended":
                self._end(executor, row, job)
            else:
                if row.unknown_since is not None or _shown(row, job) != _stored(row):
                    changed[row.id] = job
                if self._is_unneeded(row, is_needed=row.run_id in needed, is_running=job.phase == "running"):
                    unneeded[row.id] = job.handle
        self._store(changed)
        self._cancel(executor, unneeded)
        if missing:
            self._submitter.submit_again(executor, missing)

    def _mark_unknown(self, reason: str) -> None:
        """Store that the scheduler does not answer. The states of the jobs stay."""
        with self._database.read() as session:
            rows = [*session.scalars(open_submissions(self._name))]
        ids = [row.id for row in rows if row.unknown_since is None or row.reason != reason]
        for batch in batches_of(ids):
            with self._database.write() as session, announcing(session, len(ids)):
                for run, row in lock_submissions(session, batch):
                    row.unknown_since, row.reason = row.unknown_since or utc_now(), reason
                    announce_run(session, run.id, "run.changed")

    def _adopt(self, jobs: Mapping[int, SchedulerJob]) -> None:
        for ids in batches_of([*jobs]):
            with self._database.write() as session, announcing(session, len(jobs)):
                for run, row in lock_submissions(session, ids):
                    if row.handle is None:
                        row.handle = jobs[row.id].handle
                        note_and_announce(
                            session, run, f"Found job {row.handle} of {EXECUTOR_TITLES[row.executor]} again."
                        )

    def _store(self, jobs: Mapping[int, SchedulerJob]) -> None:
        for ids in batches_of([*jobs]):
            with self._database.write() as session, announcing(session, len(jobs)):
                for run, row in lock_submissions(session, ids):
                    job = jobs[row.id]
                    _count_use(session, run, row, job)
                    row.state, row.scheduler_state, row.reason, row.host, row.place, row.started_at = _shown(row, job)
                    row.unknown_since = None
                    announce_run(session, run.id, "run.changed")

    def _is_unneeded(self, row: RunSubmission, *, is_needed: bool, is_running: bool) -> bool:
        """Return True if the run of a job has ended or is paused, and a running job had time to end on its own."""
        if row.state == "cancelling":
            return True
        if is_needed:
            self._ending.pop(row.id, None)
            return False
        since = self._ending.setdefault(row.id, time.monotonic())
        return not is_running or time.monotonic() - since >= ENDING_SECONDS

    def _cancel(self, executor: Executor, handles: Mapping[int, str]) -> None:
        """Cancel jobs, unless their runs were resumed since."""
        for ids in batches_of([*handles]):
            requested = []
            with self._database.write() as session, announcing(session, len(handles)):
                for run, row in lock_submissions(session, ids):
                    if row.state != "cancelling":
                        if needs_job(run.state, run.archived_at):
                            continue
                        row.state = "cancelling"
                        note_and_announce(
                            session, run, f"Cancelling job {handles[row.id]} of {EXECUTOR_TITLES[row.executor]}."
                        )
                    requested.append(handles[row.id])
            if requested:
                self._request_end(executor, requested)

    def _request_end(self, executor: Executor, handles: Sequence[str]) -> None:
        """Request the end of jobs. It is repeated until the scheduler lists the end."""
        try:
            executor.cancel(handles)
        except ExecutorError as error:
            log.warning("Jobs %s cannot be cancelled, retrying: %s", ", ".join(handles), error)

    def _miss(self, executor: Executor, row: RunSubmission) -> list[RunSubmission]:
        """Handle a submission whose job is not listed, which alone does not mean that the job has ended.

        Return it if it must be submitted again.
        """
        if row.handle is None:
            is_late = utc_now() - row.submitted_at >= RESUBMIT_AFTER
            return [row] if is_late and not self._submitter.is_refused else []
        if row.unknown_since is None:
            with self._database.write() as session:
                for run, locked in lock_submissions(session, [row.id]):
                    locked.unknown_since, locked.reason = utc_now(), f"It does not list job {row.handle}."
                    announce_run(session, run.id, "run.changed")
            return []
        with self._database.read() as session:
            run = session.get_one(Run, row.run_id)
        # A worker that sends heartbeats is alive, even if its scheduler does not list the job.
        missing_after = EXECUTORS[row.executor].missing_after
        if utc_now() - row.unknown_since >= missing_after and run.state not in ACTIVE:
            self._end(executor, row, SchedulerJob(row.handle, "", "ended", "no longer listed"))
        return []

    def _end(self, executor: Executor, row: RunSubmission, job: SchedulerJob) -> None:
        """Store that a job has ended, and continue or end its run."""
        output = executor.tail(job.handle) if job.status else ""
        with self._database.write() as session:
            for run, ended in lock_submissions(session, [row.id]):
                was_cancelled_here = ended.state == "cancelling"
                _count_use(session, run, ended, job)
                ended.state, ended.scheduler_state, ended.reason = "ended", job.scheduler_state, None
                ended.unknown_since = ended.place = None
                ended.host = job.host or ended.host
                ended.ended_at = job.ended_at or utc_now()
                if not was_cancelled_here or run.state in ACTIVE:
                    settle(session, self._settings, run, ended, job, output)
                announce_run(session, run.id, "run.changed", "run.log")
        self._ending.pop(row.id, None)


def _shown(row: RunSubmission, job: SchedulerJob) -> tuple[Any, ...]:
    state = row.state if row.state == "cancelling" else job.phase
    return state, job.scheduler_state, job.reason, job.host, job.place, job.started_at


def _stored(row: RunSubmission) -> tuple[Any, ...]:
    return row.state, row.scheduler_state, row.reason, row.host, row.place, row.started_at


def _count_use(session: Session, run: Run, row: RunSubmission, job: SchedulerJob) -> None:
    """Count the hours of the last start of a job, if it has ended. A job that is requeued starts again."""
    if job.phase == "ended" and row.started_at is None:
        row.started_at, row.cores, row.gpus = job.started_at, job.cores, job.gpus
    if row.started_at is not None and (job.phase == "ended" or job.started_at != row.started_at):
        until = job.ended_at or (job.started_at if job.phase == "running" else None) or row.unknown_since or utc_now()
        seconds = max(0.0, (until - row.started_at).total_seconds())
        used, used_gpus = seconds * (row.cores or 0), seconds * (row.gpus or 0)
        usage.record_start(session, run, row, row.started_at, row.cores, row.gpus).ended_at = until
        row.core_seconds, row.gpu_seconds = (row.core_seconds or 0.0) + used, (row.gpu_seconds or 0.0) + used_gpus
        run.core_hours, run.gpu_hours = (run.core_hours or 0.0) + used / 3600, (run.gpu_hours or 0.0) + used_gpus / 3600
    if job.phase == "running":
        row.cores, row.gpus = job.cores, job.gpus
        if job.started_at is not None:
            usage.record_start(session, run, row, job.started_at, job.cores, job.gpus)


def settle(session: Session, settings: Settings, run: Run, row: RunSubmission, job: SchedulerJob, output: str) -> None:
    """Continue or end a run whose job has ended. The caller holds the row lock."""
    ended = f"{EXECUTOR_TITLES[row.executor]} ended job {job.handle}: {job.scheduler_state}."
    was_claimed = run.attempt >= row.attempt
    if run.state in ACTIVE:
        # Its worker ended without a release. It is dead, so do not wait for its lease.
        RUNS.conclude(session, settings, run, "lost", ended)
    elif run.state != "queued":
        return
    elif job.outcome == "cancelled" and (job.ended_at is not None or job.task is None or not was_claimed):
        run.state, run.desired, run.state_reason = "paused", "pause", f"{ended} Resume the run to submit it again."
        note(session, run, run.state_reason, "warning")
    elif job.outcome == "not started":
        queue_again(run, ended)
        note(session, run, ended, "warning")
    elif job.status and not was_claimed:
        last = f"Its output ends with: {output.strip()[-SHOWN_OUTPUT:]}" if output.strip() else NO_OUTPUT
        _fail(session, run, f"{ended} Its worker did not start, and it {job.status}. {last}")
    elif was_claimed and session.get_one(Attempt, (run.id, run.attempt)).outcome == "lost":
        return  # it was counted when its worker fell silent
    else:
        may_continue, message = count_loss(run, settings, ended)
        if may_continue:
            queue_again(run, message)
            note(session, run, message)
        else:
            _fail(session, run, message)


def _fail(session: Session, run: Run, message: str) -> None:
    run.state, run.state_reason, run.failure_message, run.finished_at = "failed", message, message, utc_now()
    note(session, run, f"Failed: {message}", "error")
    raise_run_end(session, run)
