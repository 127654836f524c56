"""Rights of the live stream: a page gets only notices of what its person may see.

Notices only name what changed, so the projects of these objects are read from the database, for all pages together.
The credentials of a page are checked again with each notice, and its stream ends if they are no longer valid. After a
change of its rights it fetches everything again. This module also hears of such changes from other processes.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from arcadia_backend.accounts import roles
from arcadia_backend.database.engine import Database
from arcadia_backend.database.rights import projects_of
from arcadia_backend.database.scope import BACKEND, Scope, acting_as
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.channel import cancel_all
from arcadia_backend.live.notices import REFETCH, RIGHTS_CHANGED, Event, Notice, Stream
from arcadia_backend.live.watches import Credentials
from arcadia_backend.web.credentials import CallerCredentials
from arcadia_backend.web.security import Unauthorized

log = logging.getLogger(__name__)

# The table of an object, by its key in the payload of a notice.
TABLES = {"run_id": "runs", "study_id": "studies", "project_id": "projects"}
# Notices with the `id` of an object of this table.
BY_ID = {"job.changed": "jobs", "play.changed": "jobs", "bulk.changed": "bulk_actions"}
# About the installation, to everyone who may read: all projects share its workers.
FOR_EVERYONE = frozenset({"worker.changed"})
# An object may move to another project.
CACHE_SECONDS = 5.0
MAX_CACHED = 10_000

Key = tuple[str, int]
Projects = frozenset[int]


@dataclass(frozen=True)
class CachedProjects:
    """The projects of an object, and until when they are known."""

    projects: Projects
    ends: float


class LimitedStream(Stream):
    """The stream of a page whose notices are checked."""

    def __init__(self, rights: "NoticeRights", page: Credentials) -> None:
        super().__init__()
        self.page, self._rights = page, rights
        self.scope: Scope | None = None

    def put(self, event: Event) -> None:
        """Add an event. Notices wait until they are checked."""
        if isinstance(event, Notice) and event.name != REFETCH:
            self._rights.check_soon(self, event)
        else:
            super().put(event)

    def deliver(self, notice: Notice) -> None:
        """Add a notice that was checked."""
        super().put(notice)


class NoticeRights:
    """Checks the notices of all pages of this process, on its event loop."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._database: Database = app.state.database
        self._credentials: CallerCredentials = app.state.credentials
        self._waiting: list[tuple[LimitedStream, Notice]] = []
        self._added = asyncio.Event()
        self._cache: OrderedDict[Key, CachedProjects] = OrderedDict()
        self._failures = FailureLog(log)

    def new_stream(self, page: Credentials) -> Stream:
        """Return the stream of a page. Without accounts it gets all notices."""
        return Stream() if self._credentials.is_open else LimitedStream(self, page)

    def put(self, notice: Notice) -> None:
        """Forget what is known of rights if they have changed, or if notices were lost."""
        if notice.name in (RIGHTS_CHANGED, REFETCH):
            roles.forget_now()

    def end(self) -> None:
        """Do nothing, because the streams end."""

    def check_soon(self, stream: LimitedStream, notice: Notice) -> None:
        """Deliver a notice to a stream, if its page may see what the notice is about."""
        self._waiting.append((stream, notice))
        self._added.set()

    @asynccontextmanager
    async def checking(self) -> AsyncIterator[None]:
        """Check notices inside the block."""
        task = asyncio.create_task(self._check_all())
        try:
            yield
        finally:
            await cancel_all([task])

    async def _check_all(self) -> None:
        while True:
            await self._added.wait()
            self._added.clear()
            waiting, self._waiting = self._waiting, []
            try:
                await self._check(waiting)
            except Exception as error:
                self._failures.failed("Notices could not be checked, so pages fetch everything", error)
                for stream in {stream for stream, _notice in waiting}:
                    Stream.put(stream, Notice(waiting[-1][1].id, REFETCH, "{}", {}))

    async def _check(self, waiting: Collection[tuple[LimitedStream, Notice]]) -> None:
        scopes = {stream: await self._scope_of(stream) for stream in dict.fromkeys(each for each, _notice in waiting)}
        keys = dict.fromkeys(key for _stream, notice in waiting if (key := key_of(notice)) is not None)
        projects = await self._read(keys)
        for stream, notice in waiting:
            scope, before = scopes[stream], stream.scope
            stream.scope = scope
            if scope is None:
                stream.end()
            elif before is not None and (before.projects, before.everything) != (scope.projects, scope.everything):
                stream.deliver(Notice(notice.id, REFETCH, "{}", {}))
            elif notice.name != RIGHTS_CHANGED and is_visible(notice, scope, projects):
                stream.deliver(notice)

    async def _scope_of(self, stream: LimitedStream) -> Scope | None:
        """Return what the person of a page may see now, or None if the page has to sign in again."""
        try:
            return await self._credentials.present(self._app, stream.page)
        except Unauthorized:
            return None

    async def _read(self, keys: Iterable[Key]) -> Mapping[Key, Projects]:
        """Return the projects of objects. Those of deleted ones are the last known ones."""
        now = time.monotonic()
        wanted = [key for key in keys if (known := self._cache.get(key)) is None or known.ends < now]
        if wanted:
            for key, projects in (await run_in_threadpool(self._query, wanted)).items():
                if projects or key not in self._cache:
                    self._cache[key] = CachedProjects(projects, now + CACHE_SECONDS)
                self._cache.move_to_end(key)
            while len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)
        return {key: known.projects for key, known in self._cache.items()}

    def _query(self, keys: Iterable[Key]) -> dict[Key, Projects]:
        with acting_as(BACKEND), self._database.read() as session:
            return {key: _projects_of(session, *key) for key in keys}


def _projects_of(session: Session, table: str, key: int) -> Projects:
    if table == "projects":
        # Also of a deleted one, whose members should know.
        return frozenset({key})
    return frozenset(projects_of(session, table, [key]))


def key_of(notice: Notice) -> Key | None:
    """Return the table and the id of what a notice is about, or None if it names nothing."""
    payload: dict[str, Any] = notice.payload
    for name, table in TABLES.items():
        if isinstance(payload.get(name), int):
            return table, payload[name]
    table_of_id = BY_ID.get(notice.name)
    # A job of a run has named its run above.
    return (table_of_id, payload["id"]) if table_of_id and isinstance(payload.get("id"), int) else None


def is_visible(notice: Notice, scope: Scope, projects: Mapping[Key, Projects]) -> bool:
    """Return True if a page may see a notice. One that names nothing is only for administrators."""
    if scope.everything or notice.name in FOR_EVERYONE:
        return True
    key = key_of(notice)
    if key is None:
        return False
    # Notices of deleted objects name their project.
    named = notice.payload.get("project_id")
    found = projects.get(key) or (frozenset({named}) if isinstance(named, int) else frozenset())
    return bool(found) and found <= scope.projects.keys()


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Check the notices of the application's pages inside the block, as `app.state.notice_rights`."""
    app.state.notice_rights = rights = NoticeRights(app)
    app.state.hub.others.add(rights)
    async with rights.checking():
        yield
    app.state.hub.others.discard(rights)
