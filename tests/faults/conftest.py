"""Fixtures with one installation per test file. Each test starts with Redis and the backend, but no worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installation import Installation


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield one installation for all tests of a file, because a backend needs two processor seconds to start."""
    with Installation(tmp_path_factory.mktemp("installation")) as installation:
        yield installation


@pytest.fixture
def installation(standing: Installation) -> Installation:
    """Return the installation without the workers of earlier tests."""
    standing.start()
    standing.dismiss_workers()
    return standing


@pytest.fixture
def impatient_installation(tmp_path: Path) -> Iterator[Installation]:
    """Yield an installation with leases that expire soon, but not before a worker on a busy machine renews them."""
    with Installation(tmp_path, lease_seconds=10) as installation:
        yield installation
