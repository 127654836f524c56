"""Shares of the wall time."""

import pytest

from workers.trainer import time_shares
from workers.trainer.time_shares import TimeShares


def test_shares_are_of_the_time_since_the_last_report_and_add_up_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time_shares.time, "perf_counter", lambda: now)
    shares = TimeShares()
    for activity, seconds in (("environment", 5.0), ("selection", 2.0), ("environment", 1.0), ("learning", 2.0)):
        shares.turn_to(activity)  # type: ignore[arg-type]
        now += seconds

    assert shares.report() == {"time/environment": 0.6, "time/selection": 0.2, "time/learning": 0.2}

    now += 3.0  # still learning
    assert shares.report() == {"time/environment": 0.0, "time/selection": 0.0, "time/learning": 1.0}
