"""ε-greedy exploration in which every actor has its own ε (Mnih et al. 2016, sections 4 and 5.1)."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from workers.contract.config import ValueBasedFields

Epsilons = NDArray[np.float64]


def draw_final_epsilons(config: ValueBasedFields, number: int) -> Epsilons:
    """Draw each actor's final ε from the run's seed alone, so that a resumed run keeps them."""
    probabilities = np.array(config.final_epsilon_probabilities)
    random = np.random.default_rng(config.seed)
    return random.choice(config.final_epsilons, size=number, p=probabilities / probabilities.sum())


def annealed(final: Epsilons, frames: int, anneal_frames: int) -> Epsilons:
    """Return ε after so many frames: it falls linearly from 1 to its final value and stays there."""
    remaining = 1 - frames / anneal_frames if frames < anneal_frames else 0.0
    return final + (1 - final) * remaining


class EpsilonGreedy:
    """Chooses actions for n_e environments: at random with probability ε, else by the highest action value.

    Each environment has its own ε. The calls go through the environments in order, all at once or some at a time.
    """

    def __init__(self, final: Epsilons, anneal_frames: int, seed: int, device: torch.device) -> None:
        self._final = final
        self._anneal_frames = anneal_frames
        self._device = device
        self._next = 0
        self.random = torch.Generator(device).manual_seed(seed)
        self.anneal(frames=0)

    def anneal(self, frames: int) -> None:
        """Set every ε to its value after so many frames of training."""
        self.epsilons = torch.from_numpy(annealed(self._final, frames, self._anneal_frames)).to(self._device)

    def __call__(self, action_values: Tensor) -> Tensor:
        rows, actions = action_values.shape
        epsilons = self.epsilons[self._next : self._next + rows]
        self._next = (self._next + rows) % len(self.epsilons)
        explores = torch.rand(rows, generator=self.random, device=self._device) < epsilons
        anything = torch.randint(actions, (rows,), generator=self.random, device=self._device)
        return torch.where(explores, anything, action_values.argmax(dim=-1))
