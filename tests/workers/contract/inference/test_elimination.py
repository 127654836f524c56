"""Elimination of points: simulated studies, closed tests and families."""

from collections.abc import Callable

import numpy as np
import pytest

from arcadia_workers.contract.inference.elimination import eliminate
from arcadia_workers.contract.inference.means import Floats, e_values

STUDIES = 2_000
LIMIT = 20

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]

DISTRIBUTIONS: dict[str, Draw] = {
    "normal": lambda random, shape: random.normal(size=shape),
    "skewed": lambda random, shape: random.lognormal(0, 1.5, shape),
    "bounded": lambda random, shape: random.beta(0.3, 0.3, shape),
    "ties": lambda random, shape: np.minimum(random.normal(480, 20, shape).round(), 500),
    "coin": lambda random, shape: random.integers(0, 2, shape).astype(float),
}


def separated(*levels: float, seeds: int) -> Floats:
    """Return scores that differ between points more than between seeds."""
    return np.array(levels)[:, np.newaxis] + np.arange(seeds) / 1_000


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_few_studies_without_a_difference_have_a_verdict(name: str) -> None:
    random = np.random.default_rng(2026)
    studies = (DISTRIBUTIONS[name](random, (2, LIMIT)) for _ in range(STUDIES))
    wrong = sum(any(each.beaten_by is not None for each in eliminate(scores, "aa")) for scores in studies)
    assert wrong / STUDIES <= 0.05


@pytest.mark.nightly
def test_few_studies_of_several_equal_points_have_a_verdict() -> None:
    random = np.random.default_rng(2026)
    studies = (random.normal(size=(4, 10)) for _ in range(STUDIES))
    wrong = sum(any(each.beaten_by is not None for each in eliminate(scores, "aaaa")) for scores in studies)
    assert wrong / STUDIES <= 0.05


def test_few_best_points_are_eliminated_among_worse_ones() -> None:
    random = np.random.default_rng(2026)
    means = np.array([1.5, 1.5, 0.0, 0.0])[:, np.newaxis]
    studies = [eliminate(means + random.normal(size=(4, LIMIT)), "aaaa") for _ in range(STUDIES // 4)]
    assert np.mean([found[0].beaten_by is not None or found[1].beaten_by is not None for found in studies]) <= 0.05
    assert np.mean([found[2].beaten_by is not None for found in studies]) > 0.5


def test_separated_points_are_decided_at_five_seeds() -> None:
    assert [each.beaten_by for each in eliminate(separated(1, 2, seeds=4), "aa")] == [None, None]
    assert [each.beaten_by for each in eliminate(separated(1, 2, seeds=5), "aa")] == [1, None]


def test_evidence_of_two_points_is_that_of_their_pair() -> None:
    scores = separated(1, 2, seeds=4)
    worse, best = eliminate(scores, "aa")
    assert worse.e_value == e_values(scores[1], scores[0])
    assert best.e_value == e_values(scores[0], scores[1])
    assert worse.threshold == pytest.approx(40 - best.e_value)


def test_elimination_is_final() -> None:
    scores = np.hstack([separated(1, 2, seeds=5), separated(2, 1, seeds=3)])
    assert eliminate(scores, "aa")[0] == eliminate(separated(1, 2, seeds=5), "aa")[0]


def test_one_point_of_each_family_remains() -> None:
    found = eliminate(separated(1, 2, 3, 20, 10, 5, seeds=20), "aaabbc")
    assert [each.beaten_by for each in found] == [1, 2, None, None, 3, None]


def test_more_points_require_more_evidence() -> None:
    few, many = (eliminate(separated(*range(points), seeds=4), "a" * points) for points in (2, 6))
    assert many[0].threshold > few[0].threshold


def test_fewer_seeds_of_a_point_do_not_delay_the_others() -> None:
    scores = separated(1, 2, 3, seeds=12)
    scores[0, 1:] = np.nan
    assert [each.beaten_by for each in eliminate(scores, "aaa")] == [None, 2, None]


def test_points_without_scores_have_no_evidence() -> None:
    found = eliminate(np.full((2, 0), np.nan), "aa")
    assert [(each.e_value, each.beaten_by) for each in found] == [(1.0, None)] * 2


def test_large_studies_are_weighed_in_blocks() -> None:
    scores = np.random.default_rng(1).permutation(40)[:, np.newaxis] + np.arange(20) / 1_000
    found = eliminate(scores, "a" * 40)
    assert sum(each.beaten_by is None for each in found) == 1
