"""The live stream."""

import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent

from backend.errors import Problem
from backend.live.notices import REFETCH, current_hub

router = APIRouter(tags=["live"])

# The sign-in is checked when a stream opens. Streams end after this time, and pages reconnect by themselves.
LIFE_SECONDS = 3_600.0
RECONNECT_MILLISECONDS = 1_000
MOST_STREAMS = 500


class TooManyStreams(Problem):
    """The number of open streams is bounded, since each takes memory."""

    status = 503
    kind = "too-many-streams"
    title = "Too many open pages"


async def room_for_one_more() -> None:
    """Refuse before the response begins."""
    if len(current_hub().streams) >= MOST_STREAMS:
        raise TooManyStreams(f"{MOST_STREAMS} pages are open already; close some.")


@router.get("/events", response_class=EventSourceResponse, dependencies=[Depends(room_for_one_more)])
async def stream_events(
    last_event_id: Annotated[str | None, Header(description="Sent by a page that reconnects.")] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Notices of what changed.

    run.changed, run.metrics, run.log, run.files, run.removed, play.changed, worker.changed; refetch.
    """
    ends = time.monotonic() + LIFE_SECONDS
    with current_hub().join() as stream:
        yield ServerSentEvent(comment="open", retry=RECONNECT_MILLISECONDS)
        if last_event_id is not None:
            # Notices are not kept, so a page that reconnects may have missed some.
            yield ServerSentEvent(event=REFETCH, data={})
        while (notice := await stream.next(ends - time.monotonic())) is not None:
            yield ServerSentEvent(event=notice.name, data=notice.payload, id=notice.id)
