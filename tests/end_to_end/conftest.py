"""One installation with one worker for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.installation import Installation


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation with an idle worker."""
    with Installation(tmp_path_factory.mktemp("installation")) as installation:
        # Every test waits for its training.
        installation.worker("one", niceness=0)
        yield installation
