"""Bins of an axis."""

import math

import numpy as np
import pytest

from backend.metrics.buckets import Bins, bins_over, round_width


def test_bins_are_equally_wide_and_hold_both_ends() -> None:
    bins = Bins(0, 25.0, 4)
    assert bins.of(np.array([0.0, 24.9, 25.0, 99.9, 100.0])).tolist() == [0, 0, 1, 3, 3]


def test_bins_of_a_logarithmic_axis_are_of_equal_ratio() -> None:
    bins = Bins(0, math.log(10), 4, log=True)
    assert bins.of(np.array([0.0, 1.0, 9.0, 11.0, 101.0, 9_000.0, 10_000.0])).tolist() == [0, 0, 0, 1, 2, 3, 3]


def test_a_range_without_width_is_one_bin() -> None:
    for low, high in ((5.0, 5.0), (math.inf, -math.inf)):
        assert bins_over(low, high, 10).of(np.array([5.0, 5.0])).tolist() == [0, 0]


def test_a_span_is_torn_when_it_is_wide_and_crosses_a_border() -> None:
    bins = Bins(0, 10.0, 10)
    first, last = np.array([1.0, 9.0, 9.0, 12.0]), np.array([8.0, 10.5, 15.0, 33.0])
    assert bins.torn(first, last).tolist() == [False, False, True, True]


@pytest.mark.parametrize("log", [False, True])
def test_borders_stay_while_the_axis_grows(log: bool) -> None:
    ends = np.linspace(1_000.0, 1_200.0, 50)
    grown = [bins_over(10.0, float(end), 100, log) for end in ends]
    assert len({bins.width for bins in grown}) <= 3
    for bins, end in zip(grown, ends, strict=True):
        assert 75 <= bins.number <= 100
        assert bins.of(np.array([10.0, end])).tolist() == [0, bins.number - 1]
        same = next(other for other in grown if other.width == bins.width)
        x = np.linspace(10.0, 1_000.0, 500)
        assert bins.of(x).tolist() == same.of(x).tolist()


@pytest.mark.parametrize(("least", "width"), [(1.0, 1.0), (1.01, 1.25), (100.0, 112.0), (0.3, 0.3125), (7.9, 8.0)])
def test_a_round_width_is_a_little_more_than_what_is_needed(least: float, width: float) -> None:
    assert round_width(least) == width
