"""A fresh installation for each fault."""

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


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with started(Installation(tmp_path)) as installation:
        yield installation


@pytest.fixture
def impatient_installation(tmp_path: Path) -> Iterator[Installation]:
    """Yield one with leases short enough to wait for, and long enough for a worker on a busy machine to renew."""
    with started(Installation(tmp_path, lease_seconds=10)) as installation:
        yield installation
