"""Tests of the bins of an axis."""

import math

import numpy as np
import pytest

from arcadia_backend.metrics.reading import Bins, bins_over, round_width


def test_bins_are_equally_wide_and_contain_both_ends() -> None:
    bins = Bins(0, 25.0, 4)
    assert bins.index(np.array([0.0, 24.9, 25.0, 99.9, 100.0])).tolist() == [0, 0, 1, 3, 3]


def test_bins_of_a_logarithmic_axis_have_equal_ratios() -> None:
    bins = Bins(0, math.log(10), 4, log=True)
    assert bins.index(np.array([0.0, 1.0, 9.0, 11.0, 101.0, 9_000.0, 10_000.0])).tolist() == [0, 0, 0, 1, 2, 3, 3]


def test_a_range_without_width_is_one_bin() -> None:
    for low, high in ((5.0, 5.0), (math.inf, -math.inf)):
        assert bins_over(low, high, 10).index(np.array([5.0, 5.0])).tolist() == [0, 0]


def test_a_wide_span_that_crosses_a_border_must_be_split() -> None:
    bins = Bins(0, 10.0, 10)
    first, last = np.array([1.0, 9.0, 9.0, 12.0]), np.array([8.0, 10.5, 15.0, 33.0])
    assert bins.must_split(first, last).tolist() == [False, False, True, True]


@pytest.mark.parametrize("log", [False, True])
def test_borders_do_not_move_when_the_axis_grows(log: bool) -> None:
    ends = np.linspace(1_000.0, 1_200.0, 50)
    grown = [bins_over(10.0, float(end), 100, log) for end in ends]
    assert len({bins.width for bins in grown}) <= 3
    for bins, end in zip(grown, ends, strict=True):
        assert 75 <= bins.number <= 100
        assert bins.index(np.array([10.0, end])).tolist() == [0, bins.number - 1]
        same = next(other for other in grown if other.width == bins.width)
        x = np.linspace(10.0, 1_000.0, 500)
        assert bins.index(x).tolist() == same.index(x).tolist()


@pytest.mark.parametrize(("minimum", "width"), [(1.0, 1.0), (1.01, 1.25), (100.0, 112.0), (0.3, 0.3125), (7.9, 8.0)])
def test_a_width_is_rounded_up(minimum: float, width: float) -> None:
    assert round_width(minimum) == width
