"""ε-greedy exploration in which every actor has its own ε (Mnih et al. 2016, sections 4 and 5.1)."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from workers.contract.config import ValueBasedFields

Epsilons = NDArray[np.float64]


class FinalEpsilons:
    """Final ε of each actor, drawn again every `epsilon_draw_frames` (Mnih et al. 2016, section 4: periodically).

    A draw depends only on the run's seed and the draw's number, so a resumed run continues with the same values.
    """

    def __init__(self, config: ValueBasedFields, number: int) -> None:
        self._config, self._number = config, number
        self._period = 0
        self._drawn = self._draw()

    def at(self, frames: int) -> Epsilons:
        """Return the final ε after `frames` frames of training."""
        every = self._config.epsilon_draw_frames
        period = frames // every if every else 0
        if period != self._period:
            self._period = period
            self._drawn = self._draw()
        return self._drawn

    def _draw(self) -> Epsilons:
        config = self._config
        probabilities = np.array(config.final_epsilon_probabilities)
        # The first draw is the same as in earlier versions, which drew once.
        random = np.random.default_rng([config.seed, self._period] if self._period else config.seed)
        return random.choice(config.final_epsilons, size=self._number, p=probabilities / probabilities.sum())


def annealed(final: Epsilons, frames: int, anneal_frames: int) -> Epsilons:
    """Return ε after `frames` frames. It falls linearly from 1 to its final value."""
    remaining = 1 - frames / anneal_frames if frames < anneal_frames else 0.0
    return final + (1 - final) * remaining


class EpsilonGreedy:
    """Action choice for n_e environments: random with probability ε, otherwise the highest action value.

    Each environment has its own ε. `begin` draws the random numbers of several steps. Each call uses those of the given
    rows: row t · n_e + i belongs to step t of environment i.
    """

    def __init__(self, final: Epsilons, anneal_frames: int, seed: int, device: torch.device) -> None:
        self.final = final
        self._anneal_frames = anneal_frames
        self._device = device
        self.random = torch.Generator(device).manual_seed(seed)
        self.anneal(frames=0)

    def anneal(self, frames: int) -> None:
        """Set every ε to its value after `frames` frames of training."""
        self.epsilons = torch.from_numpy(annealed(self.final, frames, self._anneal_frames)).to(self._device)

    def begin(self, steps: int, actions: int) -> None:
        """Draw the random numbers for `steps` steps of all environments."""
        draws = steps * len(self.epsilons)
        drawn = torch.rand(draws, generator=self.random, device=self._device)
        self._explores = drawn < self.epsilons.repeat(steps)
        self._anything = torch.randint(actions, (draws,), generator=self.random, device=self._device)

    def __call__(self, action_values: Tensor, rows: slice) -> Tensor:
        return torch.where(self._explores[rows], self._anything[rows], action_values.argmax(dim=-1))
