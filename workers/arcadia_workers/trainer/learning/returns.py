"""Returns, targets and losses: tensors (t_max, n_e) for n_e environments, plain numbers for one. Decay of settings."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from arcadia_workers.contract.config.fields import Decay


def n_step_returns(
    rewards: Tensor, values: Tensor, terminated: Tensor, fresh: Tensor, bootstrap: Tensor, gamma: float
) -> Tensor:
    """Return R_t = r_t + γ R_{t+1}, from 0 if the episode terminated, else from V(s) (PAAC, lines 12–16).

    An episode that a time limit cut off continues with V(s) of its last observation. That is in the next, fresh row,
    whose value is the R_{t+1} of the row before it.
    """
    discounts = gamma * (~terminated).to(rewards.dtype)
    returns, following = [], bootstrap
    for t in reversed(range(len(rewards))):
        following = torch.where(fresh[t], values[t], torch.addcmul(rewards[t], discounts[t], following))
        returns.append(following)
    return torch.stack(returns[::-1])


def generalized_advantages(
    rewards: Tensor,
    values: Tensor,
    terminated: Tensor,
    fresh: Tensor,
    bootstrap: Tensor,
    gamma: float,
    gae_lambda: float,
) -> Tensor:
    """Return Â_t = δ_t + γλ Â_{t+1} with δ_t = r_t + γ V(s_{t+1}) − V(s_t) (Schulman et al. 2017, equations 11 and 12).

    V(s_{t+1}) is 0 if the episode terminated. An episode that a time limit cut off has V(s) of its last observation,
    which is in the next, fresh row. The sum ends there, and the fresh row itself has advantage 0.
    """
    discounts = gamma * (~terminated).to(rewards.dtype)
    following, advantage = bootstrap, torch.zeros_like(bootstrap)
    advantages = []
    for t in reversed(range(len(rewards))):
        delta = torch.addcmul(rewards[t] - values[t], discounts[t], following)
        advantage = torch.addcmul(delta, discounts[t], advantage, value=gae_lambda).masked_fill(fresh[t], 0)
        advantages.append(advantage)
        following = values[t]
    return torch.stack(advantages[::-1])


def returns_of_one(rewards: Sequence[float], bootstrap: float, gamma: float) -> list[float]:
    """Return R ← r_i + γR backwards from R = `bootstrap`, for one environment (Mnih et al. 2016, S1 and S2)."""
    following = bootstrap
    returns = []
    for reward in reversed(rewards):
        following = reward + gamma * following
        returns.append(following)
    return returns[::-1]


def one_step_targets(rewards: Sequence[float], following: Sequence[float], gamma: float) -> list[float]:
    """Return y ← r + γQ(s', ·; θ⁻). `following` is Q(s', ·; θ⁻), 0 for terminal s' (Mnih et al. 2016, algorithm 1)."""
    return [reward + gamma * value for reward, value in zip(rewards, following, strict=True)]


@dataclass(frozen=True)
class Losses:
    """Loss of one update, summed over its steps, and its terms."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor

    def detached(self) -> "Losses":
        """Return the losses without autograd's graph. As long as it exists, no backward pass fits in a CUDA graph."""
        return Losses(self.total.detach(), self.policy.detach(), self.value.detach(), self.entropy.detach())


def decayed(initial: float, decay: Decay, step: int, total_steps: int) -> float:
    """Return a setting's value at a step. It falls linearly to zero over all steps or over the last third."""
    left = max(0.0, 1 - step / total_steps)
    shares = {"linear": left, "late": min(1.0, 3 * left), "none": 1.0}
    return initial * shares[decay]
