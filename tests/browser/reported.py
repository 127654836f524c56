"""Installation without workers. Tests send the workers' reports."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import httpx

from tests.factories import Api
from tests.installation import TOKEN, Installation, PreparedBackend
from tests.workers.waiting import PATIENCE_SECONDS


@contextlib.contextmanager
def installation_without_workers(
    directory: Path, *, users_token: str = "", **settings: object
) -> Iterator[Installation]:
    """Yield a running installation in which leases do not expire."""
    installation = Installation(directory, PreparedBackend, lease_seconds=3600, token=users_token, **settings)
    installation.http.headers.update(authorization(users_token))
    with installation:
        yield installation


@contextlib.contextmanager
def open_api(installation: Installation, *, users_token: str = "") -> Iterator[Api]:
    """Yield an API client for the actions of users and workers."""

    def client(token: str) -> httpx.Client:
        address = f"http://127.0.0.1:{installation.port}"
        return httpx.Client(base_url=address, headers=authorization(token), timeout=PATIENCE_SECONDS, trust_env=False)

    with client(users_token) as user, client(TOKEN) as worker:
        yield Api(user, worker)


def authorization(token: str) -> dict[str, str]:
    """Return the authorization header for a token, or no header."""
    return {"Authorization": f"Bearer {token}"} if token else {}
