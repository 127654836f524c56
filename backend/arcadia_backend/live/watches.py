"""Watches: the documents that each page shows. A page gets a difference when a notice changes one of them.

The server requests a document again for its pages, as they would do themselves: with the same path and credentials,
through all routes and checks (docs/decisions/0097-live-documents.md).
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import unquote

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Scope

from arcadia_backend.config import COOKIE
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.channel import cancel_all
from arcadia_backend.live.documents import NOTICE_HEADER, RecentDocuments, change_as_json
from arcadia_backend.live.notices import Event, Hub, Notice, Stream, Topic, concerns

log = logging.getLogger(__name__)

# The key of the ASGI scope with the person whom a trusted proxy has signed in.
PROXIED_PERSON = "arcadia.proxied_person"
DOCUMENT_CHANGED = "document.changed"
# Evaluations must not slow down other requests.
MAX_CONCURRENT_EVALUATIONS = 2
# The status of a response that is not a document, such as a file.
NO_DOCUMENT = 415
# The status of a response that is too large to be kept.
TOO_LARGE = 413


@dataclass(frozen=True)
class Credentials:
    """The part of a request that decides what it may read, and where it was sent."""

    scheme: str
    host: str
    authorization: str
    session: str
    # The person whom a trusted proxy names.
    person: str = ""

    @classmethod
    def of(cls, request: HTTPConnection) -> Self:
        """Return the credentials of a request."""
        headers = request.headers
        session = request.cookies.get(COOKIE, "")
        person = request.scope.get(PROXIED_PERSON, "")
        return cls(request.scope["scheme"], headers.get("host", ""), headers.get("authorization", ""), session, person)

    def scope(self, path: str) -> Scope:
        """Return the ASGI scope of a GET request with these credentials."""
        location, _, query = path.partition("?")
        cookie = f"{COOKIE}={self.session}" if self.session else ""
        headers = {"host": self.host, "authorization": self.authorization, "cookie": cookie}
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": self.scheme,
            "path": unquote(location),
            "raw_path": location.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items() if value],
            "client": None,
            "server": None,
            **({PROXIED_PERSON: self.person} if self.person else {}),
        }


@dataclass(frozen=True)
class ShownDocument:
    """A document that a page shows: its version, the newest notice before that was read, and what may change it."""

    path: str
    etag: str | None
    notice: str | None
    topics: tuple[Topic, ...]
    # Seconds between two evaluations.
    every: float

    def is_like(self, other: Self) -> bool:
        """Return True if both are evaluated after the same notices."""
        return (self.topics, self.every) == (other.topics, other.every)


@dataclass(eq=False)
class Page:
    """A page with its stream, and the documents that it watches."""

    stream: Stream
    credentials: Credentials
    # The newest notice when the stream was opened.
    opened: str
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    documents: dict[str, "Document"] = field(default_factory=dict)
    # Documents whose change has to wait until the page has taken earlier events.
    delayed: set["Document"] = field(default_factory=set)


@dataclass(eq=False)
class Watch:
    """A page's watch of a document. The versions that the page may hold are several if events crossed its request."""

    shown: ShownDocument
    versions: set[str | None]

    def outdated(self, newest: str | None) -> set[str | None]:
        """Return the other versions that the page may hold. None means that it holds no known version."""
        return self.versions - {newest}


@dataclass(eq=False)
class Document:
    """A document that is evaluated for all pages that watch it with the same credentials."""

    path: str
    credentials: Credentials
    watches: dict[Page, Watch] = field(default_factory=dict)
    # When the last evaluation ended.
    evaluated: float = -float("inf")
    is_due: bool = False
    task: asyncio.Task[None] | None = None

    @property
    def due_at(self) -> float:
        """The earliest time of the next evaluation."""
        return self.evaluated + min((watch.shown.every for watch in self.watches.values()), default=0.0)

    def matches(self, notice: Notice) -> bool:
        """Return True if a notice may have changed the document."""
        return any(concerns(notice, watch.shown.topics) for watch in self.watches.values())


@dataclass
class Answer:
    """The response to the request for a document."""

    status: int = 500
    etag: str | None = None
    notice: str = ""


class Watches:
    """The watches of all pages of this process, on its event loop."""

    def __init__(
        self,
        app: ASGIApp,
        hub: Hub,
        recent: RecentDocuments,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        new_stream: Callable[[Credentials], Stream] = lambda _credentials: Stream(),
    ) -> None:
        self._app, self._hub, self._recent = app, hub, recent
        self._clock, self._sleep, self._new_stream = clock, sleep, new_stream
        self._failures = FailureLog(log)
        self._slots = asyncio.Semaphore(MAX_CONCURRENT_EVALUATIONS)
        self._pages: dict[str, Page] = {}
        self._documents: dict[tuple[str, Credentials], Document] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @contextmanager
    def open(self, credentials: Credentials) -> Iterator[Page]:
        """Open the stream of a page."""
        with self._hub.join(self._new_stream(credentials)) as stream:
            page = Page(stream, credentials, self._hub.newest)
            stream.on_taken = lambda: self._resume(page)
            self._pages[page.id] = page
            try:
                yield page
            finally:
                del self._pages[page.id]
                self._watch(page, [])

    def watch(
        self,
        page_id: str,
        credentials: Credentials,
        shown: Sequence[ShownDocument],
        wanted: Collection[Topic] | None = None,
    ) -> bool:
        """Replace the watches of a page and the notices that it wants. Return False if there is no such page."""
        page = self._pages.get(page_id)
        if page is None or page.credentials != credentials:
            return False
        self._watch(page, shown)
        # Send only these notices from now on. Repeat those that the page wanted too late.
        before, page.stream.topics = page.stream.topics, wanted
        if before is not None and before != wanted:
            for notice in self._hub.since(page.opened):
                if not concerns(notice, before):
                    page.stream.put(notice)
        return True

    def put(self, notice: Notice) -> None:
        """Schedule the documents that a notice may have changed."""
        for document in tuple(self._documents.values()):
            if not document.is_due and document.matches(notice):
                self._schedule(document)

    def end(self) -> None:
        """Do nothing, because the streams end."""

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Follow the notices inside the block. At its end, stop all evaluations."""
        self._hub.others.add(self)
        try:
            yield
        finally:
            self._hub.others.discard(self)
            await cancel_all(self._tasks)

    def _watch(self, page: Page, shown: Sequence[ShownDocument]) -> None:
        for path in page.documents.keys() - {each.path for each in shown}:
            document = page.documents.pop(path)
            del document.watches[page]
            page.delayed.discard(document)
            self._drop_if_unused(document)
        for each in shown:
            key = each.path, page.credentials
            document = self._documents.setdefault(key, Document(*key))
            page.documents[each.path] = document
            if self._add(document, page, each):
                self._schedule(document)

    def _drop_if_unused(self, document: Document) -> None:
        if not document.watches and document.task is None:
            del self._documents[document.path, document.credentials]

    def _add(self, document: Document, page: Page, shown: ShownDocument) -> bool:
        """Add or update the watch of a page. Return True if the document has to be evaluated for it."""
        watch = document.watches.get(page)
        if watch is None:
            watch = document.watches[page] = Watch(shown, set())
        if watch.versions == {shown.etag} and watch.shown.is_like(shown):
            return False
        watch.shown = shown
        if watch.versions - {None, shown.etag}:
            # The page has fetched the document itself, or it has lost or not yet taken the last event.
            watch.versions.add(shown.etag)
            return True
        watch.versions = {shown.etag}
        return self._recent.get(shown.etag) is None or self._hub.may_have_missed(shown.notice, shown.topics)

    def _resume(self, page: Page) -> None:
        while page.delayed and page.stream.has_room:
            self._schedule(page.delayed.pop())

    def _schedule(self, document: Document) -> None:
        document.is_due = True
        if document.task is None:
            document.task = asyncio.create_task(self._evaluate_when_due(document))
            self._tasks.add(document.task)
            document.task.add_done_callback(self._tasks.discard)

    async def _evaluate_when_due(self, document: Document) -> None:
        try:
            while document.is_due and document.watches:
                await self._sleep(max(0.0, document.due_at - self._clock()))
                async with self._slots:
                    document.is_due = False
                    try:
                        await self._evaluate(document)
                    except Exception as error:
                        self._failures.failed("A document of open pages cannot be updated until its next change", error)
        finally:
            document.is_due, document.task = False, None
            self._drop_if_unused(document)

    async def _evaluate(self, document: Document) -> None:
        """Request a document, and send its change to the pages that watch it."""
        pages = [page for page in document.watches if page.stream.has_room]
        for page in document.watches.keys() - {*pages}:
            page.delayed.add(document)
        if not pages:
            return
        shown = {page: document.watches[page].shown for page in pages}
        answer = await self._request(document)
        document.evaluated = self._clock()
        outdated = [document.watches[page].outdated(answer.etag) for page in pages if page in document.watches]
        bases = {_base(versions) for versions in outdated if versions}
        changes = {base: await self._describe(document.path, answer, base) for base in bases}
        for page in pages:
            watch = document.watches.get(page)
            if watch is None:
                continue
            if watch.shown is not shown[page]:
                # The page has sent its documents again, and may hold a newer version than this one.
                self._schedule(document)
            elif versions := watch.outdated(answer.etag):
                watch.versions = {answer.etag}
                page.stream.put(Event(self._hub.newest, DOCUMENT_CHANGED, changes[_base(versions)]))
        held = set().union(*(watch.versions for watch in document.watches.values()))
        for base in changes.keys() - held:
            self._recent.expire(base)

    async def _request(self, document: Document) -> Answer:
        """Send the request for a document through the application."""
        answer = Answer()
        body = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> Message:
            for message in body:
                return message
            # The request is never disconnected.
            return await asyncio.Future()

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = Headers(raw=message["headers"])
                answer.status = message["status"]
                if NOTICE_HEADER in headers:
                    answer.etag, answer.notice = headers["etag"].strip('"'), headers[NOTICE_HEADER]

        try:
            await self._app(document.credentials.scope(document.path), receive, send)
        except Exception:
            # The application has logged it, and raises it again for the web server.
            answer.status, answer.etag = 500, None
        if answer.etag is not None and self._recent.get(answer.etag) is None:
            answer.status, answer.etag = TOO_LARGE, None
        elif answer.etag is None and answer.status == 200:
            answer.status = NO_DOCUMENT
        return answer

    async def _describe(self, path: str, answer: Answer, base: str | None) -> str:
        """Return the data of the event for pages that hold a version."""
        body = self._recent.get(answer.etag)
        if answer.etag is None or body is None:
            return json.dumps({"path": path, "status": answer.status})
        versions, bodies = (base, answer.etag), (self._recent.get(base), body)
        return await run_in_threadpool(change_as_json, path, versions, bodies, answer.notice)


def _base(versions: set[str | None]) -> str | None:
    """Return the version that a page holds, or None if there are several."""
    return next(iter(versions)) if len(versions) == 1 else None


@asynccontextmanager
async def running(app: FastAPI, new_stream: Callable[[Credentials], Stream]) -> AsyncIterator[None]:
    """Let pages watch documents of the application inside the block, as `app.state.watches`."""
    app.state.watches = Watches(app, app.state.hub, app.state.recent_documents, new_stream=new_stream)
    async with app.state.watches.following():
        yield
