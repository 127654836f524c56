"""A server with a few documents, and pages that watch them, in one event loop."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from arcadia_backend.live.documents import DocumentVersions, Operation, RecentDocuments
from arcadia_backend.live.notices import REFETCH, Event, Hub, Topic, running
from arcadia_backend.live.watches import DOCUMENT_CHANGED, Credentials, Page, ShownDocument, Watches
from tests.workers.waiting import PATIENCE_SECONDS

RUNS, RUN = "/api/v1/runs?limit=100", "/api/v1/runs/1"
ANA = Credentials("http", "localhost", "", "ana")
RUN_CHANGED = (Topic(frozenset({"run.changed"}), {}),)


def apply(document: Any, patch: Sequence[Operation]) -> Any:
    """Return a document after the operations of a patch."""
    whole = {"document": json.loads(json.dumps(document))}
    for kind, keys, *rest in patch:
        steps: list[str | int] = ["document", *keys]
        *outer, last = steps
        part: Any = whole
        for key in outer:
            part = part[key]
        match kind:
            case "set":
                part[last] = rest[0]
            case "delete":
                del part[last]
            case "splice":
                start, count, items = rest
                part[last][start : start + count] = items
            case _:
                raise AssertionError(kind)
    return whole["document"]


async def taken(page: Page) -> list[tuple[str, Any]]:
    """Let a page take the events that wait for it. Return their names and data."""
    found = []
    while page.stream._waiting.qsize():
        event = await page.stream.next(PATIENCE_SECONDS)
        assert event is not None
        found.append((event.name, json.loads(event.text)))
    return found


@dataclass
class Version:
    """A version of a document, with its etag and the newest notice before it was read."""

    document: Any
    etag: str
    notice: str


# Returns the response to a GET request.
Get = Callable[[str], Awaitable[Version]]


class SimulatedPage:
    """The documents that a page holds. It follows the rules of the events as the frontend does."""

    def __init__(self, get: Get) -> None:
        self._get = get
        self.held: dict[str, Version] = {}

    @property
    def documents(self) -> dict[str, Any]:
        """The documents by path."""
        return {path: version.document for path, version in self.held.items()}

    async def fetch(self, path: str) -> None:
        """Fetch a document."""
        self.held[path] = await self._get(path)

    def shown(self, topics: tuple[Topic, ...], every: float = 0.0) -> list[ShownDocument]:
        """Return the watches of all documents."""
        return [ShownDocument(path, version.etag, version.notice, topics, every) for path, version in self.held.items()]

    async def receive(self, event: Event) -> bool:
        """Apply an event. Return True if the page has to send its watches again."""
        if event.name != DOCUMENT_CHANGED:
            return event.name == REFETCH
        data = json.loads(event.text)
        path, held = data["path"], self.held.get(data["path"])
        if held is None or held.etag == data.get("etag"):
            return False
        if "document" in data:
            self.held[path] = Version(data["document"], data["etag"], data["notice"])
        elif held.etag == data.get("from"):
            self.held[path] = Version(apply(held.document, data["patch"]), data["etag"], data["notice"])
        else:
            await self.fetch(path)
            return True
        return False


class Clock:
    """A clock that runs only while an evaluation waits for it."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Advance the clock."""
        if seconds:
            self.slept.append(seconds)
        await asyncio.sleep(0)
        self.now += seconds


class Server:
    """An application with documents by path, and the watches of its pages."""

    def __init__(self, hub: Hub) -> None:
        self.documents: dict[str, Any] = {}
        # The requests of evaluations by path and session, and how many were open at once.
        self.evaluated: Counter[tuple[str, str]] = Counter()
        self.open = self.most_open = 0
        # Called by each request after it has read the document.
        self.delay: Callable[[], Awaitable[None]] = lambda: asyncio.sleep(0)
        self.clock = Clock()
        self.hub, self.recent = hub, RecentDocuments()
        self._app = DocumentVersions(self._respond)
        self.watches = Watches(self._evaluate, hub, self.recent, lambda: self.clock.now, self.clock.sleep)

    async def _evaluate(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        target = f"{scope['path']}?{scope['query_string'].decode()}".rstrip("?")
        self.evaluated[target, headers[b"cookie"].decode().removeprefix("arcadia_session=")] += 1
        self.open += 1
        self.most_open = max(self.open, self.most_open)
        await self._app({**scope, "app": SimpleNamespace(state=self._state)}, receive, send)
        self.open -= 1

    @property
    def _state(self) -> SimpleNamespace:
        return SimpleNamespace(hub=self.hub, recent_documents=self.recent)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        target = f"{scope['path']}?{scope['query_string'].decode()}".rstrip("?")
        document = self.documents.get(target)
        if isinstance(document, Exception):
            raise document
        response = Response(status_code=404) if document is None else JSONResponse(document)
        await self.delay()
        await response(scope, receive, send)

    async def get(self, path: str) -> Version:
        """Respond to a request of a page."""
        location, _, query = path.partition("?")
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request"}

        scope = {"type": "http", "method": "GET", "path": location, "query_string": query.encode(), "headers": []}
        await self._app({**scope, "app": SimpleNamespace(state=self._state)}, receive, send)
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Version(json.loads(sent[1]["body"]), headers["etag"].strip('"'), headers["arcadia-notice"])

    async def publish(self, kind: str = "run.changed", **payload: Any) -> None:
        """Publish a notice, and wait until it was passed on."""
        before = self.hub.newest
        self.hub.publish(kind, payload or {"run_id": 1})
        while self.hub.newest == before:
            await asyncio.sleep(0)

    @property
    def is_busy(self) -> bool:
        """True while a document is due, or an event waits for a page."""
        waiting = [page.stream._waiting.qsize() for page in self.watches._pages.values()]
        return bool(self.watches._tasks) or any(waiting)

    async def evaluations_end(self) -> None:
        """Wait until nothing is due."""
        while self.watches._tasks:
            await asyncio.wait(set(self.watches._tasks))

    async def changes(self, page: Page) -> list[dict[str, Any]]:
        """Return the data of the changes that a page receives until nothing is due."""
        await self.evaluations_end()
        return [data for name, data in await taken(page) if name == DOCUMENT_CHANGED]

    async def shown(self, path: str, topics: tuple[Topic, ...] = RUN_CHANGED, every: float = 0.0) -> ShownDocument:
        """Return the watch of a page that has just fetched a document."""
        version = await self.get(path)
        return ShownDocument(path, version.etag, version.notice, topics, every)


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    """Run a server with two documents."""
    async with running("") as hub:
        server = Server(hub)
        server.documents = {
            RUNS: [{"id": 1, "step": 0, "name": "PAAC on Pong"}],
            RUN: {"id": 1, "step": 0, "tags": ["long"] * 20},
        }
        async with server.watches.following():
            yield server


def run(test: Callable[[Server], Awaitable[None]]) -> None:
    """Run a test with a server."""

    async def work() -> None:
        async with serving() as server:
            await test(server)

    asyncio.run(asyncio.wait_for(work(), PATIENCE_SECONDS))
