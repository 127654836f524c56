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

    def detached(self) -> "Losses":
        """Return the losses without autograd's graph. As long as it exists, no backward pass fits in a CUDA graph."""
        return Losses(self.total.detach(), self.policy.detach(), self.value.detach(), self.entropy.detach())
