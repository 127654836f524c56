"""Bodies that act one state at a time and keep what they compute, so that learning needs no second forward pass.

Their gradients are written down by hand: for the few states of a rollout, autograd costs more than the arithmetic,
and what it finds would have to be copied to where the optimizer reads it.
"""

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from workers.trainer.bodies import Body, PixelBody, VectorBody
from workers.trainer.pixel_convolution import PixelConvolution, input_gradient, parameter_gradients


class PixelStepTape:
    """The outputs of a pixel body's layers, a row for each state."""

    def __init__(self, body: PixelBody) -> None:
        self._body = body
        self.rewind()

    def rewind(self) -> None:
        """Forget what was kept: new weights act from now on."""
        # Of each layer and then of the hidden one: what it read.
        self._read: list[list[Tensor]] = [[] for _ in range(len(self._body.layers) + 1)]
        self._features: list[Tensor] = []

    @torch.no_grad()
    def act(self, pixels: Tensor) -> Tensor:
        """The features of a state."""
        x = pixels
        for layer, read in zip(self._body.layers, self._read, strict=False):
            read.append(x)
            x = F.relu_(layer.forward(x))
        self._map_shape = x.shape[1:]
        flat = x.flatten(1)
        self._read[-1].append(flat)
        features = F.relu_(self._body.hidden.forward(flat))
        self._features.append(features)
        return features

    @property
    def states(self) -> list[Tensor]:
        """What it was shown."""
        return self._read[0]

    def features(self) -> Tensor:
        """The features of all states."""
        return torch.cat(self._features)

    @torch.no_grad()
    def backward(self, gradient: Tensor) -> None:
        """Write the gradients of the body's parameters, from those of the features."""
        body = self._body
        *maps, flat = (torch.cat(rows) for rows in self._read)
        gradient = _through_rectifier(gradient.to(flat.dtype), self.features())
        write_linear(body.hidden, gradient, flat)
        gradient = _through_rectifier(gradient @ body.hidden.weight, flat)
        gradient = gradient.view(len(flat), *self._map_shape).contiguous(memory_format=torch.channels_last)
        for layer, x in zip(reversed(body.layers), reversed(maps), strict=True):
            if isinstance(layer, PixelConvolution):
                weight, bias = layer.gradients(gradient, x)
            else:
                weight, bias = parameter_gradients(layer, gradient, x)
                gradient = _through_rectifier(input_gradient(layer, gradient, x), x)
            gradient_of(layer.weight).copy_(weight)
            gradient_of(layer.bias).copy_(bias)


class VectorStepTape:
    """The same of hidden layers over readings."""

    def __init__(self, body: VectorBody) -> None:
        self._layers = [layer for layer in body.layers if isinstance(layer, nn.Linear)]
        saturates = body.activation == "tanh"
        self._activate, self._through = (torch.tanh_, _through_tanh) if saturates else (F.relu_, _through_rectifier)
        self.rewind()

    def rewind(self) -> None:
        """Forget what was kept: new weights act from now on."""
        # The states, and then what each layer made of them.
        self._kept: list[list[Tensor]] = [[] for _ in range(len(self._layers) + 1)]

    @torch.no_grad()
    def act(self, readings: Tensor) -> Tensor:
        """The features of a state."""
        x = readings
        self._kept[0].append(x)
        for layer, kept in zip(self._layers, self._kept[1:], strict=True):
            x = self._activate(layer.forward(x))
            kept.append(x)
        return x

    @property
    def states(self) -> list[Tensor]:
        """What it was shown."""
        return self._kept[0]

    def features(self) -> Tensor:
        """The features of all states."""
        return torch.cat(self._kept[-1])

    @torch.no_grad()
    def backward(self, gradient: Tensor) -> None:
        """Write the gradients of the body's parameters, from those of the features."""
        kept = [torch.cat(rows) for rows in self._kept]
        for i, layer in reversed(list(enumerate(self._layers))):
            gradient = self._through(gradient, kept[i + 1])
            write_linear(layer, gradient, kept[i])
            if i > 0:
                gradient = gradient @ layer.weight


StepTape = PixelStepTape | VectorStepTape


def step_tape_of(body: Body) -> StepTape:
    """Make the tape that fits a body."""
    return PixelStepTape(body) if isinstance(body, PixelBody) else VectorStepTape(body)


def write_linear(layer: nn.Linear, gradient: Tensor, x: Tensor) -> None:
    """Write the gradients of a layer's weight and bias, from those of what it gave for x."""
    torch.mm(gradient.t(), x, out=gradient_of(layer.weight))
    torch.sum(gradient, 0, out=gradient_of(layer.bias))


def gradient_of(parameter: Tensor | None) -> Tensor:
    """The buffer of a parameter's gradient."""
    if parameter is None or parameter.grad is None:
        raise ValueError("gradients are written into buffers: lay the parameters out flat first")
    return parameter.grad


def _through_rectifier(gradient: Tensor, output: Tensor) -> Tensor:
    return cast(Tensor, torch.ops.aten.threshold_backward(gradient, output, 0))


def _through_tanh(gradient: Tensor, output: Tensor) -> Tensor:
    return cast(Tensor, torch.ops.aten.tanh_backward(gradient, output))
