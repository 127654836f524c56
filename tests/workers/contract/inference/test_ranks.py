"""Anytime-valid evidence from ranks, against closed forms and exact enumeration."""

from itertools import combinations, permutations
from math import comb, factorial, prod

import numpy as np
import pytest

from arcadia_workers.contract.inference.means import MAX_LOG_E, WEIGHTS, Floats, e_values


def consecutive(first: int, count: int) -> Floats:
    """Return scores that increase by one."""
    return np.array(range(first, first + count), dtype=np.float64)


def plackett_luce(weights: list[float], order: tuple[int, ...]) -> float:
    """Return the probability that items are drawn in this order, each by its weight."""
    return prod(weights[item] / sum(weights[each] for each in order[place:]) for place, item in enumerate(order))


def expected(better: list[float], worse: list[float]) -> float:
    """Return the e-value from the definition: likelihood of the order over 1 / n!, averaged over the alternatives."""
    runs = [*better, *worse]
    descending = tuple(sorted(range(len(runs)), key=lambda run: -runs[run]))
    found = []
    for weight in map(float, WEIGHTS):
        from_top = [weight] * len(better) + [1.0] * len(worse)
        from_bottom = [1.0] * len(better) + [weight] * len(worse)
        found += [plackett_luce(from_top, descending), plackett_luce(from_bottom, descending[::-1])]
    return factorial(len(runs)) * sum(found) / len(found)


@pytest.mark.parametrize(
    ("better", "worse"),
    [([2.0], [1.0]), ([1.0], [2.0]), ([3.0, 1.0], [2.0]), ([9.0, 4.0, 3.0], [8.0, 2.0]), ([], [1.0, 2.0])],
)
def test_matches_the_plackett_luce_likelihood(better: list[float], worse: list[float]) -> None:
    assert e_values(np.array(better), np.array(worse)) == pytest.approx(expected(better, worse))


@pytest.mark.parametrize("seeds", [1, 3, 5])
def test_separated_groups_have_a_closed_form(seeds: int) -> None:
    better, worse = consecutive(100, seeds), consecutive(0, seeds)
    ratios = [prod(weight * (1 + each) / (seeds + weight * (1 + each)) for each in range(seeds)) for weight in WEIGHTS]
    assert e_values(better, worse) == pytest.approx(comb(2 * seeds, seeds) * np.mean(ratios))


@pytest.mark.parametrize(("ours", "theirs"), [(1, 1), (2, 1), (2, 3), (3, 3)])
def test_mean_over_all_orders_is_one(ours: int, theirs: int) -> None:
    orders = np.array([*permutations(range(ours + theirs))], dtype=float)
    assert e_values(orders[:, :ours], orders[:, ours:]).mean() == pytest.approx(1)


def test_next_run_leaves_the_expected_evidence_unchanged() -> None:
    better, worse = [3.0, 7.0], [1.0, 5.0]
    # Under the null hypothesis, every place among four runs is equally likely for the fifth.
    after = [e_values(np.array([*better, place]), np.array(worse)) for place in (0.0, 2.0, 4.0, 6.0, 8.0)]
    assert np.mean(after) == pytest.approx(float(e_values(np.array(better), np.array(worse))))


def test_only_ranks_count() -> None:
    random = np.random.default_rng(1)
    one, other = random.normal(1, 1, 6), random.normal(0, 1, 6)
    assert e_values(np.exp(one), np.exp(other)) == e_values(one, other)


def test_equal_scores_count_against_the_claim() -> None:
    tied = e_values(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    assert (
        tied
        == e_values(np.array([0.9, 2.0]), np.array([1.0, 0.0]))
        < e_values(np.array([1.1, 2.0]), np.array([1.0, 0.0]))
    )
    assert e_values(np.ones(9), np.ones(9)) < 1


def test_evidence_grows_with_the_scores_of_the_better_group() -> None:
    for chosen in combinations(range(6), 3):
        others = [rank for rank in range(6) if rank not in chosen]
        one, other = np.array(chosen, dtype=float), np.array(others, dtype=float)
        raised = np.array([*chosen[:2], chosen[2] + 1.5])
        assert e_values(raised, other) >= e_values(one, other)


def test_missing_scores_do_not_count() -> None:
    padded = e_values(np.array([[np.nan, 3.0, 5.0], [4.0, np.nan, np.nan]]), np.array([np.nan, 1.0, 4.0]))
    assert padded[0] == e_values(np.array([3.0, 5.0]), np.array([1.0, 4.0]))
    assert padded[1] == e_values(np.array([4.0]), np.array([1.0, 4.0]))
    assert e_values(np.full(3, np.nan), np.full(3, np.nan)) == pytest.approx(1)


def test_much_evidence_is_limited() -> None:
    assert e_values(consecutive(1_000, 500), consecutive(0, 500)) == pytest.approx(np.exp(MAX_LOG_E))
