"""The papers' networks: one body, and two heads for the policy's logits and the state's value."""

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from workers.trainer.config import Network, RunConfig

# (output channels, kernel, stride) of each convolution, and the width of the hidden layer after them.
Convolutions = tuple[tuple[int, int, int], ...]
ARCH_NIPS: tuple[Convolutions, int] = (((16, 8, 4), (32, 4, 2)), 256)
ARCH_NATURE: tuple[Convolutions, int] = (((32, 8, 4), (64, 4, 2), (64, 3, 1)), 512)


class PixelBody(nn.Module):
    """Convolutions over stacked 84×84 frames, then one hidden layer; takes pixel values 0–255 in any float format."""

    def __init__(self, observation_shape: tuple[int, ...], convolutions: Convolutions, hidden: int) -> None:
        super().__init__()
        channels, side = observation_shape[0], observation_shape[1]
        layers = []
        for outputs, kernel, stride in convolutions:
            layers.append(nn.Conv2d(channels, outputs, kernel, stride))
            channels, side = outputs, (side - kernel) // stride + 1
        self.convolutions = nn.ModuleList(layers)
        self.hidden = nn.Linear(channels * side * side, hidden)
        self.features = hidden

    def forward(self, pixels: Tensor) -> Tensor:
        first, *rest = (cast(nn.Conv2d, layer) for layer in self.convolutions)
        # Folding 1/255 into the weights spares a pass over the pixels, which bfloat16 holds exactly as 0–255.
        x = F.relu_(F.conv2d(pixels, first.weight / 255, first.bias, first.stride))
        for layer in rest:
            x = F.relu_(layer(x))
        return F.relu_(self.hidden(x.flatten(1)))


class VectorBody(nn.Module):
    """Two hidden layers over a vector of readings."""

    def __init__(self, observation_shape: tuple[int, ...], hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(observation_shape[0], hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()
        )
        self.features = hidden

    def forward(self, readings: Tensor) -> Tensor:
        return cast(Tensor, self.layers(readings))


class ActorCritic(nn.Module):
    """π(a|s; θ) and V(s; θ_v) with a shared body; weights start uniform in ±1/√fan_in, as in the papers' code.

    `dtype` is the number format of the body; the heads always compute in float32.
    """

    def __init__(self, body: PixelBody | VectorBody, num_actions: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.body = body.to(dtype)
        self.policy = nn.Linear(body.features, num_actions)
        self.value = nn.Linear(body.features, 1)
        self.dtype = dtype

    def prepare(self, observations: Tensor) -> Tensor:
        """Convert observations once to the format that the body reads."""
        if not isinstance(self.body, PixelBody):
            return observations.to(torch.float32)
        layout = torch.channels_last if self.dtype is torch.bfloat16 else torch.contiguous_format
        return observations.to(self.dtype).contiguous(memory_format=layout)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (n, actions) and values (n,) of prepared or raw observations."""
        features = self.body(self.prepare(observations)).float()
        return self.policy(features), self.value(features).squeeze(-1)


def resolved(network: Network, pixels: bool) -> Network:
    """Say which network `auto` means."""
    if network != "auto":
        return network
    return "nips" if pixels else "mlp"


def build(
    config: RunConfig, observation_shape: tuple[int, ...], num_actions: int, dtype: torch.dtype = torch.float32
) -> ActorCritic:
    """Make the run's network with fresh weights."""
    kind = resolved(config.network, pixels=len(observation_shape) == 3)
    body: PixelBody | VectorBody
    if kind == "mlp":
        body = VectorBody(observation_shape, config.hidden_units)
    else:
        body = PixelBody(observation_shape, *(ARCH_NATURE if kind == "nature" else ARCH_NIPS))
    return ActorCritic(body, num_actions, dtype)
