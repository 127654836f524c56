"""The papers' optimizers over one flat buffer of parameters, which costs few kernels and can lie in shared memory."""

import torch
from torch import Tensor, nn


class FlatParameters:
    """Moves a module's parameters and gradients into two flat buffers; the module goes on using them as views."""

    def __init__(self, module: nn.Module) -> None:
        parameters = list(module.parameters())
        self.values = torch.cat([_storage_order(p.detach()).reshape(-1) for p in parameters])
        self.gradients = torch.zeros_like(self.values)
        start = 0
        for parameter in parameters:
            end = start + parameter.numel()
            parameter.data = _view(self.values[start:end], parameter)
            # Autograd adds to a gradient that exists; it is zeroed in place and never set to None.
            parameter.grad = _view(self.gradients[start:end], parameter)
            start = end


def _storage_order(parameter: Tensor) -> Tensor:
    """Put a convolution's channels last, as the convolution kernels read them."""
    return parameter.permute(0, 2, 3, 1) if parameter.dim() == 4 else parameter


def _view(flat: Tensor, like: Tensor) -> Tensor:
    if like.dim() != 4:
        return flat.view(like.shape)
    outputs, inputs, height, width = like.shape
    return flat.view(outputs, height, width, inputs).permute(0, 3, 1, 2)


class RMSProp:
    """g ← αg + (1−α)Δθ²;  θ ← θ − ηΔθ/√(g+ε), ε inside the root where torch has it outside (A3C, equation 1)."""

    def __init__(self, parameters: FlatParameters, decay: float, epsilon: float) -> None:
        self.parameters = parameters
        self.decay = decay
        self.epsilon = epsilon
        self.mean_square = torch.zeros_like(parameters.values)

    def step(self, learning_rate: float) -> None:
        """Apply the gradients that the buffer holds."""
        gradients = self.parameters.gradients
        self.mean_square.mul_(self.decay).addcmul_(gradients, gradients, value=1 - self.decay)
        self.parameters.values.addcdiv_(gradients, (self.mean_square + self.epsilon).sqrt_(), value=-learning_rate)


def clip_to_norm(gradients: Tensor, limit: float) -> Tensor:
    """Scale gradients in place so that their norm is at most `limit`; return the norm they had."""
    norm = gradients.norm()
    gradients.mul_((limit / (norm + 1e-12)).clamp(max=1.0))
    return norm


def learning_rate_at(initial: float, decay: str, step: int, total_steps: int) -> float:
    """Decay linearly to zero at the last step, or stay."""
    return initial * max(0.0, 1 - step / total_steps) if decay == "linear" else initial
