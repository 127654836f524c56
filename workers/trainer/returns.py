"""n-step returns, pure arithmetic on tensors of shape (t_max, n_e)."""

import torch
from torch import Tensor


def n_step_returns(
    rewards: Tensor, values: Tensor, terminated: Tensor, fresh: Tensor, bootstrap: Tensor, gamma: float
) -> Tensor:
    """R_t = r_t + γ R_{t+1}, from R = 0 where the episode terminated, else V(s) (PAAC, algorithm 1, lines 12–16).

    An episode that was only cut off by a time limit has a future: its last observation stands in the next, fresh
    row, whose value is the R that the row before it goes on from.
    """
    returns = torch.empty_like(rewards)
    following = bootstrap
    for t in reversed(range(rewards.shape[0])):
        following = rewards[t] + gamma * torch.where(terminated[t], 0.0, following)
        following = torch.where(fresh[t], values[t], following)
        returns[t] = following
    return returns
