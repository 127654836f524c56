"""Replay memory, sampled uniformly (Lin 1993; Mnih et al. 2015) or by priority (Schaul et al. 2016).

Each frame is stored once; stacks of frames are assembled at sampling.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcadia_workers.trainer.environments.environments import Observations

Slots = NDArray[np.int64]
Numbers = NDArray[np.int64]
Weights = NDArray[np.float32]

# In addition to its frame, a transition needs an action, a reward, and two flags: terminal and complete.
BYTES_BESIDES_FRAME = 1 + 4 + 1 + 1
# Atari and the car show stacks of four gray pictures, three of which are also in the previous stack.
STACK = 4
# ε of Schaul et al.: every transition keeps some chance of being drawn.
SMALLEST_ERROR = 1e-3
# The memory of one priority; the tree's size is rounded up to a power of two.
BYTES_OF_PRIORITY = 16


@dataclass(frozen=True)
class FrameKind:
    """The shape and type of one frame, and how many frames make an observation."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stack: int

    @property
    def bytes(self) -> int:
        """Bytes of one frame."""
        return int(np.prod(self.shape)) * self.dtype.itemsize


def frames_of(observation_shape: tuple[int, ...]) -> FrameKind:
    """Return how frames are stored: pictures as bytes, single frames of stacks; vectors as numbers."""
    if len(observation_shape) != 3:
        return FrameKind(observation_shape, np.dtype(np.float32), 1)
    stack = STACK if observation_shape[0] == STACK else 1  # color pictures are not stacked
    return FrameKind((observation_shape[0] // stack, *observation_shape[1:]), np.dtype(np.uint8), stack)


def bytes_of_slot(frames: FrameKind) -> int:
    """Return the bytes of a frame and the transition from it."""
    return frames.bytes + BYTES_BESIDES_FRAME


@dataclass(frozen=True)
class Transitions:
    """Successive transitions of one episode: the frames of the first state, then one frame for each step."""

    frames: Observations
    actions: NDArray[np.uint8]
    rewards: NDArray[np.float32]
    terminals: NDArray[np.bool_]


@dataclass(frozen=True)
class Minibatch:
    """Transitions (s, a, r, s'), their numbers in the order of storing, and their weights in the loss."""

    states: Observations
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    next_states: Observations
    terminals: NDArray[np.bool_]
    numbers: Numbers
    weights: Weights


class ReplayMemory:
    """D: the latest transitions in a ring of frames, sampled uniformly.

    A slot holds a frame and the transition from the state that has this frame as its newest. A slot is complete, and
    can be sampled, once its transition is known and while all frames of its state are there. The older frames of an
    episode's first state and the frame of its last state are never complete.

    Frames are numbered in the order of writing, and a frame's slot is its number modulo the capacity. A transition has
    the number of its state's newest frame, which no later transition shares.
    """

    def __init__(self, frames: FrameKind, capacity: int, seed: int) -> None:
        self.capacity = capacity
        self._kind = frames
        self._frames = np.zeros((capacity, *frames.shape), dtype=frames.dtype)
        self._actions = np.zeros(capacity, dtype=np.uint8)
        self._rewards = np.zeros(capacity, dtype=np.float32)
        self._terminals = np.zeros(capacity, dtype=np.bool_)
        self._complete = np.zeros(capacity, dtype=np.bool_)
        self._written, self._transitions = 0, 0
        self._random = np.random.default_rng(seed)

    def __len__(self) -> int:
        """Count the transitions that can be sampled."""
        return self._transitions

    @property
    def fill(self) -> float:
        """The fraction of the slots in use."""
        return self._filled / self.capacity

    @property
    def _filled(self) -> int:
        return min(self._written, self.capacity)

    @property
    def bytes(self) -> int:
        """The memory of all arrays."""
        arrays = (self._frames, self._actions, self._rewards, self._terminals, self._complete)
        return sum(array.nbytes for array in arrays)

    def begin(self, observation: Observations) -> None:
        """Begin an episode with its first state."""
        for frame in observation.reshape(self._kind.stack, *self._kind.shape):
            self._write(frame)

    def add(self, action: int, reward: float, terminal: bool, observation: Observations) -> None:
        """Store (s_t, a_t, r_t, s_{t+1}), where s_t is the state stored last."""
        self._complete_last(action, reward, terminal, observation.reshape(-1, *self._kind.shape)[-1])

    def extend(self, experience: Transitions) -> None:
        """Store an actor's experience."""
        first = self._kind.stack
        for frame in experience.frames[:first]:
            self._write(frame)
        steps = zip(
            experience.actions, experience.rewards, experience.terminals, experience.frames[first:], strict=True
        )
        for action, reward, terminal, frame in steps:
            self._complete_last(int(action), float(reward), bool(terminal), frame)

    def sample(self, size: int, beta: float = 1.0) -> Minibatch:
        """Draw a minibatch. β is the degree to which the weights correct for prioritized sampling."""
        slots = self._draw(size)
        around = slots[:, None] + np.arange(1 - self._kind.stack, 2)
        frames = self._frames[around % self.capacity]
        shape = (size, -1, *self._kind.shape[1:])
        return Minibatch(
            states=frames[:, :-1].reshape(shape),
            actions=self._actions[slots].astype(np.int64),
            rewards=self._rewards[slots],
            next_states=frames[:, 1:].reshape(shape),
            terminals=self._terminals[slots],
            numbers=self._numbers(slots),
            weights=self._weights(slots, beta),
        )

    def update_priorities(self, numbers: Numbers, errors: Weights) -> None:
        """Do nothing: uniform sampling has no priorities."""

    def _draw(self, size: int) -> Slots:
        """Draw slots uniformly until enough of them are complete."""
        if not self._transitions:
            raise ValueError("the replay memory is empty: store transitions before sampling")
        slots = np.empty(0, dtype=np.int64)
        while len(slots) < size:
            drawn = self._random.integers(self._filled, size=2 * size)
            slots = np.concatenate((slots, drawn[self._complete[drawn]]))
        return slots[:size]

    def _weights(self, slots: Slots, beta: float) -> Weights:  # noqa: ARG002, all weights are equal here
        return np.ones(len(slots), dtype=np.float32)

    def _numbers(self, slots: Slots) -> Numbers:
        """Return the numbers of the frames that are in these slots now."""
        newest = self._written - 1
        return newest - (newest - slots) % self.capacity

    def _mark(self, slot: int, complete: bool) -> None:
        """Set whether a slot can be sampled."""
        self._transitions += int(complete) - int(self._complete[slot])
        self._complete[slot] = complete

    def _write(self, frame: Observations) -> None:
        """Write a frame over the oldest one; states that contained the old frame can no longer be sampled."""
        for number in range(self._written, self._written + self._kind.stack):
            self._mark(number % self.capacity, complete=False)
        self._frames[self._written % self.capacity] = frame
        self._written += 1

    def _complete_last(self, action: int, reward: float, terminal: bool, next_frame: Observations) -> None:
        last = (self._written - 1) % self.capacity
        self._actions[last], self._rewards[last], self._terminals[last] = action, reward, terminal
        self._write(next_frame)
        self._mark(last, complete=True)


class SumTree:
    """Binary tree in one array. Leaves hold priorities; node n holds the sum of its children 2n and 2n + 1."""

    def __init__(self, leaves: int) -> None:
        self._first = 1 << max(0, leaves - 1).bit_length()
        self._sums: NDArray[np.float64] = np.zeros(2 * self._first)

    @property
    def total(self) -> float:
        """The sum of all priorities."""
        return float(self._sums[1])

    @property
    def bytes(self) -> int:
        """The memory of the tree."""
        return self._sums.nbytes

    def __getitem__(self, leaves: Slots) -> NDArray[np.float64]:
        return self._sums[self._first + leaves]

    def set(self, leaves: Slots, priorities: NDArray[np.float64]) -> None:
        """Set the priorities of some leaves. If a leaf appears twice, its last priority counts."""
        nodes = self._first + leaves
        self._sums[nodes] = priorities
        while nodes[0] > 1:
            nodes = np.unique(nodes // 2)
            self._sums[nodes] = self._sums[2 * nodes] + self._sums[2 * nodes + 1]

    def set_one(self, leaf: int, priority: float) -> None:
        """Set the priority of one leaf, fifteen times faster than with arrays of one number."""
        node = self._first + leaf
        self._sums[node] = priority
        while node > 1:
            node //= 2
            self._sums[node] = self._sums[2 * node] + self._sums[2 * node + 1]

    def find(self, prefixes: NDArray[np.float64]) -> Slots:
        """Find the leaves at which the running sum of the priorities passes these values."""
        nodes = np.ones(len(prefixes), dtype=np.int64)
        remaining = prefixes.copy()
        while nodes[0] < self._first:
            nodes *= 2
            left = self._sums[nodes]
            # Rounding must not lead into a subtree whose sum is zero.
            right = (remaining >= left) & (self._sums[nodes + 1] > 0)
            remaining -= np.where(right, left, 0)
            nodes += right
        return nodes - self._first


class PrioritizedMemory(ReplayMemory):
    """Replay memory that draws transition i with P(i) = p_i^α / Σ p_k^α, where p_i = |δ_i| + ε.

    New transitions get the highest p so far (Schaul et al. 2016, section 3.3).
    """

    def __init__(self, frames: FrameKind, capacity: int, seed: int, alpha: float) -> None:
        super().__init__(frames, capacity, seed)
        self._alpha = alpha
        self._tree = SumTree(capacity)
        self._highest = 1.0

    @property
    def bytes(self) -> int:
        return super().bytes + self._tree.bytes

    def update_priorities(self, numbers: Numbers, errors: Weights) -> None:
        """Set p_i ← |δ_i| + ε for the transitions that have not been overwritten since they were drawn."""
        priorities = (np.abs(errors.astype(np.float64)) + SMALLEST_ERROR) ** self._alpha
        slots = numbers % self.capacity
        kept = self._complete[slots] & (numbers == self._numbers(slots))
        if kept.any():
            self._tree.set(slots[kept], priorities[kept])
            self._highest = max(self._highest, float(priorities[kept].max()))

    def _draw(self, size: int) -> Slots:
        """Draw one slot from each of `size` equal ranges of the sum (appendix B.2.1)."""
        if not len(self):
            raise ValueError("the replay memory is empty: store transitions before sampling")
        places = (np.arange(size) + self._random.random(size)) / size
        return self._tree.find(places * self._tree.total)

    def _weights(self, slots: Slots, beta: float) -> Weights:
        """Return w_i = (N · P(i))^−β / max w."""
        chances = self._tree[slots] / self._tree.total
        weights = (len(self) * chances) ** -beta
        normalized: Weights = (weights / weights.max()).astype(np.float32)
        return normalized

    def _mark(self, slot: int, complete: bool) -> None:
        if complete != self._complete[slot]:
            self._tree.set_one(slot, self._highest if complete else 0.0)
        super()._mark(slot, complete)
