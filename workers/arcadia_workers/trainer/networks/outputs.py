"""Stored outputs of a body's layers, one row per state, and the gradients computed from them."""

import threading
from typing import Any, cast

import torch
from torch import Tensor, nn

from arcadia_workers.trainer.networks.bodies import Body, PixelBody, PixelConvolution, VectorBody
from arcadia_workers.trainer.networks.gradients import (
    ALONE,
    SideBySide,
    gradient_of,
    input_gradient,
    layout,
    parameter_gradients,
    through_rectifier,
    through_tanh,
    write_linear_gradients,
)


class PixelOutputs:
    """Stored outputs of convolutions and the hidden layer. Several threads may store states concurrently."""

    def __init__(self, body: PixelBody, rows: int, side_by_side: SideBySide) -> None:
        self._body, self._rows, self._side_by_side = body, rows, side_by_side
        self._first, *self._rest = cast(tuple[PixelConvolution, *tuple[nn.Conv2d, ...]], body.layers)
        self._beginning = threading.Lock()
        self._kernel: Tensor | None = None
        # The inputs of the convolutions after the first, and that of the hidden layer.
        self._maps: list[Tensor] = []
        self._flat = torch.empty(0)
        self.features = torch.empty(0)

    def forget_weights(self) -> None:
        """Drop cached weights, because the weights have changed."""
        self._kernel = None

    def keep(self, pixels: Tensor, rows: slice) -> Tensor:
        """Keep the outputs for some states in these rows, and return the features."""
        x = self._first.convolve(pixels, self._begun(pixels))
        for layer, kept in zip(self._rest, self._maps, strict=True):
            x = layer.forward(torch.clamp_min(x, 0, out=kept[rows]))
        flat = self._flat[rows]
        torch.clamp_min(x, 0, out=flat.view_as(x))
        return torch.clamp_min(self._body.hidden.forward(flat), 0, out=self.features[rows])

    def input_means(self, pixels: Tensor, rows: slice) -> list[Tensor]:
        """Return the mean of each layer's inputs over these rows, for each channel; one number for the pixels."""
        # Every gray frame is the newest of one state. For a color picture it is the mean of blue: agents learned
        # less with one mean per color (docs/results/labyrinth.md).
        scaled = self._first.newest(pixels[rows]).mean(dtype=torch.float32).view(1) / 255
        maps = [x[rows].mean((0, 2, 3), dtype=torch.float32) for x in self._maps]
        return [scaled, *maps, self._flat[rows].mean(0, dtype=torch.float32)]

    def write_gradients(self, into: list[Tensor], pixels: Tensor, gradient: Tensor) -> None:
        """Write the gradients of the parameters, in their order, given that of the features of the first states."""
        *of_convolutions, of_weight, of_bias = into
        filled, units = len(pixels), self._body.features
        gradient = through_rectifier(gradient, self.features[:filled])

        @torch.no_grad()  # applies only to the thread that enters it
        def share_of(rows: slice) -> list[Tensor]:
            # Nearly all parameters belong to hidden units. Each thread takes some units and all states, so nothing
            # has to be added up; of the convolutions it takes some states.
            own = slice(rows.start * units // filled, rows.stop * units // filled)
            write_linear_gradients(of_weight[own], of_bias[own], gradient[:, own], self._flat[:filled])
            return self._convolution_gradients(rows, pixels, gradient[rows])

        first, *others = self._side_by_side(share_of, filled)
        for each, *parts in zip(of_convolutions, first, *others, strict=True):
            each.copy_(sum(parts[1:], start=parts[0]))

    def _convolution_gradients(self, rows: slice, pixels: Tensor, gradient: Tensor) -> list[Tensor]:
        """Return the gradients of the convolutions, given that of these rows' hidden units before the rectifier."""
        read, flat = [x[rows] for x in self._maps], self._flat[rows]
        gradient = through_rectifier((gradient @ self._body.hidden.weight).mul_(self._body.share), flat)
        gradient = gradient.view(len(flat), *self._last_shape).contiguous(memory_format=layout(read[-1]))
        gradients: list[Tensor] = []
        for layer, x in zip(reversed(self._rest), reversed(read), strict=True):
            gradients = [*parameter_gradients(layer, gradient, x), *gradients]
            gradient = through_rectifier(input_gradient(layer, gradient, x), x)
        return [*self._first.gradients(gradient, pixels[rows]), *gradients]

    def _begun(self, pixels: Tensor) -> Tensor:
        """Allocate the buffers and return the kernel of the first layer."""
        with self._beginning:
            if not self._maps:
                self._allocate(pixels[:2])  # kernels of one state may have another layout
            # In a CUDA graph the kernel of the first layer follows from the weights of each call.
            if self._kernel is None or pixels.is_cuda:
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
        self.features = pixels.new_empty(self._rows, self._body.features)


class VectorOutputs:
    """Stored outputs of hidden layers over vectors."""

    def __init__(self, body: VectorBody, rows: int) -> None:
        self._body = body
        self._layers = [layer for layer in body.layers if isinstance(layer, nn.Linear)]
        self._outputs = [layer.weight.new_empty(rows, layer.out_features) for layer in self._layers]
        self.features = self._outputs[-1]
        saturates = body.activation == "tanh"
        self._activate, self._through = (torch.tanh, through_tanh) if saturates else (torch.relu, through_rectifier)

    def forget_weights(self) -> None:
        """Do nothing: no weights are cached."""

    def keep(self, readings: Tensor, rows: slice) -> Tensor:
        """Keep the outputs for some states in these rows, and return the features."""
        x: Tensor = self._body.filter(readings)
        for layer, kept in zip(self._layers, self._outputs, strict=True):
            x = kept[rows].copy_(self._activate(layer.forward(x)))
        return x

    def input_means(self, readings: Tensor, rows: slice) -> list[Tensor]:
        """Return the mean of each layer's inputs over these rows."""
        return [x.mean(0) for x in self._inputs(readings, rows)]

    def write_gradients(self, into: list[Tensor], readings: Tensor, gradient: Tensor) -> None:
        """Write the gradients of the parameters, in their order, given that of the features of the first states."""
        rows = slice(len(readings))
        inputs = self._inputs(readings, rows)
        for i, layer in reversed(list(enumerate(self._layers))):
            gradient = self._through(gradient, self._outputs[i][rows])
            write_linear_gradients(into[2 * i], into[2 * i + 1], gradient, inputs[i])
            if i > 0:
                gradient = gradient @ layer.weight

    def _inputs(self, readings: Tensor, rows: slice) -> list[Tensor]:
        return [self._body.filter(readings[rows]), *(x[rows] for x in self._outputs[:-1])]


class Tape:
    """Outputs of a body's layers, one row for each of at most `rows` states. Several threads may act concurrently."""

    def __init__(self, body: Body, rows: int, side_by_side: SideBySide = ALONE) -> None:
        self.body = body
        self._outputs = (
            PixelOutputs(body, rows, side_by_side) if isinstance(body, PixelBody) else VectorOutputs(body, rows)
        )
        self._side_by_side = side_by_side
        self._parameters = list(body.parameters())
        self.rewind()

    def rewind(self) -> None:
        """Clear the tape, because the weights have changed."""
        self._kept: list[slice] = []
        self._next = 0
        self._outputs.forget_weights()

    @torch.no_grad()
    def act(self, states: Tensor, rows: slice | None = None) -> Tensor:
        """Return the features of some states, and store every layer's output in these rows, by default the next."""
        if rows is None:
            rows = slice(self._next, self._next + len(states))
            self._next = rows.stop
        self.mark(rows)
        return self.keep(states, rows)

    def mark(self, rows: slice) -> None:
        """Mark these rows as stored."""
        self._kept.append(rows)

    @torch.no_grad()
    def keep(self, states: Tensor, rows: slice) -> Tensor:
        """Return the features of some states, and store every layer's output in these rows without marking them."""
        return self._outputs.keep(states, rows)

    def replay(self, states: Tensor) -> Tensor:
        """Rewind, act in all these states concurrently, and return their features attached to autograd.

        Methods that learn several times from one rollout call it for each minibatch.
        """
        self.rewind()
        self._side_by_side(lambda rows: self.keep(states[rows], rows), len(states))
        self.mark(slice(0, len(states)))
        return self.features(states)

    def recall(self) -> Tensor:
        """Return the stored features of all states since the last `rewind`."""
        return self._outputs.features[: self._filled].detach()

    def input_means(self, states: Tensor) -> list[Tensor]:
        """Return the mean of each layer's inputs over all stored states, per channel. For pixels it is one number."""

        @torch.no_grad()  # applies only to the thread that enters it
        def weighted(rows: slice) -> list[Tensor]:
            share = (rows.stop - rows.start) / self._filled
            return [mean * share for mean in self._outputs.input_means(states, rows)]

        return [torch.stack(parts).sum(0) for parts in zip(*self._side_by_side(weighted, self._filled), strict=True)]

    def features(self, states: Tensor) -> Tensor:
        """Return the stored features attached to autograd, which can then compute the body's gradients."""
        if self._filled != len(states):
            raise ValueError(f"the tape stores {self._filled} states, but {len(states)} were given")
        return cast(Tensor, _Recalled.apply(self, states, *self._parameters))  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def backward(self, states: Tensor, gradient: Tensor) -> None:
        """Write the gradients of the body's parameters into their buffers, given the gradient of the features."""
        self._outputs.write_gradients([gradient_of(each) for each in self._parameters], states, gradient)

    @torch.no_grad()
    def gradients(self, states: Tensor, gradient: Tensor) -> list[Tensor]:
        """Return the gradients of the body's parameters, in their order, given the gradient of the features."""
        written = [torch.empty_like(parameter) for parameter in self._parameters]
        self._outputs.write_gradients(written, states, gradient)
        return written

    @property
    def _filled(self) -> int:
        return sum(rows.stop - rows.start for rows in self._kept)


class _Recalled(torch.autograd.Function):
    """Autograd function for stored features. Its backward pass takes the body's gradients from the tape."""

    @staticmethod
    def forward(ctx: Any, tape: Tape, states: Tensor, *_: Tensor) -> Tensor:
        ctx.tape, ctx.states = tape, states
        return tape.recall()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *ctx.tape.gradients(ctx.states, gradient)
