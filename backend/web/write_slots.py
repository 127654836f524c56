"""Those who write take slots: few have a thread at a time, so that reads find one whatever holds the writers up."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from backend.errors import Problem, respond, unavailable
from backend.web.security import PUBLIC, SAFE_METHODS, UPLOAD

# Of the forty threads that answer requests.
MAX_CONCURRENT_WRITES = 16
# Less than the five seconds after which a worker takes the backend for unreachable.
WRITE_TIMEOUT_SECONDS = 3.0
RETRY_AFTER_SECONDS = 2


class Busy(Problem):
    """Nothing can be written at the moment."""

    status = 503
    kind = "busy"
    title = "Busy"

    def __init__(self) -> None:
        super().__init__("The database takes no more changes at the moment. Nothing was changed; try again soon.")
        self.headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}


def new_write_slots() -> anyio.CapacityLimiter:
    """Turns for one event loop."""
    return anyio.CapacityLimiter(MAX_CONCURRENT_WRITES)


@asynccontextmanager
async def write_slot(app: FastAPI, patience: float) -> AsyncIterator[None]:
    """Wait for a write_slot to write, which costs no thread; a problem when none comes soon."""
    slots: anyio.CapacityLimiter = app.state.write_slots
    holder = object()
    try:
        with anyio.fail_after(patience):
            await slots.acquire_on_behalf_of(holder)
    except TimeoutError:
        raise Busy from None
    try:
        yield
    finally:
        slots.release_on_behalf_of(holder)


async def hold_write_slot(request: Request) -> AsyncIterator[None]:
    """The dependency of every API route: one that may write waits for its write_slot, its body being here already."""
    path: str = request.scope["path"]
    # An upload takes its write_slot when its body has come; a sign-in writes nothing.
    if request.method in SAFE_METHODS or path in PUBLIC or UPLOAD.fullmatch(path):
        yield
        return
    async with write_slot(request.app, WRITE_TIMEOUT_SECONDS):
        yield


def install(app: FastAPI) -> None:
    """Answer that the database is busy where its patience came to an end."""

    @app.exception_handler(NoConnectionError)
    def no_connection(_request: Request, _error: NoConnectionError) -> JSONResponse:
        return respond(Busy())

    @app.exception_handler(OperationalError)
    def locked(request: Request, error: OperationalError) -> JSONResponse:
        return respond(Busy()) if "database is locked" in str(error.orig) else unavailable(request, error)
