"""What studies claim about a method that often fails."""

import numpy as np
import pytest

from bench.failures import LIMIT, draw, highest, highest_of_finished, probability_of_winning

STUDIES = 100


def test_the_probability_of_winning_counts_failed_runs_as_lowest() -> None:
    failing, other = draw(np.random.default_rng(0), 0.4, 1.0, 50_000)
    assert probability_of_winning(0.4, 1.0) == pytest.approx(np.mean(np.nan_to_num(failing, nan=-99) > other), abs=0.01)


def test_a_method_that_often_fails_ranks_highest_only_if_failures_are_left_out() -> None:
    random = np.random.default_rng(0)
    studies = [draw(random, 0.4, 1.0, LIMIT) for _ in range(STUDIES)]
    assert [*map(highest_of_finished, studies)].count(0) > STUDIES / 4
    assert [*map(highest, studies)].count(0) <= STUDIES * 0.05
