"""Tests that pruning keeps the first, the last and spared items, and spreads the others evenly."""

import random
from itertools import pairwise

import pytest

from arcadia_workers.contract.layout import prunable


def saved(number: int, most: int, spared: int | None = None) -> list[int]:
    """Save at uneven intervals and prune after each save. Return the remaining steps."""
    chance, steps, step = random.Random(1), list[int](), 0
    for count in range(number):
        step += chance.randint(80, 120)
        steps.append(step)
        if count == spared:
            kept = step
        places = [steps.index(kept)] if spared is not None and count >= spared else []
        for place in reversed(prunable(steps, most, places)):
            del steps[place]
    return steps


def test_nothing_is_pruned_below_the_limit() -> None:
    assert prunable([1, 2, 3], 3) == []
    assert prunable([], 3) == []


def test_the_item_between_the_closest_neighbors_is_pruned() -> None:
    assert prunable([0, 100, 200, 210, 300], 4) == [3]


def test_the_oldest_of_equal_items_is_pruned() -> None:
    assert prunable([0, 10, 20, 30, 40], 4) == [1]


def test_the_first_the_last_and_spared_items_are_kept() -> None:
    assert prunable([0, 1, 2, 1000], 3, spared=[1]) == [2]
    assert prunable([0, 1, 2, 3], 1, spared=[1]) == [2]


@pytest.mark.parametrize("number", [21, 50, 333, 1000])
def test_kept_items_are_spread_over_the_whole_training(number: int) -> None:
    steps, everything = saved(number, most=20), saved(number, most=number)
    assert len(steps) == 20
    assert (steps[0], steps[-1]) == (everything[0], everything[-1])
    gaps = [later - earlier for earlier, later in pairwise(steps)]
    assert max(gaps) < 2.2 * (steps[-1] - steps[0]) / 19


def test_a_spared_item_is_kept_for_the_whole_training() -> None:
    fourth = saved(4, most=4)[-1]
    assert fourth not in saved(500, most=10)
    assert fourth in saved(500, most=10, spared=3)
