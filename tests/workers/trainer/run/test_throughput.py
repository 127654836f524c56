"""Tests that rates cover the last seconds."""

import pytest

from arcadia_workers.trainer.run.progress import RateMeter


def test_rates_cover_only_the_last_seconds() -> None:
    meter = RateMeter()
    for second in range(101):
        # 100 steps per second at first, then 1,000. An update has 10 steps.
        step = 100 * second if second < 50 else 5000 + 1000 * (second - 50)
        meter.mark(float(second), step, step // 10)
    assert meter.steps_per_second == pytest.approx(1000)
    assert meter.updates_per_second == pytest.approx(100)


def test_a_resumed_run_does_not_count_earlier_steps() -> None:
    meter = RateMeter(begins_at=1_000_000)
    meter.mark(0.0, 1_000_100, 1)
    meter.mark(2.0, 1_000_600, 5)
    assert meter.steps_per_second == 250


def test_the_time_before_the_first_step_does_not_count() -> None:
    meter = RateMeter(begins_at=7)
    meter.mark(0.0, 7, 0)
    meter.mark(9.0, 107, 10)
    assert meter.steps_per_second == 0
    meter.mark(10.0, 207, 20)
    assert (meter.steps_per_second, meter.updates_per_second) == (100, 10)


def test_a_pause_during_training_counts() -> None:
    meter = RateMeter()
    meter.mark(0.0, 100, 10)
    for second in range(1, 5):
        meter.mark(float(second), 200, 20)
    assert meter.steps_per_second == 25


def test_no_rate_is_reported_for_an_instant() -> None:
    meter = RateMeter()
    meter.mark(0.0, 80, 1)
    meter.mark(0.001, 160, 2)
    assert meter.steps_per_second == 0
