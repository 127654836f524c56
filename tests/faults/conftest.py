"""An installation for the tests of a file; each finds Redis and the backend there, and no worker."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.installation import Installation


@contextmanager
def started(installation: Installation) -> Iterator[Installation]:
    """Start an installation, and leave nothing of it."""
    try:
        installation.start()
        yield installation
    finally:
        installation.close()


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation for all tests of a file: a backend takes two seconds of processor time to start."""
    with started(Installation(tmp_path_factory.mktemp("installation"))) as installation:
        yield installation


@pytest.fixture
def installation(standing: Installation) -> Installation:
    """Return an installation without workers, whatever the test before it left."""
    standing.start()
    standing.dismiss_workers()
    return standing


@pytest.fixture
def impatient_installation(tmp_path: Path) -> Iterator[Installation]:
    """Yield one with leases short enough to wait for, and long enough for a worker on a busy machine to renew."""
    with started(Installation(tmp_path, lease_seconds=10)) as installation:
        yield installation
