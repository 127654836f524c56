"""The lab, for tests of accounts."""

from collections.abc import Iterator

import pytest

from tests.accounts.lab import Lab, open_lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Yield a lab for the tests of a module."""
    with open_lab(tmp_path_factory.mktemp("lab")) as opened:
        yield opened
