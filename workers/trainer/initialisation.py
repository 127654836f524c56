"""How weights start where they do not start uniform in ±1/√fan_in, as torch's layers do by themselves."""

from math import sqrt
from typing import TypeVar

import torch
from torch import nn

from workers.trainer.config import TrainingConfig

Network = TypeVar("Network", bound=nn.Module)

# The heads' gains in OpenAI's A2C: a policy that begins near uniform, values that begin near 0.
HEAD_GAINS = {"policy": 0.01, "value": 1.0, "values": 1.0, "advantages": 1.0}


def initialised(network: Network, config: TrainingConfig) -> Network:
    """Give a fresh network the first weights that the run asks for."""
    if config.initialisation == "orthogonal":
        make_orthogonal(network)
    return network


@torch.no_grad()
def make_orthogonal(network: nn.Module) -> None:
    """Orthogonal weights with gain √2 below the heads, and no bias."""
    for name, layer in network.named_modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            # QR needs float32, whatever the layer computes in.
            weight = torch.empty(layer.weight.shape)
            nn.init.orthogonal_(weight, HEAD_GAINS.get(name, sqrt(2)))
            layer.weight.copy_(weight)
            if layer.bias is not None:
                layer.bias.zero_()
