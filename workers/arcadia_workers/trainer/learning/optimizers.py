"""The papers' optimizers over one flat buffer of parameters, and updates that ignore the mean of a layer's inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from arcadia_workers.trainer.networks.gradients import ALONE, SideBySide

Correction = Callable[[Tensor], None]
"""Changes a step in the flat buffer before it is taken."""


@dataclass(frozen=True)
class FormatSlice:
    """Parameters of one number format: their slice of the buffer, and the module's values."""

    where: slice
    values: Tensor


class FlatParameters:
    """Parameters and gradients of a module in flat float32 buffers, of which the module uses views.

    Parameters in a shorter format come first. The module computes with a rounded copy of them that is made after every
    update, so small steps add up in float32 and no forward pass has to convert weights. Given `shared` values, the θ
    of all actor-learners, the module computes with a full copy: its own θ'.
    """

    def __init__(self, module: nn.Module, shared: Tensor | None = None) -> None:
        self.module = module
        parameters = list(module.parameters())
        own = torch.cat([_storage_order(p.detach()).reshape(-1).float() for p in parameters])
        self.values = own if shared is None else shared
        self.gradients = torch.zeros_like(own)
        short = [p for p in parameters if p.dtype is not torch.float32]
        border = sum(p.numel() for p in short)
        rounded, exact = slice(0, border), slice(border, len(own))
        copies = self.values[rounded].to(short[0].dtype if short else torch.float32, copy=True)
        in_short = FormatSlice(rounded, copies)
        in_full = FormatSlice(exact, self.values[exact] if shared is None else self.values[exact].clone())
        self._copied = [in_short] if shared is None else [in_short, in_full]
        # The slice of each parameter. Convolution weights are stored with channels last.
        self.places: dict[str, slice] = {}
        start = 0
        for name, parameter in module.named_parameters():
            where = self.places[name] = slice(start, start + parameter.numel())
            one_format = in_short if start < border else in_full
            within = slice(where.start - one_format.where.start, where.stop - one_format.where.start)
            parameter.data = _view(one_format.values[within], parameter)
            # Hand-written gradients are stored here, always in float32.
            parameter.grad_dtype = None
            parameter.grad = _view(self.gradients[where], parameter)
            start = where.stop
        self._gradients = list(self.named_in(self.gradients).values())
        self._parameters = parameters

    def backward(self, loss: Tensor, *, allow_unused: bool = False) -> None:
        """Write the gradients of the loss into the buffer.

        Raise ValueError if the loss does not depend on every parameter, unless `allow_unused` is true. A method without
        a critic leaves the value layer unused, for example. The gradient of an unused parameter is 0.
        """
        gradients = torch.autograd.grad(loss, self._parameters, allow_unused=True)
        unused = [name for name, gradient in zip(self.places, gradients, strict=True) if gradient is None]
        if unused and not allow_unused:
            raise ValueError(
                f"the loss does not depend on {', '.join(unused)}: add the missing term to the loss, use a network "
                "without these parameters, or pass allow_unused=True to backward"
            )
        for into, gradient in zip(self._gradients, gradients, strict=True):
            into.zero_() if gradient is None else into.copy_(gradient)

    def changed(self) -> None:
        """Copy changed values from the buffer to the module. With shared values this is θ' ← θ."""
        for one_format in self._copied:
            one_format.values.copy_(self.values[one_format.where])

    def take_over(self, others: "FlatParameters") -> None:
        """Copy all values from a module of the same structure."""
        self.values.copy_(others.values)
        self.changed()

    def named(self) -> dict[str, Tensor]:
        """Return the float32 values by the names of the module's `load_state_dict`."""
        return self.named_in(self.values)

    def named_in(self, flat: Tensor) -> dict[str, Tensor]:
        """Return the parts of a buffer laid out like the values by the same names."""
        shapes = dict(self.module.named_parameters())
        return {name: _view(flat[where], shapes[name]) for name, where in self.places.items()}

    def load(self, named: dict[str, Tensor]) -> None:
        """Load values by name. Raise if a parameter is missing or has the wrong shape."""
        if named.keys() != self.places.keys():
            raise ValueError(f"expected the parameters {sorted(self.places)}, got {sorted(named)}")
        for name, values in self.named().items():
            if named[name].shape != values.shape:
                raise ValueError(
                    f"{name} has shape {tuple(named[name].shape)}, this network needs {tuple(values.shape)}"
                )
            values.copy_(named[name])
        self.changed()


def _storage_order(parameter: Tensor) -> Tensor:
    """Move a convolution's channels to the end, as its kernels need."""
    return parameter.permute(0, 2, 3, 1) if parameter.dim() == 4 else parameter


def _view(flat: Tensor, like: Tensor) -> Tensor:
    if like.dim() != 4:
        return flat.view(like.shape)
    outputs, inputs, height, width = like.shape
    return flat.view(outputs, height, width, inputs).permute(0, 3, 1, 2)


class Optimizer(Protocol):
    """Interface of an optimizer over flat parameters.

    A method may define its own. `step` reads the gradients in the buffer, writes the values, and calls
    `FlatParameters.changed`. It passes its step to `correct` before it takes it.
    """

    parameters: FlatParameters

    def step(self, learning_rate: float | Tensor, correct: Correction | None = None) -> None:
        """Update the parameters with the gradients in the buffer. In a CUDA graph the learning rate is a tensor."""
        ...

    def statistics(self) -> dict[str, Tensor]:
        """Return the tensors that checkpoints store and restore in place, by name."""
        ...


class RMSProp:
    """RMSProp: g ← αg + (1−α)Δθ²;  θ ← θ − ηΔθ/√(g+ε), with ε inside the root, unlike torch (A3C, equation 1).

    Actor-learners that share g do Shared RMSProp.
    """

    def __init__(
        self,
        parameters: FlatParameters,
        decay: float,
        epsilon: float,
        mean_square: Tensor | None = None,
        side_by_side: SideBySide = ALONE,
    ) -> None:
        self.parameters = parameters
        self.decay = decay
        self.epsilon = epsilon
        self._side_by_side = side_by_side
        self.mean_square = RMSProp.beginning(parameters.values) if mean_square is None else mean_square
        self._direction = torch.empty_like(parameters.gradients)

    @staticmethod
    def beginning(values: Tensor) -> Tensor:
        """Return g before the first update.

        It starts at 1, as in the TensorFlow that PAAC's authors used. Starting at 0 makes the first steps ten times
        too long, which leaves rectifiers dead.
        """
        return torch.ones_like(values)

    def step(self, learning_rate: float | Tensor, correct: Correction | None = None) -> None:
        """Update the parameters with the gradients in the buffer. In a CUDA graph the learning rate is a tensor."""
        self._side_by_side(self._find_direction, len(self.mean_square))
        if correct is not None:
            correct(self._direction)
        if isinstance(learning_rate, Tensor):
            self.parameters.values.addcmul_(self._direction, learning_rate, value=-1)
        else:
            self.parameters.values.add_(self._direction, alpha=-learning_rate)
        self.parameters.changed()

    def statistics(self) -> dict[str, Tensor]:
        return {"mean_square": self.mean_square}

    def _find_direction(self, where: slice) -> None:
        mean_square, gradients = self.mean_square[where], self.parameters.gradients[where]
        mean_square.mul_(self.decay).addcmul_(gradients, gradients, value=1 - self.decay)
        # rsqrt takes two thirds of the time of sqrt.
        torch.add(mean_square, self.epsilon, out=self._direction[where]).rsqrt_().mul_(gradients)


class Adam:
    """Adam: m ← β₁m + (1−β₁)Δθ;  v ← β₂v + (1−β₂)Δθ²;  θ ← θ − α m̂/(√v̂+ε) (Kingma and Ba 2015, algorithm 1).

    m̂ = m/(1−β₁ᵗ) and v̂ = v/(1−β₂ᵗ) in update t.
    """

    def __init__(
        self,
        parameters: FlatParameters,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
        side_by_side: SideBySide = ALONE,
    ) -> None:
        self.parameters = parameters
        self.betas = betas
        self.epsilon = epsilon
        self._side_by_side = side_by_side
        self.mean, self.mean_square = torch.zeros_like(parameters.values).repeat(2, 1)
        # The shares of m and v in m̂ and v̂: 1−βᵗ. In a CUDA graph they must be tensors.
        self.weights = torch.zeros(2, dtype=torch.float64, device=parameters.values.device)
        self._betas = torch.tensor(betas, dtype=torch.float64, device=parameters.values.device)
        self._direction = torch.empty_like(parameters.gradients)

    def step(self, learning_rate: float | Tensor, correct: Correction | None = None) -> None:
        """Update the parameters with the gradients in the buffer. In a CUDA graph the learning rate is a tensor."""
        self.weights.mul_(self._betas).add_(1 - self._betas)
        self._side_by_side(self._find_direction, len(self.mean))
        if correct is not None:
            correct(self._direction)
        if isinstance(learning_rate, Tensor):
            self.parameters.values.addcmul_(self._direction, learning_rate, value=-1)
        else:
            self.parameters.values.add_(self._direction, alpha=-learning_rate)
        self.parameters.changed()

    def statistics(self) -> dict[str, Tensor]:
        return {"mean": self.mean, "mean_square": self.mean_square, "weights": self.weights}

    def _find_direction(self, where: slice) -> None:
        mean, mean_square, gradients = self.mean[where], self.mean_square[where], self.parameters.gradients[where]
        of_mean, of_mean_square = self.weights.float()
        mean.lerp_(gradients, 1 - self.betas[0])
        mean_square.mul_(self.betas[1]).addcmul_(gradients, gradients, value=1 - self.betas[1])
        denominator = torch.div(mean_square, of_mean_square, out=self._direction[where]).sqrt_().add_(self.epsilon)
        torch.div(mean, denominator.mul_(of_mean), out=denominator)


class CenteredRMSProp:
    """m ← αm + (1−α)Δθ;  g ← αg + (1−α)Δθ²;  θ ← θ − ηΔθ/√(g−m²+ε), as in DQN (Graves 2013; Mnih et al. 2015)."""

    def __init__(self, parameters: FlatParameters, decay: float, epsilon: float, moments: Tensor | None = None) -> None:
        self.parameters = parameters
        self.decay = decay
        self.epsilon = epsilon
        # The rows are m and g.
        self.moments = CenteredRMSProp.beginning(parameters.values) if moments is None else moments

    @staticmethod
    def beginning(values: Tensor) -> Tensor:
        """Return both moments before the first update."""
        return torch.zeros_like(values).repeat(2, 1)

    def step(self, learning_rate: float) -> None:
        """Update the parameters with the gradients in the buffer."""
        gradients, (mean, mean_square) = self.parameters.gradients, self.moments
        mean.lerp_(gradients, 1 - self.decay)
        mean_square.mul_(self.decay).addcmul_(gradients, gradients, value=1 - self.decay)
        # Only rounding can make it negative.
        variance = torch.addcmul(mean_square, mean, mean, value=-1).clamp_(min=0)
        self.parameters.values.addcmul_(gradients, variance.add_(self.epsilon).rsqrt_(), value=-learning_rate)
        self.parameters.changed()


class MomentumSGD:
    """Momentum SGD: m ← αm + (1−α)Δθ;  θ ← θ − ηm, each actor-learner with its own m (A3C, supplementary section 1)."""

    def __init__(self, parameters: FlatParameters, momentum: float, running: Tensor | None = None) -> None:
        self.parameters = parameters
        self.momentum = momentum
        self.running = MomentumSGD.beginning(parameters.values) if running is None else running

    @staticmethod
    def beginning(values: Tensor) -> Tensor:
        """Return m before the first update."""
        return torch.zeros_like(values)

    def step(self, learning_rate: float, correct: Correction | None = None) -> None:
        """Update the parameters with the gradients in the buffer."""
        self.running.lerp_(self.parameters.gradients, 1 - self.momentum)
        direction = self.running
        if correct is not None:
            direction = direction.clone()
            correct(direction)
        self.parameters.values.sub_(direction, alpha=learning_rate)
        self.parameters.changed()


class AdaGrad:
    """AdaGrad, the optimizer of Gorila's paper: G ← G + Δθ²;  θ ← θ − ηΔθ/√(G+ε) (Duchi et al. 2011)."""

    def __init__(self, parameters: FlatParameters, epsilon: float, sum_square: Tensor | None = None) -> None:
        self.parameters = parameters
        self.epsilon = epsilon
        self.sum_square = AdaGrad.beginning(parameters.values) if sum_square is None else sum_square

    @staticmethod
    def beginning(values: Tensor) -> Tensor:
        """Return G before the first update."""
        return torch.zeros_like(values)

    def step(self, learning_rate: float) -> None:
        """Update the parameters with the gradients in the buffer."""
        gradients = self.parameters.gradients
        self.sum_square.addcmul_(gradients, gradients)
        scale = (self.sum_square + self.epsilon).rsqrt_()
        self.parameters.values.addcmul_(gradients, scale, value=-learning_rate)
        self.parameters.changed()


def clip_to_norm(gradients: Tensor, limit: float | Tensor) -> Tensor:
    """Scale gradients in place so that their norm is at most `limit`. Return the norm before."""
    norm: Tensor = gradients.norm()
    if gradients.is_cuda or norm > limit:  # a comparison would wait for the GPU
        gradients.mul_((limit / (norm + 1e-12)).clamp(max=1.0))
    return norm


# The window of the running means of an actor-learner and of GA3C. One of their updates may have only a few successive
# states of one game, whose mean is not that of all states.
STATES_OF_A_MEAN = 200


class Centering:
    """Correction that makes layers learn as if they read x − c, where c is the (running) mean of their inputs.

    Wx + b = W(x − c) + b′ where b′ = b + Wc. In the gradients of W and b′, only that of W differs: by −Δb·cᵀ. A step
    that changes W and b′ changes b by Δb′ − ΔW·c. The network itself is the same for any c. Only b′ learns from what
    a state has in common with c.
    """

    def __init__(self, body: nn.Module, parameters: FlatParameters) -> None:
        self._gradients = parameters.gradients
        self._means: list[Tensor] = []
        place = {id(parameter): parameters.places[name] for name, parameter in parameters.module.named_parameters()}
        layers = [layer for layer in body.modules() if isinstance(layer, nn.Conv2d | nn.Linear)]
        # For each layer: the number of units, and the slices of its weight and bias.
        self._layers = [(len(layer.weight), place[id(layer.weight)], place[id(layer.bias)]) for layer in layers]

    def center(self, means: Sequence[Tensor], states: int = STATES_OF_A_MEAN) -> Correction:
        """Center the gradients, given the means of each layer's inputs. Return the correction of the step.

        Means over many games are used directly. Means over only `states` states update the running means with the
        weight states / STATES_OF_A_MEAN.
        """
        share = min(1.0, states / STATES_OF_A_MEAN)
        running = self._means = self._means or [mean.clone() for mean in means]
        for kept, mean in zip(running, means, strict=True):
            kept.lerp_(mean, share)  # in place, as a CUDA graph needs it
        layers = self._rows_of(self._gradients)
        # A convolution reads each channel at several places.
        rows = [mean.repeat(weight.shape[1] // len(mean)) for mean, (weight, _) in zip(running, layers, strict=True)]
        for (of_weight, of_bias), row in zip(layers, rows, strict=True):
            of_weight.addr_(of_bias, row, alpha=-1)

        def correct(step: Tensor) -> None:
            for (weight, bias), row in zip(self._rows_of(step), rows, strict=True):
                bias.addmv_(weight, row, alpha=-1)

        return correct

    def _rows_of(self, flat: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return each layer's weight, a row for each unit, and its bias in a buffer like that of the parameters."""
        return [(flat[weight].view(units, -1), flat[bias]) for units, weight, bias in self._layers]
