"""RunSubmission of waiting runs to schedulers, and what follows from the states of their jobs.

A submission is stored before its job is submitted, and its mark is the job's name. So a backend that is killed in
between finds the job again, and submits it only if the scheduler does not list it.
"""

import logging
import math
import time
from datetime import timedelta

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from arcadia_backend.alerts.service import raise_run_end
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Attempt, ExecutorSettings, Run, RunSubmission
from arcadia_backend.executors import EXECUTORS
from arcadia_backend.executors.executor import Executor, ExecutorError, JobOrder, SchedulerJob
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.background import BackgroundThread
from arcadia_backend.logs import note
from arcadia_backend.runs.states import announce_run, queue_again
from arcadia_backend.web.security import job_token
from arcadia_backend.worker_api.attempts import count_loss, read_installation_id
from arcadia_backend.worker_api.runs import QUEUE_ORDER, RUNS
from arcadia_workers.contract.worker_api import ACTIVE, EXECUTOR_TITLES

log = logging.getLogger(__name__)

# The interval of the thread, as a share of the sweep interval.
SWEEP_SHARE = 1 / 4
# A job that was submitted by a backend that was killed is listed after this time.
RESUBMIT_AFTER = timedelta(seconds=10)
# After its run has ended, a job ends on its own within this time.
ENDING_SECONDS = 60.0
# Limit of the runs that are submitted in one round, between which jobs are polled.
SUBMIT_BATCH = 100
SHOWN_OUTPUT = 500


def mark_prefix(installation: str) -> str:
    """Return the start of the names of all jobs of this installation."""
    return f"arcadia-{installation}-run-"


def token_of_job(settings: Settings, run_id: int, attempt: int) -> str:
    """Return the token that a job sends. Raise ExecutorError if this server accepts no workers."""
    worker_token = settings.worker_token.get_secret_value()
    if not worker_token:
        raise ExecutorError("This server accepts no workers. Set ARCADIA_WORKER_TOKEN.")
    return job_token(worker_token, run_id, attempt)


class SubmissionThread:
    """Background thread that submits runs to schedulers, and follows their jobs.

    Several backends may each run one, because every change is checked again under a row lock.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings
        self._thread = BackgroundThread("submissions", SWEEP_SHARE * settings.sweep_seconds, self.run_once)
        self._failures = FailureLog(log)
        self._executors: dict[str, tuple[dict[str, object], Executor]] = {}
        self._polled_at: dict[str, float] = {}
        self._due_at: dict[str, float] = {}
        # Schedulers that refused a job in this round.
        self._refused: set[str] = set()
        # When a run was first seen to have ended before its running job, by submission.
        self._ending: dict[int, float] = {}

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._thread.stop()

    def run_once(self) -> float:
        """Serve each scheduler that is set up. Return the seconds until the next round."""
        with self._failures.guard("Reading the schedulers"):
            for name, executor in self._open_executors().items():
                with self._failures.guard(f"Submitting runs to {EXECUTOR_TITLES[name]}"):
                    self._serve(name, executor)
        if self._failures.has_failures:
            return self._settings.scheduler_seconds
        return min((at - time.monotonic() for at in self._due_at.values()), default=math.inf)

    def _open_executors(self) -> dict[str, Executor]:
        """Return the schedulers that are set up. One whose settings changed is opened again."""
        with self._database.read() as session:
            stored = {row.executor: row.settings for row in session.scalars(select(ExecutorSettings))}
        interval = self._settings.scheduler_seconds / 2
        for name, settings in stored.items():
            if name in EXECUTORS and (name not in self._executors or self._executors[name][0] != settings):
                kind = EXECUTORS[name]
                opened = kind.open(kind.settings.model_validate(settings), self._settings, interval)
                self._executors[name] = (settings, opened)
        return {name: self._executors[name][1] for name in stored if name in self._executors}

    def _serve(self, name: str, executor: Executor) -> None:
        self._refused.discard(name)
        with self._database.read() as session:
            is_open = session.scalar(_open_submissions(name).limit(1)) is not None
            waiting = [*session.scalars(_waiting_runs(name).limit(SUBMIT_BATCH))]
        polled_at, interval = self._polled_at.get(name), self._settings.scheduler_seconds
        is_idle = not is_open and not waiting and polled_at is not None
        if not is_idle and (polled_at is None or time.monotonic() - polled_at >= interval):
            polled_at = self._polled_at[name] = time.monotonic()
            self._poll(name, executor)
        self._due_at[name] = math.inf if is_idle or polled_at is None else polled_at + interval
        for run_id in waiting:
            if name in self._refused:
                break
            self._submit(name, executor, run_id)

    def _poll(self, name: str, executor: Executor) -> None:
        """Compare the submissions with the jobs that the scheduler lists."""
        with self._database.read() as session:
            prefix = mark_prefix(read_installation_id(session))
            handles = [row.handle for row in session.scalars(_open_submissions(name)) if row.handle]
        try:
            found, listed = executor.find(prefix), executor.poll(handles)
        except ExecutorError as error:
            self._mark_unknown(name, str(error))
            return
        # Read after the listing, so that each listed job has its row.
        with self._database.read() as session:
            rows = [*session.scalars(_open_submissions(name))]
        by_mark = {f"{prefix}{row.run_id}-{row.attempt}": row for row in rows}
        known = {row.handle for row in rows}
        for job in sorted(found, key=lambda job: int(job.handle) if job.handle.isdecimal() else 0):
            row = by_mark.get(job.mark)
            if row is not None and row.handle is None:
                row.handle = job.handle
                known.add(job.handle)
                listed[job.handle] = job
                self._adopt(row.id, job)
        for row in rows:
            self._update(executor, row, listed.get(row.handle or ""))
        for job in found:
            if job.phase != "ended" and job.handle not in known:
                log.warning("Job %s of %s (%s) belongs to no run; cancelling it.", job.handle, name, job.mark)
                self._request_end(executor, job.handle)

    def _mark_unknown(self, name: str, reason: str) -> None:
        """Store that the scheduler does not answer. The states of the jobs stay."""
        with self._database.read() as session:
            rows = [*session.scalars(_open_submissions(name))]
        for row in rows:
            if row.unknown_since is None or row.reason != reason:
                with self._database.write() as session:
                    if (locked := _lock(session, row.id)) is not None:
                        locked[1].unknown_since, locked[1].reason = row.unknown_since or utc_now(), reason
                        announce_run(session, row.run_id, "run.changed")

    def _adopt(self, submission_id: int, job: SchedulerJob) -> None:
        with self._database.write() as session:
            if (locked := _lock(session, submission_id)) is not None and locked[1].handle is None:
                run, row = locked
                row.handle = job.handle
                _say(session, run, f"Found job {job.handle} of {EXECUTOR_TITLES[row.executor]} again.")

    def _update(self, executor: Executor, row: RunSubmission, job: SchedulerJob | None) -> None:
        """Store the state of a job, and cancel it if its run needs it no more."""
        if job is None:
            self._miss(executor, row)
            return
        if job.phase == "ended":
            self._end(executor, row, job)
            return
        state = row.state if row.state == "cancelling" else job.phase
        shown = (state, job.scheduler_state, job.reason, job.host, job.place)
        stored = (row.state, row.scheduler_state, row.reason, row.host, row.place)
        if shown != stored or row.unknown_since is not None:
            with self._database.write() as session:
                if (locked := _lock(session, row.id)) is None:
                    return
                changed = locked[1]
                changed.state, changed.scheduler_state, changed.reason, changed.host, changed.place = shown
                changed.unknown_since = None
                announce_run(session, row.run_id, "run.changed")
        with self._database.read() as session:
            run = session.get(Run, row.run_id)
        if run is not None and self._is_unneeded(run, row, is_running=job.phase == "running"):
            self._cancel(executor, row.id, job.handle)

    def _is_unneeded(self, run: Run, row: RunSubmission, *, is_running: bool) -> bool:
        """Return True if the run of a job has ended or is paused, and a running job had time to end on its own."""
        if row.state == "cancelling":
            return True
        if _needs_job(run):
            self._ending.pop(row.id, None)
            return False
        since = self._ending.setdefault(row.id, time.monotonic())
        return not is_running or time.monotonic() - since >= ENDING_SECONDS

    def _cancel(self, executor: Executor, submission_id: int, handle: str) -> None:
        with self._database.write() as session:
            if (locked := _lock(session, submission_id)) is None:
                return
            run, row = locked
            if row.state != "cancelling":
                if _needs_job(run):
                    return  # it was resumed since
                row.state = "cancelling"
                _say(session, run, f"Cancelling job {handle} of {EXECUTOR_TITLES[row.executor]}.")
        self._request_end(executor, handle)

    def _request_end(self, executor: Executor, handle: str) -> None:
        """Request the end of a job. It is repeated until the scheduler lists the end."""
        try:
            executor.cancel(handle)
        except ExecutorError as error:
            log.warning("Job %s cannot be cancelled, retrying: %s", handle, error)

    def _miss(self, executor: Executor, row: RunSubmission) -> None:
        """Handle a submission whose job is not listed. That alone does not mean that the job has ended."""
        if row.handle is None:
            if utc_now() - row.submitted_at >= RESUBMIT_AFTER and row.executor not in self._refused:
                self._submit_again(executor, row)
            return
        if row.unknown_since is None:
            with self._database.write() as session:
                if (locked := _lock(session, row.id)) is not None:
                    locked[1].unknown_since, locked[1].reason = utc_now(), f"It does not list job {row.handle}."
                    announce_run(session, row.run_id, "run.changed")
            return
        with self._database.read() as session:
            run = session.get(Run, row.run_id)
        # A worker that sends heartbeats is alive, even if its scheduler does not list the job.
        if (
            utc_now() - row.unknown_since >= EXECUTORS[row.executor].missing_after
            and run is not None
            and run.state not in ACTIVE
        ):
            self._end(executor, row, SchedulerJob(row.handle, "", "ended", "no longer listed"))

    def _end(self, executor: Executor, row: RunSubmission, job: SchedulerJob) -> None:
        """Store that a job has ended, and continue or end its run."""
        output = executor.tail(job.handle) if job.exit_code else ""
        with self._database.write() as session:
            if (locked := _lock(session, row.id)) is None:
                return
            run, ended = locked
            was_cancelled_here = ended.state == "cancelling"
            ended.state, ended.scheduler_state, ended.reason = "ended", job.scheduler_state, None
            ended.unknown_since = ended.place = None
            ended.host = job.host or ended.host
            ended.ended_at = job.ended_at or utc_now()
            if job.started_at and job.cores:
                ended.core_seconds = job.cores * max(0.0, (ended.ended_at - job.started_at).total_seconds())
            if not was_cancelled_here or run.state in ACTIVE:
                settle(session, self._settings, run, ended, job, output)
            announce_run(session, run.id, "run.changed", "run.log")
        self._ending.pop(row.id, None)

    def _submit(self, name: str, executor: Executor, run_id: int) -> None:
        """Store a submission of a waiting run, and submit it."""
        with self._database.write() as session:
            run = session.get(Run, run_id, with_for_update=True)
            if run is None or session.scalar(_waiting_runs(name).where(Run.id == run_id)) is None:
                return
            last = session.scalar(select(func.max(RunSubmission.attempt)).where(RunSubmission.run_id == run_id)) or 0
            row = RunSubmission(run_id=run_id, attempt=max(run.attempt, last) + 1, executor=name)
            session.add(row)
            session.flush()
        self._send(executor, row.id)

    def _submit_again(self, executor: Executor, row: RunSubmission) -> None:
        """Submit a job that the scheduler does not list. Only one backend does so."""
        with self._database.write() as session:
            locked = _lock(session, row.id)
            if locked is None or locked[1].handle is not None or locked[1].submitted_at != row.submitted_at:
                return
            run, again = locked
            if not _needs_job(run):
                again.state, again.ended_at, again.reason, again.unknown_since = "ended", utc_now(), None, None
                announce_run(session, run.id, "run.changed")
                return
            again.submitted_at = utc_now()
        self._send(executor, row.id)

    def _send(self, executor: Executor, submission_id: int) -> None:
        with self._database.read() as session:
            row = session.get_one(RunSubmission, submission_id)
            run = session.get_one(Run, row.run_id)
            mark = f"{mark_prefix(read_installation_id(session))}{row.run_id}-{row.attempt}"
        queue = run.queue or "cpu"
        worker = ("--run", str(run.id), "--attempt", str(row.attempt), "--once", "--queue", queue)
        handle, problem = None, None
        try:
            token = token_of_job(self._settings, run.id, row.attempt)
            handle = executor.submit(JobOrder(mark, worker, token, needs_gpu=queue == "gpu"))
        except ExecutorError as error:
            problem = str(error)
            self._refused.add(row.executor)
        with self._database.write() as session:
            # If the run was deleted, its job is cancelled once it is listed.
            if (locked := _lock(session, submission_id)) is None:
                return
            run, sent = locked
            if problem is not None:
                sent.reason = problem
                announce_run(session, run.id, "run.changed")
            elif sent.handle is None:
                sent.handle, sent.state, sent.reason, sent.unknown_since = handle, "waiting", None, None
                _say(session, run, f"Submitted to {EXECUTOR_TITLES[sent.executor]} as job {handle}.")


def settle(session: Session, settings: Settings, run: Run, row: RunSubmission, job: SchedulerJob, output: str) -> None:
    """Continue or end a run whose job has ended. The caller holds the row lock."""
    ended = f"{EXECUTOR_TITLES[row.executor]} ended job {job.handle}: {job.scheduler_state}."
    was_claimed = run.attempt >= row.attempt
    if run.state in ACTIVE:
        # Its worker ended without a release. It is dead, so do not wait for its lease.
        RUNS.conclude(session, settings, run, "lost", ended)
    elif run.state != "queued":
        return
    elif job.outcome == "cancelled":
        run.state, run.desired, run.state_reason = "paused", "pause", f"{ended} Resume the run to submit it again."
        note(session, run, run.state_reason, "warning")
    elif job.outcome == "not started":
        queue_again(run, ended)
        note(session, run, ended, "warning")
    elif job.exit_code and not was_claimed:
        last = f" Its output ends with: {output.strip()[-SHOWN_OUTPUT:]}" if output.strip() else ""
        _fail(session, run, f"{ended} Its worker did not start, and it exited with status {job.exit_code}.{last}")
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


def _say(session: Session, run: Run, message: str) -> None:
    note(session, run, message)
    announce_run(session, run.id, "run.changed", "run.log")


def _needs_job(run: Run) -> bool:
    return run.state in ACTIVE or (run.state == "queued" and run.archived_at is None)


def _lock(session: Session, submission_id: int) -> tuple[Run, RunSubmission] | None:
    """Lock an open submission with its run, in the order of claims. Return None if it has ended or was deleted."""
    row = session.get(RunSubmission, submission_id)
    run = session.get(Run, row.run_id, with_for_update=True) if row is not None else None
    if row is None or run is None:
        return None
    session.refresh(row, with_for_update=True)
    return None if row.state == "ended" else (run, row)


def _open_submissions(name: str) -> Select[RunSubmission]:
    return (
        select(RunSubmission)
        .where(RunSubmission.executor == name, RunSubmission.state != "ended")
        .order_by(RunSubmission.id)
    )


def _waiting_runs(name: str) -> Select[int]:
    """Return the query for the runs that must be submitted, in the order of the queue."""
    has_job = select(RunSubmission.id).where(RunSubmission.run_id == Run.id, RunSubmission.state != "ended").exists()
    waiting = (Run.state == "queued", Run.executor == name, Run.archived_at.is_(None), ~has_job)
    return select(Run.id).where(*waiting).order_by(*QUEUE_ORDER)
