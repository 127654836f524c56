"""The losses of an actor-critic."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Losses:
    """Loss of one update, summed over its steps, and its terms."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor
