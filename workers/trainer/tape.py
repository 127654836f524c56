"""Keeps what a body computes while it acts, so that learning needs no second forward pass.

One set of weights acts for a whole rollout: what its layers answer meanwhile is what a forward pass over the rollout
would answer again. The rows are kept as they come, and one backward pass goes over all of them.
"""

from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from workers.trainer.bodies import Body, PixelBody, VectorBody
from workers.trainer.pixel_convolution import PixelConvolution, input_gradient, layout, parameter_gradients
from workers.trainer.side_by_side import ALONE, SideBySide
from workers.trainer.step_tapes import gradient_of


class PixelTape:
    """The outputs of a pixel body's layers, row by row in the order of the states that it was shown."""

    def __init__(self, body: PixelBody, rows: int, side_by_side: SideBySide = ALONE) -> None:
        self._body = body
        self._first, *self._rest = cast(tuple[PixelConvolution, *tuple[nn.Conv2d, ...]], body.layers)
        self._rows = rows
        self._side_by_side = side_by_side
        self._filled = 0
        self._kernel: Tensor | None = None
        # What the convolutions after the first read, what the hidden layer reads, and what that gives.
        self._maps: list[Tensor] = []
        self._flat = self._features = torch.empty(0)

    def rewind(self) -> None:
        """Forget what was kept: new weights act from now on."""
        self._filled = 0
        self._kernel = None

    @torch.no_grad()
    def act(self, pixels: Tensor) -> Tensor:
        """The features of some states; everything on the way to them is kept."""
        if not self._maps:
            self._allocate(pixels[:1])
        if self._kernel is None:
            self._kernel = self._first.kernel(pixels)
        rows = slice(self._filled, self._filled + len(pixels))
        self._filled = rows.stop
        x = self._first.convolve(pixels, self._kernel)
        for layer, kept in zip(self._rest, self._maps, strict=True):
            x = layer(torch.clamp_min(x, 0, out=kept[rows]))
        x = F.relu_(x)
        flat = self._flat[rows]
        flat.view_as(x).copy_(x)
        return torch.clamp_min(self._body.hidden(flat), 0, out=self._features[rows])

    def recall(self, _pixels: Tensor) -> Tensor:
        """The features of all states since the tape was rewound, once more."""
        return self._features[: self._filled].detach()

    def features(self, pixels: Tensor) -> Tensor:
        """The same for autograd, which then finds the gradients of the body's parameters."""
        if self._filled != len(pixels):
            raise ValueError(f"the tape keeps {self._filled} states, but {len(pixels)} were given")
        return cast(Tensor, _Recalled.apply(self, pixels, *self._body.parameters()))  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def backward(self, pixels: Tensor, gradient: Tensor) -> None:
        """Write the gradients of the body's parameters into their buffers, from the gradient of the features."""
        for parameter, found in zip(self._body.parameters(), self.gradients(pixels, gradient), strict=True):
            gradient_of(parameter).copy_(found)

    def gradients(self, pixels: Tensor, gradient: Tensor) -> list[Tensor]:
        """Of the body's parameters, in their order, from the gradient of the features."""
        found, *others = self._side_by_side(lambda rows: self._gradients_of(rows, pixels, gradient), self._filled)
        for share in others:
            found = [a + b for a, b in zip(found, share, strict=True)]
        return found

    @torch.no_grad()
    def _gradients_of(self, rows: slice, pixels: Tensor, gradient: Tensor) -> list[Tensor]:
        read, flat = [x[rows] for x in self._maps], self._flat[rows]
        gradient = _through_rectifier(gradient[rows], self._features[rows])
        found = [gradient.sum(0), gradient.t() @ flat]  # from the last parameter to the first
        gradient = _through_rectifier(gradient @ self._body.hidden.weight, flat)
        gradient = gradient.view(len(flat), *self._last_shape).contiguous(memory_format=layout(read[-1]))
        for layer, x in zip(reversed(self._rest), reversed(read), strict=True):
            weight, bias = parameter_gradients(layer, gradient, x)
            found += [bias, weight]
            gradient = _through_rectifier(input_gradient(layer, gradient, x), x)
        weight, bias = self._first.gradients(gradient, pixels[rows])
        return [weight, bias, *reversed(found)]

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
    """Hands out kept features; going back, it asks the tape for the gradients of the body's parameters."""

    @staticmethod
    def forward(ctx: Any, tape: PixelTape, pixels: Tensor, *_: Tensor) -> Tensor:
        ctx.tape, ctx.pixels = tape, pixels
        return tape.recall(pixels)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *ctx.tape.gradients(ctx.pixels, gradient)


class VectorTape:
    """The twin for vectors, where a second forward pass costs less than keeping the first."""

    def __init__(self, body: VectorBody) -> None:
        self._body = body

    def rewind(self) -> None:
        """Nothing is kept."""

    @torch.no_grad()
    def act(self, readings: Tensor) -> Tensor:
        """The features of some states."""
        return cast(Tensor, self._body(readings))

    def recall(self, readings: Tensor) -> Tensor:
        """The features of states, for which `backward` may be asked next."""
        self._recalled = self.features(readings)
        return self._recalled.detach()

    def features(self, readings: Tensor) -> Tensor:
        """The features of states, with gradients for the body."""
        return cast(Tensor, self._body(readings))

    def backward(self, _readings: Tensor, gradient: Tensor) -> None:
        """Write the gradients of the body's parameters into their buffers, from the gradient of the features."""
        parameters = list(self._body.parameters())
        found = torch.autograd.grad(self._recalled, parameters, gradient)
        for parameter, of_parameter in zip(parameters, found, strict=True):
            gradient_of(parameter).copy_(of_parameter)


Tape = PixelTape | VectorTape


def tape_of(body: Body, rows: int, side_by_side: SideBySide = ALONE) -> Tape:
    """Make a tape for so many states."""
    return PixelTape(body, rows, side_by_side) if isinstance(body, PixelBody) else VectorTape(body)


def _through_rectifier(gradient: Tensor, output: Tensor) -> Tensor:
    return cast(Tensor, torch.ops.aten.threshold_backward(gradient, output, 0))
