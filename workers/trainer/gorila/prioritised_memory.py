"""Prioritised replay in proportion to the error, by a sum tree (Schaul et al. 2016, section 3.3)."""

import numpy as np
from numpy.typing import NDArray

from workers.trainer.gorila.replay_memory import FrameKind, ReplayMemory, Slots, Weights

# ε of the paper: no transition is left out for ever.
SMALLEST_ERROR = 1e-3
# Of a transition, in a tree whose size is rounded up to a power of two.
BYTES_OF_PRIORITY = 16


class SumTree:
    """Priorities as leaves, and above them the sums of pairs, in one array: node n has the children 2n and 2n + 1."""

    def __init__(self, leaves: int) -> None:
        self._first = 1 << max(0, leaves - 1).bit_length()
        self._sums: NDArray[np.float64] = np.zeros(2 * self._first)

    @property
    def total(self) -> float:
        """The sum of all."""
        return float(self._sums[1])

    @property
    def bytes(self) -> int:
        """Memory that it takes."""
        return self._sums.nbytes

    def __getitem__(self, leaves: Slots) -> NDArray[np.float64]:
        return self._sums[self._first + leaves]

    def set(self, leaves: Slots, priorities: NDArray[np.float64] | float) -> None:
        """Change some leaves; of one that is named twice, the last counts."""
        nodes = self._first + leaves
        self._sums[nodes] = priorities
        while nodes[0] > 1:
            nodes = nodes // 2 if len(nodes) == 1 else np.unique(nodes // 2)
            self._sums[nodes] = self._sums[2 * nodes] + self._sums[2 * nodes + 1]

    def find(self, prefixes: NDArray[np.float64]) -> Slots:
        """The leaves in which the running sum of all passes these values."""
        nodes = np.ones(len(prefixes), dtype=np.int64)
        left_over = prefixes.copy()
        while nodes[0] < self._first:
            nodes *= 2
            left = self._sums[nodes]
            # Rounding must not lead to where nothing is.
            right = (left_over >= left) & (self._sums[nodes + 1] > 0)
            left_over -= np.where(right, left, 0)
            nodes += right
        return nodes - self._first


class PrioritisedMemory(ReplayMemory):
    """P(i) = p_i^α / Σ p_k^α with p_i = |δ_i| + ε; what is new has the highest priority that was met."""

    def __init__(self, frames: FrameKind, capacity: int, seed: int, alpha: float) -> None:
        super().__init__(frames, capacity, seed)
        self._alpha = alpha
        self._tree = SumTree(capacity)
        self._highest = 1.0

    @property
    def bytes(self) -> int:
        return super().bytes + self._tree.bytes

    def update_priorities(self, slots: Slots, errors: Weights) -> None:
        """p_i ← |δ_i| + ε of transitions that were learnt from and have not been overwritten since."""
        priorities = (np.abs(errors.astype(np.float64)) + SMALLEST_ERROR) ** self._alpha
        there = self._complete[slots]
        if there.any():
            self._tree.set(slots[there], priorities[there])
            self._highest = max(self._highest, float(priorities[there].max()))

    def _draw(self, size: int) -> Slots:
        """One of each of `size` equal ranges of the sum, as in the paper's appendix B.2.1."""
        if not len(self):
            raise ValueError("the replay memory is empty: store transitions before sampling")
        places = (np.arange(size) + self._random.random(size)) / size
        return self._tree.find(places * self._tree.total)

    def _weights(self, slots: Slots, beta: float) -> Weights:
        """w_i = (N · P(i))^−β / max w."""
        chances = self._tree[slots] / self._tree.total
        weights = (len(self) * chances) ** -beta
        normalised: Weights = (weights / weights.max()).astype(np.float32)
        return normalised

    def _mark(self, slot: int, complete: bool) -> None:
        if complete != self._complete[slot]:
            self._tree.set(np.array([slot]), self._highest if complete else 0.0)
        super()._mark(slot, complete)
