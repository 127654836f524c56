"""Policies over discrete and continuous actions: sampling, log-probabilities and entropies.

Each policy takes the output of a network's policy head, one row per state.
"""

from math import log, pi

import torch
import torch.nn.functional as F
from torch import Tensor

from workers.contract.spaces import ActionSpace, Continuous


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
