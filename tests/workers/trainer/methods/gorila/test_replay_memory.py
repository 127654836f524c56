"""Tests of replay memory against a list of transitions, and of prioritized replay against its paper's formulas."""

from dataclasses import dataclass

import numpy as np
import pytest

from arcadia_workers.trainer.environments.environments import Observations
from arcadia_workers.trainer.methods.gorila.replay_memory import (
    SMALLEST_ERROR,
    FrameKind,
    PrioritizedMemory,
    ReplayMemory,
    SumTree,
    Transitions,
    bytes_of_slot,
    frames_of,
)

SIDE = 3
ALPHA = 0.6
STACKED = FrameKind((SIDE, SIDE), np.dtype(np.uint8), 4)
READINGS = FrameKind((5,), np.dtype(np.float32), 1)


@dataclass(frozen=True)
class Transition:
    """A transition (s, a, r, s') with all frames of both states, and whether s' is terminal."""

    state: Observations
    action: int
    reward: float
    next_state: Observations
    terminal: bool


class World:
    """Episodes of random lengths with unique frames and overlapping stacks."""

    def __init__(self, kind: FrameKind, seed: int) -> None:
        self._kind, self._random, self._made = kind, np.random.default_rng(seed), 0

    def frame(self) -> Observations:
        self._made += 1
        made = np.zeros(self._kind.shape, dtype=self._kind.dtype)
        made.flat[:2] = divmod(self._made, 250)
        return made

    def episode(self) -> tuple[Observations, list[Transition]]:
        first = np.array([self.frame() for _ in range(self._kind.stack)])
        state, transitions = first, []
        for left in reversed(range(int(self._random.integers(1, 12)))):
            following = np.concatenate((state[1:], self.frame()[None]))
            action, reward = int(self._random.integers(18)), float(np.float32(self._random.standard_normal()))
            lost_life = bool(self._random.random() < 0.1)
            terminal = lost_life or (left == 0 and bool(self._random.integers(2)))
            transitions.append(Transition(self.shown(state), action, reward, self.shown(following), terminal))
            state = following
        return self.shown(first), transitions

    def shown(self, frames: Observations) -> Observations:
        return frames if self._kind.stack > 1 else frames[0]


def key(
    state: Observations, action: int, reward: float, next_state: Observations, terminal: bool
) -> tuple[object, ...]:
    return (state.tobytes(), int(action), float(reward), next_state.tobytes(), bool(terminal))


def literal(transitions: list[Transition]) -> set[tuple[object, ...]]:
    return {key(t.state, t.action, t.reward, t.next_state, t.terminal) for t in transitions}


def sampled(memory: ReplayMemory, draws: int) -> set[tuple[object, ...]]:
    """Return all transitions that many draws return."""
    batch = memory.sample(draws)
    columns = (batch.states, batch.actions, batch.rewards, batch.next_states, batch.terminals)
    return {key(*row) for row in zip(*columns, strict=True)}


def fill(memory: ReplayMemory, world: World, episodes: int) -> list[Transition]:
    """Store episodes in the memory. Return all transitions that were ever stored."""
    stored = []
    for _ in range(episodes):
        first, transitions = world.episode()
        memory.begin(first)
        for t in transitions:
            memory.add(t.action, t.reward, t.terminal, t.next_state)
            stored.append(t)
    return stored


@pytest.mark.parametrize("kind", [STACKED, READINGS], ids=["stacked", "readings"])
@pytest.mark.parametrize("prioritized", [False, True], ids=["uniform", "prioritized"])
def test_samples_equal_the_transitions_of_a_literal_list(kind: FrameKind, prioritized: bool) -> None:
    memory = PrioritizedMemory(kind, 1000, 1, alpha=0.6) if prioritized else ReplayMemory(kind, 1000, 1)
    stored = fill(memory, World(kind, 2), episodes=20)
    assert len(memory) == len(stored)
    assert sampled(memory, 5000) == literal(stored)


@pytest.mark.parametrize("kind", [STACKED, READINGS], ids=["stacked", "readings"])
@pytest.mark.parametrize("episodes", [30, 31, 32, 33, 57])
@pytest.mark.parametrize("prioritized", [False, True], ids=["uniform", "prioritized"])
def test_a_full_memory_returns_the_newest_transitions_and_no_overwritten_frames(
    kind: FrameKind, episodes: int, prioritized: bool
) -> None:
    memory = PrioritizedMemory(kind, 100, 1, alpha=0.6) if prioritized else ReplayMemory(kind, 100, 1)
    stored = fill(memory, World(kind, episodes), episodes)
    found = sampled(memory, 3000)
    assert found == literal(stored[-len(memory) :])
    assert memory.fill == 1
    assert len(memory) >= 100 - kind.stack - episodes * (kind.stack + 1)


def test_experience_sent_in_pieces_is_stored_like_local_experience() -> None:
    whole, pieces = ReplayMemory(STACKED, 1000, 1), ReplayMemory(STACKED, 1000, 1)
    first, transitions = World(STACKED, 3).episode()
    while len(transitions) < 7:
        first, transitions = World(STACKED, len(transitions) + 40).episode()
    whole.begin(first)
    for t in transitions:
        whole.add(t.action, t.reward, t.terminal, t.next_state)
    for piece in (transitions[:4], transitions[4:]):
        pieces.extend(
            Transitions(
                frames=np.concatenate((piece[0].state, [t.next_state[-1] for t in piece])),
                actions=np.array([t.action for t in piece], dtype=np.uint8),
                rewards=np.array([t.reward for t in piece], dtype=np.float32),
                terminals=np.array([t.terminal for t in piece]),
            )
        )
    assert len(pieces) == len(whole) == len(transitions)
    assert sampled(pieces, 500) == sampled(whole, 500) == literal(transitions)


def test_a_transition_on_atari_takes_one_frame_and_seven_bytes() -> None:
    frames = frames_of((4, 84, 84))
    memory = ReplayMemory(frames, 1000, 1)
    assert memory.bytes == 1000 * bytes_of_slot(frames) == 1000 * (84 * 84 + 7)
    prioritized = PrioritizedMemory(frames, 1024, 1, alpha=0.6)
    assert prioritized.bytes == 1024 * (bytes_of_slot(frames) + 2 * 8)


def test_observations_are_stored_as_stacks_only_where_frames_overlap() -> None:
    assert frames_of((4, 84, 84)) == FrameKind((1, 84, 84), np.dtype(np.uint8), 4)
    assert frames_of((3, 84, 84)) == FrameKind((3, 84, 84), np.dtype(np.uint8), 1)
    assert frames_of((30,)) == FrameKind((30,), np.dtype(np.float32), 1)


def test_drawing_from_an_empty_memory_is_an_error() -> None:
    with pytest.raises(ValueError, match="empty"):
        ReplayMemory(STACKED, 100, 1).sample(1)


def filled(steps: int, capacity: int = 100) -> PrioritizedMemory:
    memory = PrioritizedMemory(FrameKind((1,), np.dtype(np.float32), 1), capacity, 1, ALPHA)
    memory.begin(np.zeros(1, dtype=np.float32))
    for t in range(1, steps + 1):
        memory.add(0, float(t), False, np.array([t], dtype=np.float32))
    return memory


@pytest.mark.parametrize("leaves", [1, 2, 7, 64, 100])
def test_the_tree_finds_the_same_items_as_a_running_sum(leaves: int) -> None:
    random = np.random.default_rng(leaves)
    tree, priorities = SumTree(leaves), np.zeros(leaves)
    for _ in range(50):
        changed = random.integers(leaves, size=3)
        new = random.random(3) * random.integers(2, size=3)
        tree.set(changed, new)
        priorities[changed] = new
        assert tree.total == pytest.approx(priorities.sum())
        one, alone = int(random.integers(leaves)), float(random.random() * random.integers(2))
        tree.set_one(one, alone)
        priorities[one] = alone
        assert tree.total == pytest.approx(priorities.sum())
    priorities[leaves // 2] = 1.0
    tree.set_one(leaves // 2, 1.0)
    prefixes = random.random(1000) * tree.total
    assert np.array_equal(tree.find(prefixes), np.searchsorted(np.cumsum(priorities), prefixes, side="right"))


def test_transitions_are_drawn_in_proportion_to_their_errors_and_weighted_against_it() -> None:
    memory, errors = filled(4), np.array([0.1, 0.4, 2.0, 0.9])
    memory.update_priorities(np.arange(4), errors.astype(np.float32))
    priorities = (errors + SMALLEST_ERROR) ** ALPHA
    chances = priorities / priorities.sum()

    drawn = np.concatenate([memory.sample(32, beta=0.5).numbers for _ in range(500)])
    assert np.bincount(drawn, minlength=4) / len(drawn) == pytest.approx(chances, abs=0.01)

    batch = memory.sample(64, beta=0.5)
    weights = (4 * chances[batch.numbers]) ** -0.5
    assert batch.weights == pytest.approx(weights / weights.max(), rel=1e-5)
    assert memory.sample(64, beta=0.0).weights == pytest.approx(1.0)


def test_new_transitions_have_priority() -> None:
    memory = filled(10)
    memory.update_priorities(np.arange(10), np.full(10, 3.0, dtype=np.float32))
    memory.update_priorities(np.arange(10), np.full(10, 0.01, dtype=np.float32))
    memory.add(0, 0.0, False, np.zeros(1, dtype=np.float32))
    drawn = memory.sample(1000).numbers
    highest = (3.0 + SMALLEST_ERROR) ** ALPHA
    expected = highest / (highest + 10 * (0.01 + SMALLEST_ERROR) ** ALPHA)
    assert (drawn == 10).mean() == pytest.approx(expected, abs=0.02)


def test_errors_of_overwritten_transitions_change_nothing() -> None:
    memory = filled(99)
    drawn = memory.sample(2000).numbers
    for t in range(50):  # overwrite the older half
        memory.add(0, float(t), False, np.array([t], dtype=np.float32))
    memory.update_priorities(np.unique(drawn[drawn < 50]), np.full(50, 1e6, dtype=np.float32))
    found = np.unique(memory.sample(20_000).numbers, return_counts=True)
    assert len(found[0]) == len(memory) == 99
    assert found[0].min() >= 50
    assert found[1] / 20_000 == pytest.approx(1 / 99, rel=0.3)
