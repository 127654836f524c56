"""Lookup of runs and jobs by the ids in a path."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Annotated, Literal

import anyio
from anyio import to_thread
from fastapi import Depends, Path, Query, Request
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import Database, Db
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Attempt, Job, Run, RunOrigin
from arcadia_backend.errors import Conflict, NotFound, Problem
from arcadia_backend.live.notices import Topic, Waiter, current_hub
from arcadia_workers.contract.plugins.loading import missing_plugins
from arcadia_workers.contract.values import MAX_ID
from arcadia_workers.contract.worker_api import State

_ORIGINS: dict[RunOrigin, str] = {
    "reported": "a script logged it",
    "imported": "it was imported from logs",
    "agent": "it is an imported agent",
}
PathId = Annotated[int, Path(ge=1, le=MAX_ID)]


def find_run(session: Session, run_id: int, *, lock: bool = False) -> Run:
    """Return a run, locked until the transaction ends if `lock` is True. Raise NotFound if it does not exist."""
    run = session.get(Run, run_id, with_for_update=True if lock else None)
    if run is None:
        raise NotFound(f"There is no run {run_id}.")
    return run


def hidden_runs(session: Session, ids: Iterable[int | None]) -> set[int]:
    """Return which of these runs exist, but not for the caller. Answers must not name them."""
    if current().everything or not (wanted := {*ids} - {None}):
        return set()
    query = select(Run.id).where(Run.id.in_(wanted))
    visible = {*session.scalars(query)}
    with backend_rights(session):
        return {*session.scalars(query)} - visible


def require_trained(run: Run, action: str) -> None:
    """Raise Conflict unless Arcadia trains the run. It cannot start the program of any other run."""
    if (clause := why_not_trained(run)) is not None:
        raise Conflict(f"Arcadia cannot {action} run {run.id}, because {clause}.")


def refuse_without_agent(run: Run, action: str) -> None:
    """Raise Conflict if Arcadia has no checkpoints of the run, or lacks a plug-in that made them."""
    if (clause := why_no_agent(run)) is not None:
        raise Conflict(f"Arcadia cannot {action} run {run.id}, because {clause}.")


def why_not_trained(run: Run) -> str | None:
    """Return a clause about why Arcadia cannot start the configuration of a run, or None if it can."""
    if missing := missing_plugins(run.needed_plugins):
        return missing
    if run.origin == "trained":
        return None
    return (
        f"{_ORIGINS[run.origin]}. Only runs that Arcadia trains have checkpoints and a configuration that it can start"
    )


def why_no_agent(run: Run) -> str | None:
    """Return a clause about why Arcadia cannot play the agent of a run, even with a checkpoint, or None if it can."""
    if missing := missing_plugins(run.needed_plugins):
        return missing
    return None if run.has_agent else f"{_ORIGINS[run.origin]} without checkpoints"


def find_job(session: Session, job_id: int, *, lock: bool = False) -> Job:
    """Return a job, locked until the transaction ends if `lock` is True. Raise NotFound if it does not exist.

    If the job has a run, the run is locked first, so that all transactions lock in the same order.
    """
    run_id = session.scalar(select(Job.run_id).where(Job.id == job_id))
    if lock and run_id is not None:
        find_run(session, run_id, lock=True)
    job = session.get(Job, job_id, with_for_update=True if lock else None)
    if job is None:
        raise NotFound(f"There is no job {job_id}.")
    return job


def last_started_attempt(session: Session, run: Run) -> Attempt | None:
    """Return the last attempt that reported its start step, or None while a newer attempt has not reported it."""
    if run.state == "starting":
        return None
    # An attempt that was released before it started has no start step.
    started = select(Attempt).where(Attempt.run_id == run.id, Attempt.resumed_step.is_not(None))
    return session.scalar(started.order_by(Attempt.attempt.desc()).limit(1))


def read_path_run(db: Db, run_id: PathId) -> Run:
    """Return the run of the path, for reading. To change a run, find it in the write transaction."""
    with db.read() as session:
        return find_run(session, run_id)


PathRun = Annotated[Run, Depends(read_path_run)]


MAX_WAIT_SECONDS = 60
# Notices may be lost, so check again after this time without one.
CHECK_SECONDS = 5.0
# Limit concurrent checks, so that waiting requests leave threads and connections to others.
MAX_CONCURRENT_CHECKS = 4
MAX_WAITING = 2_000
RETRY_AFTER_SECONDS = 5

# Without a user's action, a run leaves only these states.
IN_PROGRESS: tuple[State, ...] = ("queued", "starting", "running")
UNFINISHED_JOB = ("queued", "running")

Wait = Annotated[
    Literal["finished"] | None,
    Query(description="finished: respond once it has ended or is paused, or with its current state at the timeout."),
]
Timeout = Annotated[float, Query(ge=0, le=MAX_WAIT_SECONDS, description="Longest wait in seconds.")]
DEFAULT_TIMEOUT = 30.0

# Returns the topic that announces the next change, or None if there is nothing to wait for.
Pending = Callable[[Session], Topic | None]


class TooManyWaiting(Problem):
    """Too many waiting requests. Each takes memory, so their number is limited."""

    status = 503
    kind = "too-many-waiting"
    title = "Too many waiting requests"

    def __init__(self) -> None:
        super().__init__(f"The limit of {MAX_WAITING:,} waiting requests is reached. Try again without `wait`.")
        self.headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}


def new_check_limiter() -> anyio.CapacityLimiter:
    """Return the limiter of concurrent checks of one event loop."""
    return anyio.CapacityLimiter(MAX_CONCURRENT_CHECKS)


async def wait_while(pending: Pending, request: Request, seconds: float) -> None:
    """Wait until nothing is pending, the time is up, the client disconnects or the server stops."""
    hub, deadline = current_hub(), time.monotonic() + seconds
    if len(hub.waiters) >= MAX_WAITING:
        raise TooManyWaiting
    with hub.wait() as waiter:
        async with _ending_on_disconnect(request, waiter):
            while not waiter.has_ended:
                topic = await _check(pending, request)
                left = deadline - time.monotonic()
                if topic is None or left <= 0:
                    return
                if topic == waiter.topic:
                    await waiter.next(min(left, CHECK_SECONDS))
                # Check again before the first wait, since the change may have come before the topic was set.
                waiter.topic = topic


async def _check(pending: Pending, request: Request) -> Topic | None:
    database: Database = request.app.state.database

    def check() -> Topic | None:
        with database.read() as session:
            return pending(session)

    return await to_thread.run_sync(check, limiter=request.app.state.check_limiter)


@asynccontextmanager
async def _ending_on_disconnect(request: Request, waiter: Waiter) -> AsyncIterator[None]:
    async def end_on_disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        waiter.end()

    task = asyncio.create_task(end_on_disconnect())
    try:
        yield
    finally:
        task.cancel()


def run_in_progress(session: Session, run_id: int, *names: str) -> Topic | None:
    """Return the topic of a run in progress, with these names of notices, or None if it ended or is paused."""
    if find_run(session, run_id).state not in IN_PROGRESS:
        return None
    return Topic(frozenset({"run.changed", "run.removed", *names}), {"run_id": run_id})


def job_in_progress(job: Job) -> Topic | None:
    """Return the topic of an unfinished job of a run, or None if it has ended."""
    if job.state not in UNFINISHED_JOB:
        return None
    return Topic(frozenset({"job.changed", "run.removed"}), {"run_id": job.require_run_id()})
