"""An installation without workers: what they report is sent by the test."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import httpx

from tests.factories import Api
from tests.installation import TOKEN, Installation


@contextlib.contextmanager
def without_workers(directory: Path, *, users_token: str = "") -> Iterator[Installation]:
    """Give an installation that has started and misses no worker, and end it."""
    installation = Installation(directory, lease_seconds=3600, token=users_token)
    installation.http.headers.update(bearer(users_token))
    try:
        installation.start()
        yield installation
    finally:
        installation.close()


@contextlib.contextmanager
def api_of(installation: Installation, *, users_token: str = "") -> Iterator[Api]:
    """Give shorthands for what users and workers do."""

    def client(token: str) -> httpx.Client:
        address = f"http://127.0.0.1:{installation.port}"
        return httpx.Client(base_url=address, headers=bearer(token), trust_env=False)

    with client(users_token) as user, client(TOKEN) as worker:
        yield Api(user, worker)


def bearer(token: str) -> dict[str, str]:
    """Return the header that shows a token, if there is one."""
    return {"Authorization": f"Bearer {token}"} if token else {}
