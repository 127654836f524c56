"""Replay memory: frames stored once, stacks assembled at sampling (Lin 1993; Mnih et al. 2015; Nair et al. 2015)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.trainer.environments import Observations

Slots = NDArray[np.int64]
Weights = NDArray[np.float32]

# Besides its frame: an action, a reward, and whether it ends the episode and may be sampled.
BYTES_BESIDES_FRAME = 1 + 4 + 1 + 1
# Atari's and the car's grey pictures come four at a time, of which three were there before.
STACK = 4


@dataclass(frozen=True)
class FrameKind:
    """What one frame is, and how many make an observation."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stack: int

    @property
    def bytes(self) -> int:
        """Of one frame."""
        return int(np.prod(self.shape)) * self.dtype.itemsize


def frames_of(observation_shape: tuple[int, ...]) -> FrameKind:
    """The frames of an environment: pictures are bytes, readings are numbers that do not overlap."""
    if len(observation_shape) != 3:
        return FrameKind(observation_shape, np.dtype(np.float32), 1)
    stack = STACK if observation_shape[0] == STACK else 1  # a coloured picture stands for itself
    return FrameKind((observation_shape[0] // stack, *observation_shape[1:]), np.dtype(np.uint8), stack)


def bytes_of_slot(frames: FrameKind) -> int:
    """Memory that a frame and the transition from it take."""
    return frames.bytes + BYTES_BESIDES_FRAME


@dataclass(frozen=True)
class Experience:
    """Successive transitions of one episode, as an actor hands them over: a frame for each, and those around them."""

    frames: Observations
    actions: NDArray[np.uint8]
    rewards: NDArray[np.float32]
    terminals: NDArray[np.bool_]


@dataclass(frozen=True)
class Minibatch:
    """Transitions (s, a, r, s'), where they lie in memory, and their weights in the loss."""

    states: Observations
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    next_states: Observations
    terminals: NDArray[np.bool_]
    slots: Slots
    weights: Weights


class ReplayMemory:
    """D: the latest transitions in a ring of frames, sampled uniformly.

    A slot holds a frame and the transition from the state whose newest frame it is. An episode's first state brings
    all of its frames, and its last one has no transition: neither is ever sampled, nor is a state one of whose
    frames has been overwritten.
    """

    def __init__(self, frames: FrameKind, capacity: int, seed: int) -> None:
        self.capacity = capacity
        self._kind = frames
        self._frames = np.zeros((capacity, *frames.shape), dtype=frames.dtype)
        self._actions = np.zeros(capacity, dtype=np.uint8)
        self._rewards = np.zeros(capacity, dtype=np.float32)
        self._terminals = np.zeros(capacity, dtype=np.bool_)
        self._complete = np.zeros(capacity, dtype=np.bool_)
        self._next, self._filled, self._transitions = 0, 0, 0
        self._random = np.random.default_rng(seed)

    def __len__(self) -> int:
        """Transitions that can be sampled."""
        return self._transitions

    @property
    def fill(self) -> float:
        """Share of the frames in use."""
        return self._filled / self.capacity

    @property
    def bytes(self) -> int:
        """Memory that the arrays take."""
        arrays = (self._frames, self._actions, self._rewards, self._terminals, self._complete)
        return sum(array.nbytes for array in arrays)

    def begin(self, observation: Observations) -> None:
        """Open an episode by its first state."""
        for frame in observation.reshape(self._kind.stack, *self._kind.shape):
            self._write(frame)

    def add(self, action: int, reward: float, terminal: bool, observation: Observations) -> None:
        """Store (s_t, a_t, r_t, s_{t+1}), where s_t is the state that came last."""
        self._complete_last(action, reward, terminal, observation.reshape(-1, *self._kind.shape)[-1])

    def extend(self, experience: Experience) -> None:
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
        """Draw a minibatch; β is how fully the weights make up for the preference, if there is one."""
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
            slots=slots,
            weights=self._weights(slots, beta),
        )

    def update_priorities(self, slots: Slots, errors: Weights) -> None:
        """Uniform sampling has no use for how wrong Q was."""

    def _draw(self, size: int) -> Slots:
        """Uniformly, by drawing again what is no transition."""
        if not self._transitions:
            raise ValueError("the replay memory is empty: store transitions before sampling")
        slots = np.empty(0, dtype=np.int64)
        while len(slots) < size:
            drawn = self._random.integers(self._filled, size=2 * size)
            slots = np.concatenate((slots, drawn[self._complete[drawn]]))
        return slots[:size]

    def _weights(self, slots: Slots, beta: float) -> Weights:  # noqa: ARG002, uniform sampling prefers nothing
        return np.ones(len(slots), dtype=np.float32)

    def _mark(self, slot: int, complete: bool) -> None:
        """Say whether a slot can be sampled."""
        self._transitions += int(complete) - int(self._complete[slot])
        self._complete[slot] = complete

    def _write(self, frame: Observations) -> None:
        """Put a frame into the next slot, over the oldest; states that it was part of are lost."""
        for slot in range(self._next, self._next + self._kind.stack):
            self._mark(slot % self.capacity, complete=False)
        self._frames[self._next] = frame
        self._next = (self._next + 1) % self.capacity
        self._filled = min(self._filled + 1, self.capacity)

    def _complete_last(self, action: int, reward: float, terminal: bool, next_frame: Observations) -> None:
        last = (self._next - 1) % self.capacity
        self._actions[last], self._rewards[last], self._terminals[last] = action, reward, terminal
        self._write(next_frame)
        self._mark(last, complete=True)
