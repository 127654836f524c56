"""Prioritised replay against the paper's formulas."""

import numpy as np
import pytest

from workers.trainer.gorila.prioritised_memory import SMALLEST_ERROR, PrioritisedMemory, SumTree
from workers.trainer.gorila.replay_memory import FrameKind

ALPHA = 0.6


def filled(steps: int, capacity: int = 100) -> PrioritisedMemory:
    memory = PrioritisedMemory(FrameKind((1,), np.dtype(np.float32), 1), capacity, 1, ALPHA)
    memory.begin(np.zeros(1, dtype=np.float32))
    for t in range(1, steps + 1):
        memory.add(0, float(t), False, np.array([t], dtype=np.float32))
    return memory


@pytest.mark.parametrize("leaves", [1, 2, 7, 64, 100])
def test_the_tree_finds_what_a_running_sum_finds(leaves: int) -> None:
    random = np.random.default_rng(leaves)
    tree, priorities = SumTree(leaves), np.zeros(leaves)
    for _ in range(50):
        changed = random.integers(leaves, size=3)
        new = random.random(3) * random.integers(2, size=3)
        tree.set(changed, new)
        priorities[changed] = new
        assert tree.total == pytest.approx(priorities.sum())
    priorities[leaves // 2] = 1.0
    tree.set(np.array([leaves // 2]), 1.0)
    prefixes = random.random(1000) * tree.total
    assert np.array_equal(tree.find(prefixes), np.searchsorted(np.cumsum(priorities), prefixes, side="right"))


def test_transitions_are_drawn_in_proportion_to_their_errors_and_weighted_against_it() -> None:
    memory, errors = filled(4), np.array([0.1, 0.4, 2.0, 0.9])
    memory.update_priorities(np.arange(4), errors.astype(np.float32))
    priorities = (errors + SMALLEST_ERROR) ** ALPHA
    chances = priorities / priorities.sum()

    drawn = np.concatenate([memory.sample(32, beta=0.5).slots for _ in range(500)])
    assert np.bincount(drawn, minlength=4) / len(drawn) == pytest.approx(chances, abs=0.01)

    batch = memory.sample(64, beta=0.5)
    weights = (4 * chances[batch.slots]) ** -0.5
    assert batch.weights == pytest.approx(weights / weights.max(), rel=1e-5)
    assert memory.sample(64, beta=0.0).weights == pytest.approx(1.0)


def test_new_transitions_come_first() -> None:
    memory = filled(10)
    memory.update_priorities(np.arange(10), np.full(10, 3.0, dtype=np.float32))
    memory.update_priorities(np.arange(10), np.full(10, 0.01, dtype=np.float32))
    memory.add(0, 0.0, False, np.zeros(1, dtype=np.float32))
    drawn = memory.sample(1000).slots
    highest = (3.0 + SMALLEST_ERROR) ** ALPHA
    share = highest / (highest + 10 * (0.01 + SMALLEST_ERROR) ** ALPHA)
    assert (drawn == 10).mean() == pytest.approx(share, abs=0.02)


def test_errors_of_what_has_been_overwritten_change_nothing() -> None:
    memory = filled(100)  # the next to be written is slot 1; slot 0 holds the last state, which has no transition
    before = memory.sample(2000).slots
    memory.update_priorities(np.array([0]), np.array([1e6], dtype=np.float32))
    assert 0 not in before
    assert 0 not in memory.sample(2000).slots
