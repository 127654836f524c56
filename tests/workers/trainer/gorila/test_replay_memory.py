"""Replay memory against a literal list of transitions."""

from dataclasses import dataclass

import numpy as np
import pytest

from workers.trainer.environments import Observations
from workers.trainer.gorila.prioritised_memory import PrioritisedMemory
from workers.trainer.gorila.replay_memory import Experience, FrameKind, ReplayMemory, bytes_of_slot, frames_of

SIDE = 3
STACKED = FrameKind((SIDE, SIDE), np.dtype(np.uint8), 4)
READINGS = FrameKind((5,), np.dtype(np.float32), 1)


@dataclass(frozen=True)
class Transition:
    """(s, a, r, s') with all frames of both states, and whether s' is terminal."""

    state: Observations
    action: int
    reward: float
    next_state: Observations
    terminal: bool


class World:
    """Episodes of random lengths whose frames are all different, as observations with overlapping stacks."""

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
    """Everything that many draws find."""
    batch = memory.sample(draws)
    columns = (batch.states, batch.actions, batch.rewards, batch.next_states, batch.terminals)
    return {key(*row) for row in zip(*columns, strict=True)}


def fill(memory: ReplayMemory, world: World, episodes: int) -> list[Transition]:
    """Play into the memory; return all that was ever stored."""
    stored = []
    for _ in range(episodes):
        first, transitions = world.episode()
        memory.begin(first)
        for t in transitions:
            memory.add(t.action, t.reward, t.terminal, t.next_state)
            stored.append(t)
    return stored


@pytest.mark.parametrize("kind", [STACKED, READINGS], ids=["stacked", "readings"])
@pytest.mark.parametrize("prioritised", [False, True], ids=["uniform", "prioritised"])
def test_samples_are_the_transitions_of_a_literal_list(kind: FrameKind, prioritised: bool) -> None:
    memory = PrioritisedMemory(kind, 1000, 1, alpha=0.6) if prioritised else ReplayMemory(kind, 1000, 1)
    stored = fill(memory, World(kind, 2), episodes=20)
    assert len(memory) == len(stored)
    assert sampled(memory, 5000) == literal(stored)


@pytest.mark.parametrize("kind", [STACKED, READINGS], ids=["stacked", "readings"])
@pytest.mark.parametrize("episodes", [30, 31, 32, 33, 57])
@pytest.mark.parametrize("prioritised", [False, True], ids=["uniform", "prioritised"])
def test_a_full_memory_gives_the_newest_of_them_and_no_stack_of_overwritten_frames(
    kind: FrameKind, episodes: int, prioritised: bool
) -> None:
    memory = PrioritisedMemory(kind, 100, 1, alpha=0.6) if prioritised else ReplayMemory(kind, 100, 1)
    stored = fill(memory, World(kind, episodes), episodes)
    found = sampled(memory, 3000)
    assert found == literal(stored[-len(memory) :])
    assert memory.fill == 1
    assert len(memory) >= 100 - kind.stack - episodes * (kind.stack + 1)


def test_an_actors_experience_in_pieces_is_what_it_would_have_stored_itself() -> None:
    whole, pieces = ReplayMemory(STACKED, 1000, 1), ReplayMemory(STACKED, 1000, 1)
    first, transitions = World(STACKED, 3).episode()
    while len(transitions) < 7:
        first, transitions = World(STACKED, len(transitions) + 40).episode()
    whole.begin(first)
    for t in transitions:
        whole.add(t.action, t.reward, t.terminal, t.next_state)
    for piece in (transitions[:4], transitions[4:]):
        pieces.extend(
            Experience(
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
    prioritised = PrioritisedMemory(frames, 1024, 1, alpha=0.6)
    assert prioritised.bytes == 1024 * (bytes_of_slot(frames) + 2 * 8)


def test_what_environments_show_is_stacked_only_where_frames_overlap() -> None:
    assert frames_of((4, 84, 84)) == FrameKind((1, 84, 84), np.dtype(np.uint8), 4)
    assert frames_of((3, 84, 84)) == FrameKind((3, 84, 84), np.dtype(np.uint8), 1)
    assert frames_of((30,)) == FrameKind((30,), np.dtype(np.float32), 1)


def test_an_empty_memory_says_so() -> None:
    with pytest.raises(ValueError, match="empty"):
        ReplayMemory(STACKED, 100, 1).sample(1)
