"""Fixture for live games that do not wait between pictures."""

import pytest

from arcadia_workers.trainer.live import show
from arcadia_workers.trainer.live.connection import Pace


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the wait between pictures."""
    monkeypatch.setattr(show, "Pace", lambda rate: Pace(rate, sleep=lambda _: None))
