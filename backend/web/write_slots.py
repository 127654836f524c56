"""Write slots limit concurrent writes, so that slow writes cannot starve reads of threads."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from backend.errors import Problem, respond, unavailable
from backend.web.security import PUBLIC, SAFE_METHODS, UPLOAD

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
    # An upload acquires its slot after its body was received. Signing in must work even if writes are slow.
    if request.method in SAFE_METHODS or path in PUBLIC or UPLOAD.fullmatch(path):
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
