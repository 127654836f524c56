"""Hand-written gradients of layers, which are written into the optimizer's buffers.

For the few states of a rollout, autograd costs more than the arithmetic, and its results would need a copy.
"""

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def write_linear(layer: nn.Linear, gradient: Tensor, x: Tensor) -> None:
    """Write the gradients of a layer into their buffers, given its input x and the gradient of its output."""
    write_linear_gradients(gradient_of(layer.weight), gradient_of(layer.bias), gradient, x)


def write_linear_gradients(of_weight: Tensor, of_bias: Tensor, gradient: Tensor, x: Tensor) -> None:
    """Write the gradients of a linear layer's weight and bias, given its input x and the gradient of its output."""
    if of_weight.dtype is x.dtype:
        torch.mm(gradient.t(), x, out=of_weight)
    else:
        of_weight.copy_(gradient.t() @ x)
    torch.sum(gradient, 0, dtype=of_bias.dtype, out=of_bias)


def gradient_of(parameter: Tensor | None) -> Tensor:
    """Return the buffer of a parameter's gradient."""
    if parameter is None or parameter.grad is None:
        raise ValueError("the parameter has no gradient buffer: wrap its module in FlatParameters first")
    return parameter.grad


def through_rectifier(gradient: Tensor, output: Tensor) -> Tensor:
    """Return the gradient of a rectifier's input, given its output and the output's gradient."""
    return cast(Tensor, torch.ops.aten.threshold_backward(gradient, output, 0))


def through_tanh(gradient: Tensor, output: Tensor) -> Tensor:
    """Return the gradient of tanh's input, given its output and the output's gradient."""
    return cast(Tensor, torch.ops.aten.tanh_backward(gradient, output))


def parameter_gradients(layer: nn.Conv2d, output_gradient: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of weight and bias of a convolution without padding."""
    return _gradients(layer, output_gradient, x, [False, True, True])[1:]


def input_gradient(layer: nn.Conv2d, output_gradient: Tensor, x: Tensor) -> Tensor:
    """Return the gradient of the input of a convolution without padding.

    Where the kernel is twice as wide as the stride, a block of stride × stride places is treated as one place with
    stride² times the channels. Over blocks, the kernel is 2 × 2 and the stride 1, which takes half the time.
    """
    (number, channels, height, width), side = x.shape, layer.stride[0]
    if layer.kernel_size[0] != 2 * side or width % side or layout(x) is not torch.channels_last:
        return _gradients(layer, output_gradient, x, [True, False, False])[0]
    kernel = layer.weight.view(-1, channels, 2, side, 2, side).permute(0, 3, 5, 1, 2, 4).flatten(1, 3)
    blocks = F.conv_transpose2d(output_gradient, kernel.contiguous(memory_format=torch.channels_last))
    places = blocks.permute(0, 2, 3, 1).view(number, height // side, width // side, side, side, channels)
    return places.transpose(2, 3).reshape(number, height, width, channels).permute(0, 3, 1, 2)


def layout(x: Tensor) -> torch.memory_format:
    """Return the memory layout of a batch of maps."""
    last = x.is_contiguous(memory_format=torch.channels_last)
    return torch.channels_last if last else torch.contiguous_format


def weight_gradients(
    weight: Tensor, stride: tuple[int, ...], output_gradient: Tensor, x: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of weight and bias of a convolution of any dimensions without padding."""
    return _convolution_backward(weight, stride, output_gradient, x, [False, True, True])[1:]


def _gradients(
    layer: nn.Conv2d, output_gradient: Tensor, x: Tensor, wanted: list[bool]
) -> tuple[Tensor, Tensor, Tensor]:
    # The kernels want one layout for all operands; weights in another layout would make torch convert the input.
    weight = layer.weight.contiguous(memory_format=layout(x))
    return _convolution_backward(weight, layer.stride, output_gradient, x, wanted)


def _convolution_backward(
    weight: Tensor, stride: tuple[int, ...], output_gradient: Tensor, x: Tensor, wanted: list[bool]
) -> tuple[Tensor, Tensor, Tensor]:
    zeros, ones = [0] * len(stride), [1] * len(stride)
    found: tuple[Tensor, Tensor, Tensor] = torch.ops.aten.convolution_backward(
        output_gradient, x, weight, [len(weight)], stride, zeros, ones, False, zeros, 1, wanted
    )
    return found
