"""The lab, for tests of accounts."""

from collections.abc import Iterator

import pytest

from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from tests.accounts.lab import Lab, open_lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Yield a lab for the tests of a module."""
    folder = tmp_path_factory.mktemp("lab")
    settings = {"data_dir": folder, "worker_token": "worker-secret", "token": "installation", "sweep_seconds": 60}
    with open_lab(create_app(Settings.model_validate(settings))) as opened:
        yield opened
