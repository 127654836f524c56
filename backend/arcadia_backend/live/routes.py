"""The stream of events to pages, as server-sent events, and the documents that pages watch."""

import time
from collections.abc import AsyncIterator
from typing import Annotated
from urllib.parse import parse_qs, unquote

from fastapi import APIRouter, Depends, Header, Path, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field

from arcadia_backend.config import API
from arcadia_backend.errors import FieldError, Invalid, NotFound, Problem
from arcadia_backend.live.notices import REFETCH, Topic, current_hub
from arcadia_backend.live.watches import Credentials, ShownDocument, Watches

router = APIRouter(tags=["live"])

# Streams end after this time, and pages reconnect.
MAX_STREAM_SECONDS = 3_600.0
RECONNECT_MILLISECONDS = 1_000
MAX_STREAMS = 500
MAX_WATCHES = 300
# First segments of paths that are no documents.
UNWATCHABLE = ("archives", "events", "export", "files", "worker")


class TooManyStreams(Problem):
    """Too many open streams. Each takes memory, so their number is limited."""

    status = 503
    kind = "too-many-streams"
    title = "Too many open pages"


class WatchedTopic(BaseModel):
    """The notices that may change a document."""

    model_config = ConfigDict(extra="forbid")

    event: str = Field(max_length=50, description="For example run.changed.")
    where: dict[str, bool | int | str | None] = Field(
        default={}, max_length=10, description="Values that the data of the event must contain, for example a run_id."
    )


class WatchedDocument(BaseModel):
    """A document that a page shows."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(max_length=8_000, pattern=rf"^{API}/[!-~]+$", description="The path with its query.")
    etag: str | None = Field(pattern=r"^[0-9a-f]{16}$", description="The ETag of the page's version, without quotes.")
    notice: str | None = Field(
        pattern=r"^[0-9a-f]{16}-[0-9]{1,15}$", description="Arcadia-Notice of the response or event with this version."
    )
    topics: list[WatchedTopic] = Field(max_length=100)
    every: float = Field(ge=0, le=3_600, description="Shortest time between two evaluations in seconds.")


class WatchedDocuments(BaseModel):
    """All documents that a page shows, and the notices that it needs apart from them."""

    model_config = ConfigDict(extra="forbid")

    watches: list[WatchedDocument] = Field(max_length=MAX_WATCHES)
    notices: list[WatchedTopic] | None = Field(
        default=None, max_length=100, description="The notices that the page receives. Null for all."
    )


async def check_capacity() -> None:
    """Raise TooManyStreams before the response starts."""
    if len(current_hub().streams) >= MAX_STREAMS:
        raise TooManyStreams(f"The limit of {MAX_STREAMS} open pages is reached. Close some.")


@router.get("/events", response_class=EventSourceResponse, dependencies=[Depends(check_capacity)])
async def stream_events(
    request: Request,
    last_event_id: Annotated[str | None, Header(description="The last id that a reconnecting page received.")] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Stream notices of changes, and changes of documents.

    The first event is `hello` with the id of the `stream`. A page sends the documents that it shows to
    `PUT /events/{stream}/watches`. An event `document.changed` then brings each change of such a document.

    Notices: run.changed, run.metrics, run.log, run.files, run.removed, job.changed, play.changed, worker.changed,
    study.changed, study.removed, board.changed, bulk.changed, projects.changed, alerts.changed, artifacts.changed,
    import.progress, refetch. Most only name what changed. Without a `run_id`, run.changed, run.removed and run.log are
    about many runs. job.changed has the `id` of a job (`job_id` of an evaluation, for example), `run_id`, `kind`,
    `state` (a job's state, or `removed`), `done` and `total`. run.files announces new, changed or deleted files.
    refetch means that events may have been lost: fetch what is shown, and send all watches again.
    """
    ends = time.monotonic() + MAX_STREAM_SECONDS
    watches: Watches = request.app.state.watches
    with watches.open(Credentials.of(request)) as page:
        yield ServerSentEvent(comment="open", retry=RECONNECT_MILLISECONDS)
        yield ServerSentEvent(event="hello", data={"stream": page.id})
        if last_event_id is not None:
            # Notices are not kept, so a page that reconnects may have missed some.
            yield ServerSentEvent(event=REFETCH, data={})
        while (event := await page.stream.next(ends - time.monotonic())) is not None:
            yield ServerSentEvent(event=event.name, raw_data=event.text, id=event.id)


@router.put("/events/{stream}/watches", status_code=204)
async def watch_documents(
    request: Request, stream: Annotated[str, Path(max_length=100)], watched: WatchedDocuments
) -> None:
    """Replace the documents that a page watches. Their changes come as `document.changed` over its stream.

    `notices` limits the other events of the stream to those that the page needs. `hello` and `refetch` always come.

    A document is the response to a GET request. The server requests it again, with the credentials of the stream, after
    each notice of its `topics`, but only once in `every` seconds. It does so at once if the page may have missed a
    change.

    The data of an event has the `path` and the new `etag` and `notice`, with one of: a `patch` for the version `from`;
    or the whole `document`. Without an etag, it has the `status` of a failed request. A patch is a list of operations,
    in order: `["set", keys, value]`, `["delete", keys]`, `["splice", keys, start, count, items]`. Ignore an event whose
    etag the page already has, and fetch the document if `from` is another version than the page's.
    """
    watches: Watches = request.app.state.watches
    shown = {each.path: _shown(position, each) for position, each in enumerate(watched.watches)}
    if len(shown) < len(watched.watches):
        raise Invalid(FieldError(field="watches", message="two have the same path"))
    wanted = None if watched.notices is None else [_topic(each) for each in watched.notices]
    if not watches.watch(stream, Credentials.of(request), [*shown.values()], wanted):
        raise NotFound("There is no such stream. Open a new one with GET /events.")


def _shown(position: int, watched: WatchedDocument) -> ShownDocument:
    path, _, query = watched.path.partition("?")
    first = unquote(path).removeprefix(f"{API}/").partition("/")[0]
    if first in UNWATCHABLE or "wait" in parse_qs(query, keep_blank_values=True):
        raise Invalid(FieldError(field=f"watches.{position}.path", message="is not the path of a document"))
    topics = tuple(map(_topic, watched.topics))
    return ShownDocument(watched.path, watched.etag, watched.notice, topics, watched.every)


def _topic(watched: WatchedTopic) -> Topic:
    return Topic(frozenset({watched.event}), watched.where)
