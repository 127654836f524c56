"""Tests that the dynamic adjustment keeps faster settings and reverts others, with artificial rates."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from arcadia_workers.trainer.methods.ga3c.crew import Adjustment, Counts

MOST = Counts(agents=8, predictors=3, trainers=3)
SECONDS = 10.0


def history(rate: Callable[[Counts], float], periods: int, start: Counts, seed: int = 0) -> list[Counts]:
    """Return the settings in each period, given the update rate of each setting."""
    adjustment = Adjustment(start, MOST, SECONDS, np.random.default_rng(seed))
    adjustment.observe(0.0, 0)
    settings, updates = [], 0.0
    for period in range(periods):
        settings.append(adjustment.counts)
        updates += rate(adjustment.counts) * SECONDS
        adjustment.observe((period + 1) * SECONDS, round(updates))
    return settings


def distance(a: Counts, b: Counts) -> int:
    return abs(a.agents - b.agents) + abs(a.predictors - b.predictors) + abs(a.trainers - b.trainers)


def test_each_trial_changes_one_count_by_one_within_the_bounds() -> None:
    settings = history(lambda _: 1.0, periods=400, start=Counts(1, 1, 1))
    assert {distance(a, b) for a, b in pairwise(settings)} == {1}
    settings = history(lambda counts: counts.agents + counts.predictors + counts.trainers, 400, Counts(1, 1, 1))
    assert max(settings, key=lambda counts: counts.agents) == MOST
    assert min(min(counts.agents, counts.predictors, counts.trainers) for counts in settings) == 1


def test_a_faster_setting_is_kept() -> None:
    first, second, third = history(lambda counts: 100 * distance(counts, Counts(4, 2, 2)) + 1, 3, Counts(4, 2, 2))
    assert distance(first, second) == 1
    assert distance(second, third) == 1
    assert third != first  # the next trial starts from the second setting


def test_a_setting_on_trial_is_not_kept_yet() -> None:
    start = Counts(4, 2, 2)
    adjustment = Adjustment(start, MOST, SECONDS, np.random.default_rng(0))
    kept, tried = [adjustment.kept], [adjustment.counts]
    # A measurement, then two trials: the first is faster, the second is not.
    for second, updates in ((0, 0), (10, 100), (20, 300), (30, 400)):
        adjustment.observe(float(second), updates)
        kept.append(adjustment.kept)
        tried.append(adjustment.counts)
    assert kept == [start, start, start, tried[2], tried[2]]
    assert tried[2] != start


@pytest.mark.parametrize("rate_of_others", [0.0, 100.0], ids=["slower", "equally fast"])
def test_a_setting_that_is_not_faster_is_reverted(rate_of_others: float) -> None:
    start = Counts(4, 2, 2)
    settings = history(lambda counts: 100.0 if counts == start else rate_of_others, 21, start)
    assert settings[::2] == [start] * 11
    assert len(set(settings[1::2])) > 1


def test_the_search_reaches_the_fastest_setting_and_stays_near_it() -> None:
    best = Counts(6, 2, 3)
    settings = history(lambda counts: 100.0 - distance(counts, best), 300, Counts(1, 1, 1))
    assert all(distance(counts, best) <= 1 for counts in settings[200:])


def test_a_machine_that_becomes_slower_does_not_stop_the_search() -> None:
    adjustment = Adjustment(Counts(4, 2, 2), MOST, SECONDS, np.random.default_rng(0))
    rates = [100, *[10 + i for i in range(20)]]  # slow from the second period on, and a little faster each time
    updates, settings = 0, []
    adjustment.observe(0.0, 0)
    for period, rate in enumerate(rates):
        updates += rate * int(SECONDS)
        adjustment.observe((period + 1) * SECONDS, updates)
        settings.append(adjustment.counts)
    assert all(a != b for a, b in pairwise(settings[3:]))
    assert len(set(settings[3:])) > 3


def test_nothing_changes_before_the_end_of_the_period() -> None:
    adjustment = Adjustment(Counts(4, 2, 2), MOST, SECONDS, np.random.default_rng(0))
    for now in np.arange(100.0, 109.9, 0.1):
        adjustment.observe(now, 1)
        assert adjustment.counts == Counts(4, 2, 2)
    adjustment.observe(110.0, 1)
    assert adjustment.counts != Counts(4, 2, 2)
