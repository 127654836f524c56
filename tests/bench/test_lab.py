"""The simulated lab keeps its promises, and notices orders and forecasts that break them."""

from typing import Any

import pytest

from arcadia_backend.runs.order import WaitingWork
from arcadia_backend.runs.starts import ExpectedStart, forecast_starts
from bench import lab


def test_three_weeks_are_shared_and_forecast_as_promised() -> None:
    month = lab.simulate(seed=1, hours_between=24, days=21)
    assert month.share_error <= 0.05
    assert month.utilization >= 0.95
    assert 0.85 <= month.covered <= 0.95
    assert month.forecasts > 200


def test_an_order_by_age_breaks_the_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_age(waiting: list[WaitingWork], _use: object, _shares: object) -> list[WaitingWork]:
        return sorted(waiting, key=lambda work: work.created)

    monkeypatch.setattr(lab, "order", by_age)
    assert lab.simulate(seed=1, hours_between=21 * 24, days=21).share_error > 0.2


def test_forecasts_of_the_middle_do_not_cover_nine_of_ten(monkeypatch: pytest.MonkeyPatch) -> None:
    def narrow(*inputs: Any) -> dict[int, ExpectedStart]:
        return {key: ExpectedStart(each.expected, each.expected) for key, each in forecast_starts(*inputs).items()}

    monkeypatch.setattr(lab, "forecast_starts", narrow)
    assert lab.simulate(seed=1, hours_between=96, days=14).covered < 0.8


@pytest.mark.nightly
def test_five_months_are_shared_and_forecast_as_promised() -> None:
    months = [lab.simulate(seed) for seed in lab.FULL_SEEDS]
    assert max(month.share_error for month in months) <= 0.05
    assert min(month.utilization for month in months) >= 0.95
    assert all(0.80 <= month.covered <= 0.97 for month in months)
    covered = sum(month.covered * month.forecasts for month in months) / sum(month.forecasts for month in months)
    assert 0.85 <= covered <= 0.95
    # A person who used more than the others waits until they have caught up, and no longer.
    assert max(month.longest_gap_hours for month in months) < 7 * 24
