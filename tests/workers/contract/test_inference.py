"""Tests of Student's t-intervals against SciPy."""

import json
from pathlib import Path

import pytest

from workers.contract.inference import student_quantile, t_interval

REFERENCE = json.loads((Path(__file__).parents[2] / "fixtures" / "rliable.json").read_text())


@pytest.mark.parametrize(("probability", "freedom", "expected"), REFERENCE["student"])
def test_students_quantile_equals_that_of_scipy(probability: float, freedom: float, expected: float) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(expected, rel=1e-6)


def test_the_interval_of_a_mean() -> None:
    # scipy.stats.t.interval(0.95, 3, loc=2.5, scale=scipy.stats.sem([1, 2, 3, 4]))
    assert t_interval([1, 2, 3, 4]) == pytest.approx((0.4457397, 4.5542603))
    assert t_interval([2, 2]) == (2, 2)
    assert t_interval([2]) is None
