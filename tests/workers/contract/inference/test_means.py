"""Tests of intervals against SciPy and against simulations with a known truth."""

import json
from pathlib import Path

import numpy as np
import pytest

from arcadia_workers.contract.games import score_bounds
from arcadia_workers.contract.inference.means import (
    HIGH,
    UNBOUNDED,
    Bounds,
    best_against_others,
    clustered_mean_error,
    clustered_share_interval,
    jackknife_interval,
    share_interval,
    standard_errors_apart,
    student_quantile,
    t_interval,
    welch,
    why_no_interval,
)

REFERENCE = json.loads((Path(__file__).parents[3] / "fixtures" / "rliable.json").read_text())

CARTPOLE, PONG = score_bounds("CartPole-v1"), score_bounds("ALE/Pong-v5")


@pytest.mark.parametrize(("probability", "freedom", "expected"), REFERENCE["student"])
def test_students_quantile_equals_that_of_scipy(probability: float, freedom: float, expected: float) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(expected, rel=1e-6)


def test_the_interval_of_a_mean() -> None:
    # scipy.stats.t.interval(0.95, 3, loc=2.5, scale=scipy.stats.sem([1, 2, 3, 4]))
    assert t_interval([1, 2, 3, 4]) == pytest.approx((0.4457397, 4.5542603))
    assert t_interval([2, 2, 2]) is None
    assert t_interval([2, 2]) is None
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
        covered += found.ends[0] <= outcomes.mean() <= found.ends[1]
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
        covered += [each[0] <= 0 <= each[1] for each in (found.ends, usual)]
    assert covered[0] / 1_000 >= 0.93
    assert covered[1] / 1_000 < 0.6


# scipy.stats.binomtest(k, n).proportion_ci(0.95)
@pytest.mark.parametrize(
    ("count", "of", "expected"),
    [(0, 3, (0, 0.7075982)), (1, 3, (0.0084038, 0.9057007)), (3, 3, (0.2924018, 1)), (5, 10, (0.1870860, 0.8129140))],
)
def test_the_interval_of_a_share_is_exact(count: int, of: int, expected: tuple[float, float]) -> None:
    assert share_interval(count, of) == pytest.approx(expected, abs=1e-6)


def test_the_jackknife_of_a_mean_is_its_t_interval() -> None:
    values = np.array([1.0, 2, 4, 8, 16])
    found = jackknife_interval(lambda kept: float(values[kept].mean()), range(5))
    assert found == pytest.approx(t_interval(values.tolist()))
    assert jackknife_interval(lambda kept: float(values[kept].mean()), [0] * 5) is None
    assert jackknife_interval(lambda kept: None if len(kept) < 5 else 1.0, range(5)) is None


def test_means_are_compared_in_standard_errors() -> None:
    assert standard_errors_apart(np.array([4.0, 6.0]), np.array([1.0, 3.0])) == pytest.approx(3 / 2**0.5)
    assert standard_errors_apart(np.ones(3), np.zeros(3)) == np.inf
    assert standard_errors_apart(np.ones(3), np.ones(3)) == 0


def test_the_best_group_is_compared_with_each_other_one() -> None:
    groups = [np.array([1.0, 2, 3]), np.array([7.0, 8, 9]), np.array([4.0, 5, 6])]
    found = [pair for pair in best_against_others(groups) if pair is not None]
    assert [pair.mean for pair in found] == [6, 3]
    alone = welch(groups[1], groups[2])
    assert alone is not None
    assert found[1].low < alone.low, "three comparisons widen the interval"
    assert best_against_others(groups[:1]) == []


@pytest.mark.parametrize(
    ("values", "bounds", "reason"),
    [
        ([500.0, 500.0, 500.0], CARTPOLE, "All 3 runs score 500, the highest possible score."),
        ([500.0, 500.0, 490.0], CARTPOLE, "2 of 3 runs score 500, the highest possible score."),
        ([470.0, 490.0, 440.0], CARTPOLE, "1 of 3 runs is near the highest possible score, 500."),
        ([-20.5, -20.4, -20.6], PONG, "3 of 3 runs are near the lowest possible score, -21."),
        ([0.0, 0.0, 0.0], UNBOUNDED, "All 3 runs score 0."),
        ([7.0] * 9 + [1.0], UNBOUNDED, "9 of 10 runs score 7."),
        ([1.0, 2.0], UNBOUNDED, "An interval needs 3 runs."),
    ],
)
def test_no_interval_where_it_would_be_wrong(values: list[float], bounds: Bounds, reason: str) -> None:
    assert t_interval(values, bounds) is None
    assert why_no_interval(values, bounds) == reason


def test_no_end_of_an_interval_is_beyond_a_bound() -> None:
    assert t_interval([314.0, 110.0, 420.0], CARTPOLE) == (0, 500)
    assert t_interval([10.0, 12.0, 17.5], PONG) == pytest.approx((3.519, 21), abs=0.001)
    # 600 is impossible, so the environment is another one.
    assert t_interval([450.0, 520.0, 600.0], CARTPOLE) == t_interval([450.0, 520.0, 600.0])
    # A tight group near a bound has no skew.
    assert t_interval([10.0, 10.1, 9.9], CARTPOLE) is not None
    assert why_no_interval([1.0, 2.0, 3.0]) == ""


def test_equal_values_have_no_standard_error() -> None:
    assert clustered_mean_error([2.0] * 30, range(30)) is None
    found = clustered_mean_error([500.0] * 28 + [400.0, 450.0], range(30))
    assert found is not None
    assert found.standard_error > 0
    assert found.interval is None


def test_the_variance_of_all_groups_counts() -> None:
    """Two groups of three without variance look certain, unless other groups show that runs fail."""
    lucky, unlucky = np.array([99.0, 100, 101]), np.array([-1.0, 0, 1])
    mixed = [np.array([0.0, 100, 100]), np.array([100.0, 0, 1])]
    (alone,) = best_against_others([lucky, unlucky])
    assert alone is not None
    assert alone.low > 90
    together = best_against_others([lucky, unlucky, *mixed])
    assert together[0] is not None
    assert together[0].low < 0


def test_a_share_of_clusters_has_the_interval_of_wilson_if_they_vary_by_chance() -> None:
    # 90 of 100 cases. Without variance between the clusters, the quantile is Student's for 9 degrees of freedom.
    low, high = clustered_share_interval([(10, 9)] * 10) or (0, 0)
    t = student_quantile(HIGH, 9)
    ends = [(0.9 + t**2 / 200 + sign * t * (0.09 / 100 + t**2 / 40_000) ** 0.5) / (1 + t**2 / 100) for sign in (-1, 1)]
    assert (low, high) == pytest.approx(ends)
    # Clusters in which all cases agree are worth one case each, and a little less here than ten of twelve.
    alike = clustered_share_interval([(100, 100)] * 10 + [(100, 0)] * 2)
    single = clustered_share_interval([(1, 1)] * 10 + [(1, 0)] * 2)
    assert alike == pytest.approx(single, abs=0.02)
    assert clustered_share_interval([(10, 9)] * 4) is None
    assert clustered_share_interval([(50, 50)] * 5) == pytest.approx((5 / (5 + student_quantile(HIGH, 4) ** 2), 1.0))
