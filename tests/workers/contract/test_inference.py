"""Tests of intervals against SciPy and against simulations with a known truth."""

import json
from pathlib import Path

import numpy as np
import pytest

from workers.contract.inference import clustered_mean_error, student_quantile, t_interval

REFERENCE = json.loads((Path(__file__).parents[2] / "fixtures" / "rliable.json").read_text())


@pytest.mark.parametrize(("probability", "freedom", "expected"), REFERENCE["student"])
def test_students_quantile_equals_that_of_scipy(probability: float, freedom: float, expected: float) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(expected, rel=1e-6)


def test_the_interval_of_a_mean() -> None:
    # scipy.stats.t.interval(0.95, 3, loc=2.5, scale=scipy.stats.sem([1, 2, 3, 4]))
    assert t_interval([1, 2, 3, 4]) == pytest.approx((0.4457397, 4.5542603))
    assert t_interval([2, 2]) == (2, 2)
    assert t_interval([2]) is None


def test_the_interval_of_repeated_values_covers_the_mean() -> None:
    """Episodes start in one of 30 ways, each with one score, and some repeat."""
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(2_000):
        outcomes = random.normal(0, 1, 30)
        drawn = random.integers(30, size=20)
        found = clustered_mean_error(outcomes[drawn].tolist(), drawn.tolist())
        assert found is not None
        covered += found.interval[0] <= outcomes.mean() <= found.interval[1]
    assert covered / 2_000 >= 0.95


def test_the_interval_of_related_values_covers_the_mean_and_the_usual_one_does_not() -> None:
    random = np.random.default_rng(0)
    clusters = np.repeat(np.arange(10), 16)
    covered = np.zeros(2)
    for _ in range(1_000):
        values = (random.normal(0, 1, 10)[clusters] + random.normal(0, 1, len(clusters))).tolist()
        found, usual = clustered_mean_error(values, clusters.tolist()), t_interval(values)
        assert found is not None
        assert usual is not None
        covered += [each[0] <= 0 <= each[1] for each in (found.interval, usual)]
    assert covered[0] / 1_000 >= 0.93
    assert covered[1] / 1_000 < 0.6
