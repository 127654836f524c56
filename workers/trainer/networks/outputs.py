"""Stored outputs of a body's layers, one row per state, and the gradients computed from them."""

import threading
from typing import cast

import torch
from torch import Tensor, nn

from workers.trainer.networks.bodies import PixelBody, VectorBody
from workers.trainer.networks.gradients import (
    input_gradient,
    layout,
    parameter_gradients,
    through_rectifier,
    through_tanh,
    write_linear_gradients,
)
from workers.trainer.networks.pixel_convolution import PixelConvolution
from workers.trainer.networks.side_by_side import SideBySide


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
        found: list[Tensor] = []
        for layer, x in zip(reversed(self._rest), reversed(read), strict=True):
            found = [*parameter_gradients(layer, gradient, x), *found]
            gradient = through_rectifier(input_gradient(layer, gradient, x), x)
        return [*self._first.gradients(gradient, pixels[rows]), *found]

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
