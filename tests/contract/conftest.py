"""Fixtures with a listening server: on each database, with and without a user token."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from arcadia_backend.app import describe_api
from arcadia_backend.config import Settings
from arcadia_backend.web.security import WrongTokenLimit
from tests.conftest import WORKER_TOKEN
from tests.door import HANGS_SECONDS, listening
from tests.factories import Api

# `make fuzz` sets the number of cases. By default, a few cases are enough to notice breakage.
CASES = int(os.environ.get("ARCADIA_TEST_CASES", "0"))
# Call only paths that match this pattern. By default, call all.
ROUTES = re.compile(os.environ.get("ARCADIA_TEST_ROUTES", ""))
USER_TOKEN = "user-secret"
FIRST_ACCOUNT = "/api/v1/people/first"
DOORS = [("sqlite", ""), ("postgresql", USER_TOKEN)]

at_every_door = pytest.mark.parametrize(
    ("database_url", "token"),
    DOORS,
    indirect=["database_url"],
    ids=[f"{kind}, {'a token' if token else 'no token'}" for kind, token in DOORS],
)


@dataclass(frozen=True)
class Door:
    """A listening server with the description of its API."""

    port: int
    document: dict[str, Any]
    api: Api
    user: dict[str, str]
    worker: dict[str, str]

    def headers(self, path: str) -> dict[str, str]:
        """Return the authorization headers for a path."""
        return self.worker if path.startswith("/api/v1/worker/") else self.user


@pytest.fixture
def token() -> str:
    """Return the user token. `at_every_door` overrides it."""
    return ""


@pytest.fixture
def door(app: FastAPI, settings: Settings, token: str) -> Iterator[Door]:
    """Start the server. Its limit of wrong tokens never applies, because these tests send many."""
    app.state.settings = settings.model_copy(update={"token": SecretStr(token)})
    user = {"Authorization": f"Bearer {token}"} if token else {}
    worker = {"Authorization": f"Bearer {WORKER_TOKEN}"}
    with listening(app) as port:
        limit = WrongTokenLimit(clock=count(step=61).__next__)
        app.state.credentials.limit = app.state.credentials.worker_limit = limit
        address = f"http://127.0.0.1:{port}"
        with (
            httpx.Client(base_url=address, headers=user, timeout=HANGS_SECONDS) as user_client,
            httpx.Client(base_url=address, headers=worker, timeout=HANGS_SECONDS) as worker_client,
        ):
            document = {**describe_api(app)}
            # After a call of the excluded path, every call needs a sign-in.
            paths = document["paths"].items()
            document["paths"] = {path: calls for path, calls in paths if ROUTES.search(path) and path != FIRST_ACCOUNT}
            yield Door(port, document, Api(user_client, worker_client), user, worker)
