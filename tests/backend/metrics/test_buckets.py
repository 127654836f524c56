"""Bins of an axis."""

import numpy as np

from backend.metrics.buckets import Bins


def test_bins_are_equally_wide_and_hold_both_ends() -> None:
    bins = Bins(0, 100, 4)
    assert bins.of(np.array([0.0, 24.9, 25.0, 99.9, 100.0])).tolist() == [0, 0, 1, 3, 3]


def test_bins_of_a_logarithmic_axis_are_of_equal_ratio() -> None:
    bins = Bins(1, 10_000, 4, log=True)
    assert bins.of(np.array([0.0, 1.0, 9.0, 11.0, 101.0, 9_000.0, 10_000.0])).tolist() == [0, 0, 0, 1, 2, 3, 3]


def test_a_range_without_width_is_one_bin() -> None:
    assert Bins(5, 5, 10).of(np.array([5.0, 5.0])).tolist() == [0, 0]


def test_a_span_is_torn_when_it_is_wide_and_crosses_a_border() -> None:
    bins = Bins(0, 100, 10)
    first, last = np.array([1.0, 9.0, 9.0, 12.0]), np.array([8.0, 10.5, 15.0, 33.0])
    assert bins.torn(first, last).tolist() == [False, False, True, True]
