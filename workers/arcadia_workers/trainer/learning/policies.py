"""Policies over discrete and continuous actions, and ε-greedy exploration.

Each policy takes the output of a network's policy head, one row per state.
"""

from math import log, pi

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from arcadia_workers.contract.action_names import ActionSpace, Continuous
from arcadia_workers.contract.config import ValueBasedFields


class Categorical:
    """π(a|s) = softmax of the numbers, for discrete actions."""

    def __init__(self, random: torch.Generator) -> None:
        self.random = random

    def sample(self, numbers: Tensor, temperature: float = 1.0) -> Tensor:
        """Draw one action per row from the softmax of the numbers divided by the temperature."""
        # Equal to dividing the numbers, because an argmax does not depend on a common factor.
        return self.choose(numbers, temperature * self.draw(torch.empty_like(numbers)))

    def draw(self, noise: Tensor) -> Tensor:
        """Fill `noise` with the random numbers of its rows: an exponential race for each action."""
        return noise.exponential_(generator=self.random).log_()

    @staticmethod
    def choose(numbers: Tensor, noise: Tensor) -> Tensor:
        """Return the winner of each row's race: the smallest of Exp(1)/π wins with probability π."""
        return (numbers - noise).argmax(dim=-1)

    @staticmethod
    def judge(numbers: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Return log π(a|s) of the actions and the entropy H(π(s))."""
        log_policy = torch.log_softmax(numbers, dim=-1)
        log_chosen = log_policy.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        return log_chosen, -(log_policy.exp() * log_policy).sum(-1)


class Gaussian:
    """Normal distribution with one mean per dimension (Mnih et al. 2016, section 5.2).

    The numbers after the means are variances before the softplus, σ² = log(1 + eˣ): one that all dimensions share, or
    one per dimension.
    """

    def __init__(self, random: torch.Generator, size: int) -> None:
        self.random = random
        self._size = size

    def sample(self, numbers: Tensor, temperature: float = 1.0) -> Tensor:
        """Draw one action per row, with the variance multiplied by the temperature."""
        noise = self.draw(torch.empty_like(numbers[..., : self._size]))
        return self.choose(numbers, temperature**0.5 * noise)

    def draw(self, noise: Tensor) -> Tensor:
        """Fill `noise` with the random numbers of its rows."""
        return noise.normal_(generator=self.random)

    def choose(self, numbers: Tensor, noise: Tensor) -> Tensor:
        """Return the action of each row's noise."""
        mean, variance = self._mean_and_variance(numbers)
        return torch.addcmul(mean, variance.sqrt(), noise)

    def judge(self, numbers: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Return log π(a|s) of the actions, and the differential entropy H(π(s))."""
        mean, variance = self._mean_and_variance(numbers)
        log_scale = (log(2 * pi) + variance.log()).expand_as(mean).sum(-1)
        distance = ((actions - mean).square() / variance).sum(-1)
        return -0.5 * (distance + log_scale), 0.5 * (log_scale + self._size)

    def _mean_and_variance(self, numbers: Tensor) -> tuple[Tensor, Tensor]:
        return numbers[..., : self._size], F.softplus(numbers[..., self._size :])


Policy = Categorical | Gaussian


def policy_over(actions: ActionSpace, random: torch.Generator) -> Policy:
    """Return the policy for an environment's actions."""
    return Gaussian(random, actions.size) if isinstance(actions, Continuous) else Categorical(random)


class RolloutSampler:
    """Sampler that draws a whole rollout's random numbers at once, so that thread order does not affect actions."""

    def __init__(self, actions: ActionSpace, seed: int, device: torch.device) -> None:
        self.random = torch.Generator(device).manual_seed(seed)
        self.policy = policy_over(actions, self.random)
        self._draws = actions.size if isinstance(actions, Continuous) else actions.count
        self._noise = torch.empty(0)

    def begin(self, rows: int) -> None:
        """Draw the random numbers for all rows of a rollout."""
        shape = (rows, self._draws)
        if self._noise.shape != shape:
            self._noise = torch.empty(shape, device=self.random.device)
        self.policy.draw(self._noise)

    def __call__(self, numbers: Tensor, rows: slice) -> Tensor:
        """Return an action for each row."""
        return self.policy.choose(numbers, self._noise[rows])


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
