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

    def sample(self, numbers: Tensor) -> Tensor:
        """Draw one action per row by an exponential race: the smallest of Exp(1)/π wins with probability π."""
        race = torch.empty_like(numbers).exponential_(generator=self.random)
        return (numbers - race.log_()).argmax(dim=-1)

    @staticmethod
    def judge(numbers: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Return log π(a|s) of the actions and the entropy H(π(s))."""
        log_policy = torch.log_softmax(numbers, dim=-1)
        log_chosen = log_policy.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        return log_chosen, -(log_policy.exp() * log_policy).sum(-1)


class Gaussian:
    """Normal distribution with one mean per dimension and a shared variance (Mnih et al. 2016).

    The last number is the variance before the softplus, σ² = log(1 + eˣ).
    """

    def __init__(self, random: torch.Generator) -> None:
        self.random = random

    def sample(self, numbers: Tensor) -> Tensor:
        """Draw one action per row."""
        mean, variance = self._mean_and_variance(numbers)
        noise = torch.empty_like(mean).normal_(generator=self.random)
        return torch.addcmul(mean, variance.sqrt(), noise)

    def judge(self, numbers: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Return log π(a|s) of the actions, and the differential entropy H(π(s))."""
        mean, variance = self._mean_and_variance(numbers)
        size = mean.shape[-1]
        log_scale = log(2 * pi) + variance.squeeze(-1).log()
        distance = (actions - mean).square().sum(-1) / variance.squeeze(-1)
        return -0.5 * (distance + size * log_scale), 0.5 * size * (log_scale + 1)

    @staticmethod
    def _mean_and_variance(numbers: Tensor) -> tuple[Tensor, Tensor]:
        return numbers[..., :-1], F.softplus(numbers[..., -1:])


Policy = Categorical | Gaussian


def policy_over(actions: ActionSpace, random: torch.Generator) -> Policy:
    """Return the policy for an environment's actions."""
    return Gaussian(random) if isinstance(actions, Continuous) else Categorical(random)
