"""Tapes keep what a body computes while it acts, so that learning needs no second forward pass.

The weights stay the same during a rollout, so a second forward pass over it would repeat the outputs of acting. A tape
keeps those outputs row by row, and one backward pass with hand-written gradients goes over all rows. A `Tape` takes
batches of states, a `StepTape` one state at a time.
"""

import threading
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from workers.trainer.networks.bodies import Body, PixelBody, VectorBody
from workers.trainer.networks.gradients import (
    gradient_of,
    input_gradient,
    layout,
    parameter_gradients,
    through_rectifier,
    through_tanh,
    write_linear,
)
from workers.trainer.networks.pixel_convolution import PixelConvolution
from workers.trainer.networks.side_by_side import ALONE, SideBySide


class PixelTape:
    """The outputs of a pixel body's layers, one row for each state. Several threads may act at a time."""

    def __init__(self, body: PixelBody, rows: int, side_by_side: SideBySide = ALONE) -> None:
        self._body = body
        self._first, *self._rest = cast(tuple[PixelConvolution, *tuple[nn.Conv2d, ...]], body.layers)
        self._rows = rows
        self._side_by_side = side_by_side
        self._beginning = threading.Lock()
        self.rewind()
        # The inputs of the convolutions after the first, the hidden layer's input, and its output.
        self._maps: list[Tensor] = []
        self._flat = self._features = torch.empty(0)

    def rewind(self) -> None:
        """Drop everything kept, because the weights have changed."""
        self._kept: list[slice] = []
        self._kernel: Tensor | None = None

    @torch.no_grad()
    def act(self, pixels: Tensor, rows: slice | None = None) -> Tensor:
        """Return the features of some states, and keep every layer's output in these rows, by default the next."""
        rows = rows or slice(self._filled, self._filled + len(pixels))
        self._kept.append(rows)
        x = self._first.convolve(pixels, self._begun(pixels))
        for layer, kept in zip(self._rest, self._maps, strict=True):
            x = layer(torch.clamp_min(x, 0, out=kept[rows]))
        x = F.relu_(x)
        flat = self._flat[rows]
        flat.view_as(x).copy_(x)
        return torch.clamp_min(self._body.hidden(flat), 0, out=self._features[rows])

    def recall(self, _pixels: Tensor) -> Tensor:
        """Return the kept features of all states since the tape was rewound."""
        return self._features[: self._filled].detach()

    def input_means(self, pixels: Tensor) -> list[Tensor]:
        """Return the mean of each layer's inputs over all kept states, for each channel; one number for the pixels."""
        # Every grey frame is the last of one state. Of a coloured picture it is the mean of blue: agents learnt
        # less with a mean for each colour (docs/results/labyrinth.md).
        scaled = pixels[:, -1:].mean(dtype=torch.float32).view(1) / 255
        maps = [x[: self._filled].mean((0, 2, 3), dtype=torch.float32) for x in self._maps]
        return [scaled, *maps, self._flat[: self._filled].mean(0, dtype=torch.float32)]

    def features(self, pixels: Tensor) -> Tensor:
        """Return the kept features attached to autograd, which can then compute the body's gradients."""
        if self._filled != len(pixels):
            raise ValueError(f"the tape keeps {self._filled} states, but {len(pixels)} were given")
        return cast(Tensor, _Recalled.apply(self, pixels, *self._body.parameters()))  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def backward(self, pixels: Tensor, gradient: Tensor) -> None:
        """Write the gradients of the body's parameters into their buffers, given the gradient of the features."""
        for parameter, found in zip(self._body.parameters(), self.gradients(pixels, gradient), strict=True):
            gradient_of(parameter).copy_(found)

    def gradients(self, pixels: Tensor, gradient: Tensor) -> list[Tensor]:
        """Return the gradients of the body's parameters, in their order, given the gradient of the features."""
        found, *others = self._side_by_side(lambda rows: self._gradients_of(rows, pixels, gradient), self._filled)
        for share in others:
            found = [a + b for a, b in zip(found, share, strict=True)]
        return found

    @torch.no_grad()
    def _gradients_of(self, rows: slice, pixels: Tensor, gradient: Tensor) -> list[Tensor]:
        read, flat = [x[rows] for x in self._maps], self._flat[rows]
        gradient = through_rectifier(gradient[rows], self._features[rows])
        found = [gradient.sum(0), gradient.t() @ flat]  # from the last parameter to the first
        gradient = through_rectifier(gradient @ self._body.hidden.weight, flat)
        gradient = gradient.view(len(flat), *self._last_shape).contiguous(memory_format=layout(read[-1]))
        for layer, x in zip(reversed(self._rest), reversed(read), strict=True):
            weight, bias = parameter_gradients(layer, gradient, x)
            found += [bias, weight]
            gradient = through_rectifier(input_gradient(layer, gradient, x), x)
        weight, bias = self._first.gradients(gradient, pixels[rows])
        return [weight, bias, *reversed(found)]

    @property
    def _filled(self) -> int:
        return sum(rows.stop - rows.start for rows in self._kept)

    def _begun(self, pixels: Tensor) -> Tensor:
        """Return the kernel of the first layer, after making room for what is kept."""
        with self._beginning:
            if not self._maps:
                self._allocate(pixels[:2])  # kernels of one state may have another layout
            if self._kernel is None:
                self._kernel = self._first.kernel(pixels)
            return self._kernel

    def _allocate(self, pixels: Tensor) -> None:
        outputs = [pixels]
        for layer in self._body.layers:
            outputs.append(layer(outputs[-1]))
        for x in outputs[1:-1]:
            shape, order = (self._rows, *x.shape[1:]), layout(x)
            self._maps.append(torch.empty(shape, dtype=x.dtype, device=x.device, memory_format=order))
        self._last_shape = outputs[-1].shape[1:]
        self._flat = pixels.new_empty(self._rows, self._body.hidden.in_features)
        self._features = pixels.new_empty(self._rows, self._body.features)


class _Recalled(torch.autograd.Function):
    """Returns kept features; its backward pass takes the gradients of the body's parameters from the tape."""

    @staticmethod
    def forward(ctx: Any, tape: PixelTape, pixels: Tensor, *_: Tensor) -> Tensor:
        ctx.tape, ctx.pixels = tape, pixels
        return tape.recall(pixels)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *ctx.tape.gradients(ctx.pixels, gradient)


class VectorTape:
    """A tape for vectors that keeps nothing, because a second forward pass costs less than keeping the first."""

    def __init__(self, body: VectorBody) -> None:
        self._body = body

    def rewind(self) -> None:
        """Do nothing: this tape keeps nothing."""

    @torch.no_grad()
    def act(self, readings: Tensor, _rows: slice | None = None) -> Tensor:
        """Return the features of some states."""
        return cast(Tensor, self._body(readings))

    def recall(self, readings: Tensor) -> Tensor:
        """Return the features of these states, and remember how to differentiate them in `backward`."""
        self._recalled = self.features(readings)
        return self._recalled.detach()

    def features(self, readings: Tensor) -> Tensor:
        """Return the features of these states attached to autograd."""
        return cast(Tensor, self._body(readings))

    @torch.no_grad()
    def input_means(self, readings: Tensor) -> list[Tensor]:
        """Return the mean of each layer's inputs over these states."""
        means, x = [], readings
        for layer in self._body.layers:
            if isinstance(layer, nn.Linear):
                means.append(x.mean(0))
            x = layer(x)
        return means

    def backward(self, _readings: Tensor, gradient: Tensor) -> None:
        """Write the gradients of the body's parameters into their buffers, given the gradient of the features."""
        parameters = list(self._body.parameters())
        # Of one number, since for more torch first imports its symbolic shapes: half a second in each process.
        found = torch.autograd.grad(torch.dot(self._recalled.flatten(), gradient.flatten()), parameters)
        for parameter, of_parameter in zip(parameters, found, strict=True):
            gradient_of(parameter).copy_(of_parameter)


class PixelStepTape:
    """The inputs and features of a pixel body's layers, one row for each state."""

    def __init__(self, body: PixelBody) -> None:
        self._body = body
        self.rewind()

    def rewind(self) -> None:
        """Drop everything kept, because the weights have changed."""
        # The inputs of each convolution and, last, of the hidden layer.
        self._read: list[list[Tensor]] = [[] for _ in range(len(self._body.layers) + 1)]
        self._features: list[Tensor] = []

    @torch.no_grad()
    def act(self, pixels: Tensor) -> Tensor:
        """Return the features of a state."""
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
        """The states since the tape was rewound."""
        return self._read[0]

    def input_means(self) -> list[Tensor]:
        """Return the mean of each layer's inputs over all states, for each channel; one number for the pixels."""
        pixels, *maps, flat = (torch.cat(rows) for rows in self._read)
        # Every grey frame is the last of one state. Of a coloured picture it is the mean of blue: agents learnt
        # less with a mean for each colour (docs/results/labyrinth.md).
        scaled = pixels[:, -1:].mean(dtype=torch.float32).view(1) / 255
        return [scaled, *(x.mean((0, 2, 3), dtype=torch.float32) for x in maps), flat.mean(0, dtype=torch.float32)]

    def features(self) -> Tensor:
        """Return the features of all states."""
        return torch.cat(self._features)

    @torch.no_grad()
    def backward(self, gradient: Tensor) -> None:
        """Write the gradients of the body's parameters, given the gradient of the features."""
        body = self._body
        *maps, flat = (torch.cat(rows) for rows in self._read)
        gradient = through_rectifier(gradient.to(flat.dtype), self.features())
        write_linear(body.hidden, gradient, flat)
        gradient = through_rectifier(gradient @ body.hidden.weight, flat)
        gradient = gradient.view(len(flat), *self._map_shape).contiguous(memory_format=torch.channels_last)
        for layer, x in zip(reversed(body.layers), reversed(maps), strict=True):
            if isinstance(layer, PixelConvolution):
                weight, bias = layer.gradients(gradient, x)
            else:
                weight, bias = parameter_gradients(layer, gradient, x)
                gradient = through_rectifier(input_gradient(layer, gradient, x), x)
            gradient_of(layer.weight).copy_(weight)
            gradient_of(layer.bias).copy_(bias)


class VectorStepTape:
    """The states and outputs of a vector body's layers, one row for each state."""

    def __init__(self, body: VectorBody) -> None:
        self._layers = [layer for layer in body.layers if isinstance(layer, nn.Linear)]
        saturates = body.activation == "tanh"
        self._activate, self._through = (torch.tanh_, through_tanh) if saturates else (F.relu_, through_rectifier)
        self.rewind()

    def rewind(self) -> None:
        """Drop everything kept, because the weights have changed."""
        # The states and, after them, the output of each layer.
        self._kept: list[list[Tensor]] = [[] for _ in range(len(self._layers) + 1)]

    @torch.no_grad()
    def act(self, readings: Tensor) -> Tensor:
        """Return the features of a state."""
        x = readings
        self._kept[0].append(x)
        for layer, kept in zip(self._layers, self._kept[1:], strict=True):
            x = self._activate(layer.forward(x))
            kept.append(x)
        return x

    @property
    def states(self) -> list[Tensor]:
        """The states since the tape was rewound."""
        return self._kept[0]

    def input_means(self) -> list[Tensor]:
        """Return the mean of each layer's inputs over all states."""
        return [torch.cat(rows).mean(0) for rows in self._kept[:-1]]

    def features(self) -> Tensor:
        """Return the features of all states."""
        return torch.cat(self._kept[-1])

    @torch.no_grad()
    def backward(self, gradient: Tensor) -> None:
        """Write the gradients of the body's parameters, given the gradient of the features."""
        kept = [torch.cat(rows) for rows in self._kept]
        for i, layer in reversed(list(enumerate(self._layers))):
            gradient = self._through(gradient, kept[i + 1])
            write_linear(layer, gradient, kept[i])
            if i > 0:
                gradient = gradient @ layer.weight


Tape = PixelTape | VectorTape
StepTape = PixelStepTape | VectorStepTape


def tape_of(body: Body, rows: int, side_by_side: SideBySide = ALONE) -> Tape:
    """Make a tape for at most `rows` states."""
    return PixelTape(body, rows, side_by_side) if isinstance(body, PixelBody) else VectorTape(body)


def step_tape_of(body: Body) -> StepTape:
    """Make a tape for one state at a time."""
    return PixelStepTape(body) if isinstance(body, PixelBody) else VectorStepTape(body)
