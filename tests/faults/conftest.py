"""A fresh installation for each fault."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installation import Installation


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """Yield an installation without workers, whose leases are short."""
    installation = Installation(tmp_path, lease_seconds=4)
    try:
        installation.start()
        yield installation
    finally:
        installation.close()
