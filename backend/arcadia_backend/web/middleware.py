"""Middleware: the Allow header, compression, write slots, and log limits."""

import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from re import Pattern
from typing import cast

import anyio
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.routing import Match
from starlette.types import ASGIApp, Scope

from arcadia_backend.errors import Problem, respond, unavailable
from arcadia_backend.web.doors import Right, right_of
from arcadia_backend.web.security import SAFE_METHODS, UPLOAD, WATCHES


class MethodNotAllowed(Problem):
    """The path exists, but not for this method."""

    status = 405
    kind = "method-not-allowed"
    title = "Method not allowed"

    def __init__(self, method: str, methods: Sequence[str]) -> None:
        allowed = ", ".join(methods)
        super().__init__(f"{method[:20]} is not allowed here. Use {allowed}.")
        self.headers = {"Allow": allowed}


class SegmentRouter(APIRouter):
    """The routes whose paths start with the same segment. The framework tries each of them with every request."""

    def __init__(self, start: str) -> None:
        super().__init__()
        self._start = start

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return no match at once for a path with another start."""
        path: str = scope["path"]
        if path != self._start and not path.startswith(f"{self._start}/"):
            return Match.NONE, {}
        return super().matches(scope)


def group_by_first_segment(prefix: str, routers: Sequence[APIRouter]) -> list[SegmentRouter]:
    """Return routers with all routes, so that a request is compared only with the routes of its first segment."""
    groups: dict[str, SegmentRouter] = {}
    for router in routers:
        for route in router.routes:
            segment = cast(APIRoute, route).path.split("/")[1]
            groups.setdefault(segment, SegmentRouter(f"{prefix}/{segment}")).routes.append(route)
    return [*groups.values()]


class AllowedMethods:
    """The methods of each path of the API, for the Allow header of a 405.

    FastAPI makes one route per function. Its own 405 lists the methods of one route, and a catch-all route prevents it.
    """

    def __init__(self, prefix: str, routers: Sequence[APIRouter]) -> None:
        self._prefix = prefix
        routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
        self._routes: list[tuple[Pattern[str], set[str]]] = [
            (each.path_regex, each.methods or set()) for each in routes
        ]
        self._literal: dict[str, set[str]] = {}
        for each in routes:
            if "{" not in each.path:
                self._literal.setdefault(each.path, set()).update(each.methods or ())

    def methods(self, path: str) -> list[str]:
        """Return the methods of a path in alphabetical order."""
        if not path.startswith(self._prefix):
            return []
        rest = path.removeprefix(self._prefix)
        if rest in self._literal:
            return sorted(self._literal[rest])
        return sorted(set().union(*(methods for pattern, methods in self._routes if pattern.match(rest))))

    async def check_literal_path(self, request: Request) -> None:
        """Raise MethodNotAllowed if a literal path such as /runs/preview would be read as /runs/{run_id}."""
        path: str = request.scope["path"]
        named = self._literal.get(path.removeprefix(self._prefix))
        if named is not None and request.method not in named:
            raise MethodNotAllowed(request.method, sorted(named))

    def install(self, app: FastAPI) -> None:
        """Replace the framework's 405, which lists only the methods of one route."""

        @app.exception_handler(405)
        def wrong_method(request: Request, error: HTTPException) -> JSONResponse:
            fallback = (error.headers or {}).get("Allow", "")
            methods = self.methods(request.scope["path"]) or sorted(fallback.split(", "))
            return respond(MethodNotAllowed(request.method, methods))


# Higher levels cost a live figure more time on the server than they save on the network.
COMPRESSION_LEVEL = 4
# Checkpoints do not shrink, and compressed downloads have no Content-Length to show progress with. Each event of a
# stream is sent at once, because the compression flushes after each part.
UNCOMPRESSED_TYPES = {*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/octet-stream"} - {"text/event-stream"}


class Compression(GZipMiddleware):
    """Middleware that compresses responses for clients that accept it."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            app, minimum_size=1_000, compresslevel=COMPRESSION_LEVEL, exclude_content_types=tuple(UNCOMPRESSED_TYPES)
        )


# There are 40 threads for requests.
MAX_CONCURRENT_WRITES = 16
# Workers treat the backend as unreachable after 5 seconds.
WRITE_TIMEOUT_SECONDS = 3.0
RETRY_AFTER_SECONDS = 2


class Busy(Problem):
    """The database accepts no more writes at the moment."""

    status = 503
    kind = "busy"
    title = "Busy"

    def __init__(self) -> None:
        super().__init__("The database is busy. Nothing was changed. Try again soon.")
        self.headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}


def new_write_slots() -> anyio.CapacityLimiter:
    """Return the write slots of one event loop."""
    return anyio.CapacityLimiter(MAX_CONCURRENT_WRITES)


@asynccontextmanager
async def write_slot(app: FastAPI, timeout: float) -> AsyncIterator[None]:
    """Acquire a write slot without blocking a thread. Raise Busy on timeout."""
    slots: anyio.CapacityLimiter = app.state.write_slots
    holder = object()
    try:
        with anyio.fail_after(timeout):
            await slots.acquire_on_behalf_of(holder)
    except TimeoutError:
        raise Busy from None
    try:
        yield
    finally:
        slots.release_on_behalf_of(holder)


async def hold_write_slot(request: Request) -> AsyncIterator[None]:
    """Hold a write slot during a request that may write. FastAPI has received the body before."""
    path: str = request.scope["path"]
    # An upload acquires its slot after its body was received. Signing in must work even if writes are slow. Watches are
    # not in the database.
    is_public = right_of(request.method, path) == Right.PUBLIC
    if request.method in SAFE_METHODS or is_public or UPLOAD.fullmatch(path) or WATCHES.fullmatch(path):
        yield
        return
    async with write_slot(request.app, WRITE_TIMEOUT_SECONDS):
        yield


def install(app: FastAPI) -> None:
    """Respond with Busy when the database times out."""

    @app.exception_handler(NoConnectionError)
    def no_connection(_request: Request, _error: NoConnectionError) -> JSONResponse:
        return respond(Busy())

    @app.exception_handler(OperationalError)
    def locked(request: Request, error: OperationalError) -> JSONResponse:
        return respond(Busy()) if "database is locked" in str(error.orig) else unavailable(request, error)


# Loggers that log a line for bad input of any client.
LOGGERS = ("uvicorn.error", "arcadia_backend.errors")
LINES_PER_MINUTE = 10
MAX_LINE_LENGTH = 300
# Messages of the WebSocket library about invalid input. Their tracebacks show only its own code.
CLIENT_ERRORS = ("opening handshake failed", "parser failed", "Invalid UTF-8 sequence received from client.")
# Each follows the log line of a denied WebSocket, and adds nothing to it.
REDUNDANT_LINES = ("connection rejected (%d %s)", "ASGI callable returned without completing handshake.")


class LineRateLimit(logging.Filter):
    """Filter that passes a few lines a minute from each place in the code, and reports how many it dropped."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        # The start of the current minute and the lines in it, by place in the code.
        self._seen: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the line should be written, and shorten it."""
        if record.msg in REDUNDANT_LINES:
            return False
        dropped = self._count(record)
        if dropped is None:
            return False
        text = record.getMessage()
        if record.msg in CLIENT_ERRORS and record.exc_info:
            text = f"{text}: {record.exc_info[1]}"
            record.exc_info = record.exc_text = None
        text = text if len(text) <= MAX_LINE_LENGTH else f"{text[:MAX_LINE_LENGTH]}…"
        record.msg, record.args = f"{text} ({dropped:,} similar lines were dropped)" if dropped else text, None
        return True

    def _count(self, record: logging.LogRecord) -> int | None:
        """Return how many lines were dropped before this one, or None to drop this one too."""
        place = (record.pathname, record.lineno)
        with self._lock:
            now = self._clock()
            began, lines = self._seen.get(place, (now, 0))
            dropped = 0
            if now - began >= 60:
                dropped = max(0, lines - LINES_PER_MINUTE)
                began, lines = now, 0
            self._seen[place] = (began, lines + 1)
            return dropped if lines < LINES_PER_MINUTE else None


def limit_log_lines() -> None:
    """Install the rate limit on all loggers that clients can trigger."""
    limit = LineRateLimit()
    for name in LOGGERS:
        logging.getLogger(name).addFilter(limit)
