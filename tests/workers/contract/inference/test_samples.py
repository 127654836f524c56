"""Statistics over seeds, compared with rliable and scipy. bench/rliable_reference.py made the fixture."""

import json
import random
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arcadia_workers.contract.inference.means import t_interval, welch
from arcadia_workers.contract.inference.samples import (
    MIN_INTERQUARTILE_RUNS,
    Interval,
    all_resamples,
    center_curve,
    draw_chunks,
    efficiency,
    interquartile_mean,
    interval,
    mean,
    mean_of_means,
    median,
    over_tasks,
    probability_of_improvement,
    profile,
    sorted_means,
    widen,
)

REFERENCE = json.loads((Path(__file__).parents[3] / "fixtures" / "rliable.json").read_text())
CASES = REFERENCE["cases"]
STATISTICS = (mean, median, interquartile_mean)


def test_equal_places_are_merged_to_their_mean_at_any_magnitude() -> None:
    x, y = np.array([3.0, 1, 3, 2, 1]), np.array([4.0, 1e308, 8, np.nan, 1.4e308])
    places, heights = sorted_means(x, y)
    assert (places.tolist(), heights.tolist()) == ([1, 3], [pytest.approx(1.2e308), 6])
    assert sorted_means(np.empty(0), np.empty(0))[0].tolist() == []


def test_the_reference_has_the_documented_version() -> None:
    assert (REFERENCE["rliable"], REFERENCE["repetitions"]) == ("1.2.0", 2_000)


def test_matches_the_example_in_the_tests_of_rliable() -> None:
    x = np.array([[1.0, 2], [2, 2], [1, 1], [2, 1]])
    y = np.array([[1.0, 1], [2, 2], [3, 3]])
    assert [float(statistic(x)) for statistic in STATISTICS] == [1.5, 1.5, 1.5]
    assert [float(statistic(y)) for statistic in STATISTICS] == [2, 2, 2]
    assert probability_of_improvement(x, y) == pytest.approx(1 / 3)


@pytest.mark.parametrize("case", CASES)
def test_estimates_match_rliable(case: dict[str, Any]) -> None:
    scores, other = np.array(case["scores"]), np.array(case["other"])
    assert [float(statistic(scores)) for statistic in STATISTICS] == pytest.approx(case["aggregates"], rel=1e-12)
    assert profile(scores, np.array(case["thresholds"])).tolist() == pytest.approx(case["profile"], abs=1e-12)
    assert probability_of_improvement(scores, other) == pytest.approx(case["improvement"], abs=1e-12)


def lies_between(found: Any, ends: dict[str, Any]) -> bool:
    """Return whether both ends of an interval are within the error of two bootstraps. Ends are steps: draws are few."""
    low, high = np.array(ends["low"]), np.array(ends["high"])
    error = 1e-9
    return bool(
        (np.array(found.low) >= low[0] - error).all()
        and (np.array(found.low) <= low[1] + error).all()
        and (np.array(found.high) >= high[0] - error).all()
        and (np.array(found.high) <= high[1] + error).all()
    )


@pytest.mark.parametrize("case", CASES)
def test_intervals_match_rliable_within_the_error_of_their_draws(case: dict[str, Any]) -> None:
    scores, other = np.array(case["scores"]), np.array(case["other"])

    def aggregates(resampled: Any) -> Any:
        return np.stack([statistic(resampled) for statistic in STATISTICS], axis=-1)

    draws = REFERENCE["draws"]
    assert lies_between(interval(aggregates, scores, draws=draws), case["aggregates_interval"])
    improvement = interval(probability_of_improvement, scores, other, draws=draws)
    assert lies_between(improvement, case["improvement_interval"])


def narrowed(value: Any, ends: Interval, runs: int) -> Interval:
    """Return the bootstrap interval, without the width that is added for few runs."""
    factor = float(widen(np.zeros(()), Interval(np.array(-1.0), np.array(1.0)), [runs]).high)
    return Interval(value + (ends.low - value) / factor, value + (ends.high - value) / factor)


def test_the_curve_matches_rliable() -> None:
    given = REFERENCE["curve"]
    found = center_curve(np.array(given["scores"]), "iqm", draws=REFERENCE["draws"])
    assert found.center.tolist() == pytest.approx(given["iqm"], rel=1e-12)
    assert lies_between(narrowed(found.center, found.interval, len(given["scores"])), given["ends"])


def test_a_curve_counts_the_runs_at_each_place() -> None:
    nan = np.nan
    found = center_curve(np.array([[1.0, 2, nan], [3, 6, nan], [5, nan, nan]]), "mean")
    assert found.runs.tolist() == [3, 2, 0]
    assert found.center[:2].tolist() == [3, 4]
    assert np.isnan([found.center[2], found.interval.low[2], found.interval.high[2]]).all()
    # Three runs have an interval: 4.303 standard errors of 2 / √3. Two runs have none.
    assert found.interval.low[0] == pytest.approx(3 - 4.3027 * 2 / 3**0.5, abs=1e-3)
    assert np.isnan([found.interval.low[1], found.interval.high[1]]).all()


def test_the_sample_efficiency_curve_matches_rliable() -> None:
    given = REFERENCE["curve"]
    center, ends = efficiency([np.array(given["scores"])], "iqm", draws=REFERENCE["draws"])
    assert center.tolist() == pytest.approx(given["iqm"], rel=1e-12)
    assert lies_between(narrowed(center, ends, len(given["scores"])), given["ends"])


@pytest.mark.parametrize("case", CASES)
def test_the_sample_efficiency_curve_aggregates_games_like_rliable(case: dict[str, Any]) -> None:
    scores = np.array(case["scores"])
    games = [np.stack([column, column + 1], axis=-1) for column in scores.T]
    expected_mean, _median, expected_iqm = case["aggregates"]
    for center, expected in (("mean", expected_mean), ("iqm", expected_iqm)):
        found, ends = efficiency(games, center)  # type: ignore[arg-type]
        assert found.tolist() == pytest.approx([expected, expected + 1], rel=1e-9)
        if center == "iqm" and len(scores) < MIN_INTERQUARTILE_RUNS:
            assert np.isnan([*ends.low, *ends.high]).all()
            continue
        # Each draw of a run includes all of its places.
        assert (ends.high - ends.low).tolist() == pytest.approx([ends.high[0] - ends.low[0]] * 2)
        assert ends.low[0] <= expected <= ends.high[0]


def test_games_may_have_different_numbers_of_runs() -> None:
    one, two = np.array([[1.0], [3.0], [8.0]]), np.array([[10.0]])
    assert efficiency([one, two], "mean")[0].tolist() == [7]
    assert efficiency([one, two], "iqm")[0].tolist() == [5.5]


def test_the_bootstrap_is_reproducible() -> None:
    scores = np.array(CASES[0]["scores"])
    assert interval(mean, scores) == interval(mean, scores)
    continuous = np.random.default_rng(1).normal(size=(9, 3))
    assert interval(mean, continuous) != interval(mean, continuous, seed=1)


@pytest.mark.parametrize(("case", "expected"), [*zip(CASES, REFERENCE["welch"], strict=True)])
def test_welchs_interval_matches_scipy(case: dict[str, Any], expected: list[float]) -> None:
    found = welch(np.array(case["scores"])[:, 0], np.array(case["other"])[:, 0])
    assert found is not None
    assert [found.low, found.high] == pytest.approx(expected, rel=1e-6)


def test_equal_scores_have_no_interval() -> None:
    assert welch(np.full(3, 500.0), np.full(4, 20.0)) is None


def test_huge_scores_have_a_finite_interval() -> None:
    found = welch(np.array([1e100, 2e100, 3e100]), np.zeros(3))
    assert found is not None
    assert np.isfinite(found).all()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 11, 57])
def test_the_interquartile_mean_is_the_mean_of_the_middle_half(count: int) -> None:
    values = [random.Random(count + place).uniform(-100, 1_000) for place in range(count)]
    left = sorted(values)
    for _ in range(count // 4):
        left.remove(max(left))
        left.remove(min(left))
    assert interquartile_mean(np.array([values])) == pytest.approx(statistics.fmean(left))


def off(found: Any, wanted: Any) -> float:
    """Return the largest distance between the ends of two intervals, as a share of the width."""
    (low, high), (wanted_low, wanted_high) = (np.array(each, dtype=float) for each in (found, wanted))
    return float((np.maximum(np.abs(low - wanted_low), np.abs(high - wanted_high)) / (wanted_high - wanted_low)).max())


@pytest.mark.parametrize("runs", [3, 5, 8, 12, 20])
def test_the_mean_of_a_curve_has_students_interval(runs: int) -> None:
    scores = np.random.default_rng(runs).gamma(2.0, size=(runs, 3))
    found = center_curve(scores, "mean").interval
    wanted = [t_interval(scores[:, place].tolist()) for place in range(3)]
    assert [*zip(found.low, found.high, strict=True)] == [pytest.approx(each) for each in wanted]


@pytest.mark.parametrize("runs", [3, 5])
def test_the_interval_of_few_runs_covers_the_mean(runs: int) -> None:
    """A bootstrap covers 76 % with three runs, and 85 % with five."""
    random_numbers = np.random.default_rng(0)
    for name, draw, truth in (("normal", random_numbers.normal, 0.0), ("gamma", random_numbers.gamma, 2.0)):
        found = center_curve(draw(truth, 1.0, size=(runs, 4_000)), "mean").interval
        assert ((found.low <= truth) & (truth <= found.high)).mean() >= 0.9, name


def test_an_interquartile_mean_of_few_runs_has_no_interval() -> None:
    found = center_curve(np.random.default_rng(1).normal(size=(4, 2)), "iqm")
    assert np.isfinite(found.center).all()
    assert np.isnan([found.interval.low, found.interval.high]).all()


@pytest.mark.parametrize("runs", [5, 8, 12, 20])
def test_the_ends_of_a_curve_match_a_bootstrap_with_many_draws(runs: int) -> None:
    random_numbers = np.random.default_rng(runs)
    scores = random_numbers.gamma(2.0, size=(runs, 3))
    drawn = scores[random_numbers.integers(runs, size=(400_000, runs))]
    drawn_means = [interquartile_mean(drawn[..., place, np.newaxis]) for place in range(3)]
    wanted = np.array([np.percentile(each, [2.5, 97.5]) for each in drawn_means]).T
    found = center_curve(scores, "iqm")
    assert off(narrowed(found.center, found.interval, runs), wanted) < 0.005


@pytest.mark.nightly
def test_the_ends_of_an_interval_match_a_bootstrap_with_many_draws() -> None:
    random_numbers = np.random.default_rng(7)
    scores = random_numbers.gamma(2.0, size=(10, 4))
    for statistic in STATISTICS:
        many = [interval(statistic, scores, draws=200_000, seed=seed) for seed in (1, 2, 3, 4)]
        wanted = np.mean([[float(each.low), float(each.high)] for each in many], axis=0)
        assert off(interval(statistic, scores), wanted) < 0.005


@pytest.mark.parametrize("runs", [1, 2, 5, 8])
def test_every_possible_draw_is_counted_once(runs: int) -> None:
    counts, chances = all_resamples(runs)
    assert len({tuple(row) for row in counts.tolist()}) == len(counts)
    assert (counts.sum(axis=1) == runs).all()
    assert chances.sum() == pytest.approx(1)


def test_large_numbers_of_scores_take_fewer_draws() -> None:
    assert sum(draw_chunks(100_000, 60)) == 100_000
    assert sum(draw_chunks(100_000, 4_000)) == 10_000
    assert sum(draw_chunks(100_000, 1_000_000)) == 4_000


def test_the_mean_over_games_has_students_interval() -> None:
    """With one game, the jackknife is Student's interval; with two, variances and degrees of freedom add up."""
    random_numbers = np.random.default_rng(3)
    one, other = random_numbers.normal(size=(5, 1)), random_numbers.normal(0, 3, size=(4, 1))
    alone = over_tasks([one], mean_of_means)[1]
    assert (alone.low[0], alone.high[0]) == pytest.approx(t_interval(one[:, 0].tolist()))
    both = over_tasks([one, other], mean_of_means)[1]
    difference = welch(one[:, 0], -other[:, 0])
    assert difference is not None
    assert (2 * both.high[0], 2 * both.low[0]) == pytest.approx((difference.high, difference.low), rel=0.03)


def test_a_game_with_a_single_run_has_no_interval() -> None:
    value, ends = over_tasks([np.array([[1.0], [2.0]]), np.array([[5.0]])], mean_of_means)
    assert value.tolist() == [3.25]
    assert np.isnan([ends.low, ends.high]).all()
