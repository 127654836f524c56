"""Perturbation saliency: Greydanus et al. 2018, "Visualizing and Understanding Atari Agents", section 3.

Blur an observation around one place and measure how much the network's output changes:

    Φ(I, i, j) = I ⊙ (1 − M(i, j)) + A(I) ⊙ M(i, j)        M(i, j): Gaussian around (i, j), A: Gaussian blur
    S_π(i, j)  = ½ ‖π_u(I) − π_u(Φ(I, i, j))‖²              π_u: the logits
    S_V(i, j)  = ½ ‖V(I) − V(Φ(I, i, j))‖²

The state I is everything that the network reads at a decision. All four stacked screens are blurred, because the
older ones would otherwise reveal what the newest hides. The memory of an LSTM is unchanged.
"""

from collections.abc import Iterator
from functools import cache

import torch
from torch import Tensor

from workers.trainer.methods.trained_networks import TrainedNetwork
from workers.trainer.networks.agents import Memory

# The paper's: σ² = 25 of the mask M, σ = 3 of the blur A, and a place every five pixels.
SIGMA, BLUR_SIGMA, SPACING = 5.0, 3.0, 5
FIRST = SPACING // 2
# States per forward pass. This number fits the CPU's cache.
ROWS = 64


def places(side: int) -> list[int]:
    """Return the rows, or columns, of the grid on a picture of this size."""
    return list(range(FIRST, side, SPACING))


def gaussian(centers: Tensor, side: int, sigma: float) -> Tensor:
    """Return, for each center, e^(−d²/2σ²) of every pixel's distance from it."""
    distance = torch.arange(side) - centers[:, None]
    return torch.exp(-(distance**2) / (2 * sigma**2))


@cache
def masks(side: int) -> Tensor:
    """Return M of every place of the grid, row by row: (places, side, side)."""
    bells = gaussian(torch.tensor(places(side)), side, SIGMA)
    return torch.einsum("iy,jx->ijyx", bells, bells).flatten(0, 1)


@cache
def _blurring(side: int) -> Tensor:
    weights = gaussian(torch.arange(side), side, BLUR_SIGMA)
    return weights / weights.sum(dim=1, keepdim=True)


def blurred(state: Tensor) -> Tensor:
    """Return A(I): each pixel becomes the mean of its neighbors by a Gaussian of their distance."""
    matrix = _blurring(state.shape[-1])
    return matrix @ state @ matrix.T


def perturbed(state: Tensor) -> Iterator[Tensor]:
    """Yield Φ(I, i, j) of all places in batches: (places, channels, side, side)."""
    change = blurred(state) - state
    for some in masks(state.shape[-1]).split(ROWS):
        yield state + some[:, None] * change


def saliency(network: TrainedNetwork, observation: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
    """Return S_π and S_V of every place of the grid for one observation, read with the memory of one episode."""
    state = observation.float()
    plain, _ = network.predict(state[None], memory)
    policy, value = [], []
    for batch in perturbed(state):
        output, _ = network.predict(
            batch, tuple((h.expand(len(batch), -1), c.expand(len(batch), -1)) for h, c in memory)
        )
        policy.append((output.numbers - plain.numbers).square().sum(dim=-1) / 2)
        value.append((output.values - plain.values).square() / 2)
    side = len(places(state.shape[-1]))
    return torch.cat(policy).view(side, side), torch.cat(value).view(side, side)
