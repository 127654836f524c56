"""Requests that wait until something happens. A waiting request holds no thread and no database connection."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Literal

import anyio
from anyio import to_thread
from fastapi import Query, Request
from sqlalchemy.orm import Session

from backend.database.engine import Database
from backend.database.tables import Job
from backend.errors import Problem
from backend.live.notices import Topic, Watch, current_hub
from backend.web.lookup import find_run
from workers.contract.worker_api import State

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
    if len(hub.watches) >= MAX_WAITING:
        raise TooManyWaiting
    with hub.watch() as watch:
        async with _ending_on_disconnect(request, watch):
            while not watch.has_ended:
                topic = await _check(pending, request)
                left = deadline - time.monotonic()
                if topic is None or left <= 0:
                    return
                if topic == watch.topic:
                    await watch.next(min(left, CHECK_SECONDS))
                # Check again before the first wait, since the change may have come before the topic was set.
                watch.topic = topic


async def _check(pending: Pending, request: Request) -> Topic | None:
    database: Database = request.app.state.database

    def check() -> Topic | None:
        with database.read() as session:
            return pending(session)

    return await to_thread.run_sync(check, limiter=request.app.state.check_limiter)


@asynccontextmanager
async def _ending_on_disconnect(request: Request, watch: Watch) -> AsyncIterator[None]:
    async def end_on_disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        watch.end()

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
    return Topic(frozenset({"run.files", "run.removed"}), {"run_id": job.require_run_id()})
