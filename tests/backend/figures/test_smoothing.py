"""Tests of smoothing."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from arcadia_backend.figures.curves_figure import Smoothing, smooth
from arcadia_backend.metrics.reading import Curve


def curve(x: Sequence[float], mean: Sequence[float], count: list[int] | None = None) -> Curve:
    """Return a curve with these places. `count` has the points of each."""
    values, counts = np.array(mean, np.float64), np.array(count or [1] * len(x), np.int64)
    return Curve(count is None, int(counts.sum()), np.array(x, np.float64), values, values, values, values, counts)


def test_the_average_favors_recent_points_without_a_bias_toward_zero() -> None:
    values = curve([0, 1, 2], [10.0, 10.0, 4.0])
    expected = [10.0, 10.0, (10 * 0.25 + 10 * 0.5 + 4 * 1) / 1.75]
    assert smooth(values, Smoothing(0.5)).tolist() == pytest.approx(expected)
    assert smooth(values, Smoothing()).tolist() == [10.0, 10.0, 4.0]


def test_the_past_fades_by_distance_on_the_axis() -> None:
    near, far = (smooth(curve([0, x], [0.0, 1.0]), Smoothing(0.5, unit=10.0))[1] for x in (10.0, 1_000.0))
    assert near == pytest.approx(1 / 1.5)
    assert far == pytest.approx(1.0)


def test_merged_points_are_smoothed_like_single_points() -> None:
    x = np.arange(1_000.0)
    values = np.sin(x / 200)
    single = smooth(curve(x.tolist(), values.tolist()), Smoothing(0.9, unit=10.0))
    ends = x.reshape(-1, 5)[:, -1]
    buckets = curve(ends.tolist(), values.reshape(-1, 5).mean(axis=1).tolist(), [5] * 200)
    np.testing.assert_allclose(smooth(buckets, Smoothing(0.9, unit=10.0)), single[ends.astype(int)], atol=0.005)


def test_points_before_the_visible_part_count() -> None:
    x, values = list(range(20)), [math.sin(step) for step in range(20)]
    whole = smooth(curve(x, values), Smoothing(0.8, unit=2.0))
    part = smooth(curve(x[8:], values[8:]), Smoothing(0.8, 2.0, before=curve(x[:8], values[:8])))
    assert part.tolist() == pytest.approx(whole[8:].tolist())


def test_smoothing_continues_after_nan_and_infinity() -> None:
    line = smooth(curve([0, 1, 2, 3], [1.0, math.nan, math.inf, 1.0]), Smoothing(0.9))
    assert line[3] == pytest.approx(1.0)
    assert np.isnan(line[1])
    assert np.isinf(line[2])
