"""Tests for the shares of the wall time."""

from arcadia_workers.trainer.methods.paac.framework import Activity, TimeShares


def test_shares_cover_the_time_since_the_last_report_and_add_up_to_one() -> None:
    now = 100.0
    shares = TimeShares(clock=lambda: now)
    done: list[tuple[Activity, float]] = [
        ("environment", 5.0),
        ("selection", 2.0),
        ("environment", 1.0),
        ("learning", 2.0),
    ]
    for activity, seconds in done:
        shares.turn_to(activity)
        now += seconds

    assert shares.report() == {"time/environment": 0.6, "time/selection": 0.2, "time/learning": 0.2}

    now += 3.0  # still learning
    assert shares.report() == {"time/environment": 0.0, "time/selection": 0.0, "time/learning": 1.0}
