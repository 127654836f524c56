"""Initial weights other than torch's own, which are uniform in ±1/√fan_in."""

from math import sqrt
from typing import TypeVar

import torch
from torch import nn

from workers.contract.config import TrainingConfig

Network = TypeVar("Network", bound=nn.Module)

# The heads' gains in OpenAI's A2C: the policy starts near uniform, values start near 0.
HEAD_GAINS = {"policy": 0.01, "value": 1.0, "values": 1.0, "advantages": 1.0}


def initialized(network: Network, config: TrainingConfig) -> Network:
    """Initialize a fresh network's weights as configured."""
    if config.initialization == "orthogonal":
        make_orthogonal(network)
    return network


@torch.no_grad()
def make_orthogonal(network: nn.Module) -> None:
    """Make all weights orthogonal, with gain √2 below the heads, and all biases zero."""
    for name, layer in network.named_modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            # The QR decomposition needs float32, even if the layer computes in another format.
            weight = torch.empty(layer.weight.shape)
            nn.init.orthogonal_(weight, HEAD_GAINS.get(name, sqrt(2)))
            layer.weight.copy_(weight)
            if layer.bias is not None:
                layer.bias.zero_()
