"""The Python client of Arcadia.

client = arcadia.connect("http://127.0.0.1:8000")
run = client.launch("paac-cartpole", seed=3)
run.wait()
"""

from __future__ import annotations

from arcadia._async.client import AsyncClient
from arcadia._async.runs import AsyncRun
from arcadia._sync.client import Client
from arcadia._sync.runs import Run
from arcadia.errors import (
    AmbiguousReferenceError,
    ApiError,
    ArcadiaError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    ServerUnreachableError,
    UnauthorizedError,
    WaitTimeoutError,
)
from arcadia.version import client_version

__all__ = [
    "AmbiguousReferenceError",
    "ApiError",
    "ArcadiaError",
    "AsyncClient",
    "AsyncRun",
    "Client",
    "ConflictError",
    "InvalidRequestError",
    "NotFoundError",
    "Run",
    "ServerUnreachableError",
    "UnauthorizedError",
    "WaitTimeoutError",
    "connect",
]
__version__ = client_version()


def connect(url: str | None = None, token: str | None = None) -> Client:
    """Return a client. URL and token default to ARCADIA_URL, ARCADIA_TOKEN, or the last `arcadia login`."""
    return Client(url, token)
