"""The stream of notices to pages, as server-sent events."""

import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent

from arcadia_backend.errors import Problem
from arcadia_backend.live.notices import REFETCH, current_hub

router = APIRouter(tags=["live"])

# The sign-in is checked when a stream opens. Streams end after this time, and pages reconnect.
MAX_STREAM_SECONDS = 3_600.0
RECONNECT_MILLISECONDS = 1_000
MAX_STREAMS = 500


class TooManyStreams(Problem):
    """Too many open streams. Each takes memory, so their number is limited."""

    status = 503
    kind = "too-many-streams"
    title = "Too many open pages"


async def check_capacity() -> None:
    """Raise TooManyStreams before the response starts."""
    if len(current_hub().streams) >= MAX_STREAMS:
        raise TooManyStreams(f"The limit of {MAX_STREAMS} open pages is reached. Close some.")


@router.get("/events", response_class=EventSourceResponse, dependencies=[Depends(check_capacity)])
async def stream_events(
    last_event_id: Annotated[str | None, Header(description="The last id that a reconnecting page received.")] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Stream notices of changes.

    Events: run.changed, run.metrics, run.log, run.files, run.removed, job.changed, play.changed, worker.changed,
    study.changed, study.removed, alerts.changed, artifacts.changed, refetch. Most only name what changed. job.changed
    has the `id` of a job (`job_id` of an evaluation, for example), `run_id`, `kind`, `state` (a job's state, or
    `removed`), `done` and `total`. run.files announces new, changed or deleted files.
    """
    ends = time.monotonic() + MAX_STREAM_SECONDS
    with current_hub().join() as stream:
        yield ServerSentEvent(comment="open", retry=RECONNECT_MILLISECONDS)
        if last_event_id is not None:
            # Notices are not kept, so a page that reconnects may have missed some.
            yield ServerSentEvent(event=REFETCH, data={})
        while (notice := await stream.next(ends - time.monotonic())) is not None:
            yield ServerSentEvent(event=notice.name, data=notice.payload, id=notice.id)
