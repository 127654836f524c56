"""Hand-written gradients of layers, initial weights, precision, and threads that compute side by side.

For the few states of a rollout, autograd costs more than the arithmetic, and its results would need a copy.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise, zip_longest
from math import sqrt
from pathlib import Path
from typing import TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from arcadia_workers.contract.config import TrainingConfig


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
    gradients: tuple[Tensor, Tensor, Tensor] = torch.ops.aten.convolution_backward(
        output_gradient, x, weight, [len(weight)], stride, zeros, ones, False, zeros, 1, wanted
    )
    return gradients


Item = TypeVar("Item")
Result = TypeVar("Result")


class SideBySide:
    """Pool of threads, optionally pinned to shares of the cores. A single item runs in the caller's thread."""

    def __init__(self, threads: int, shares: Sequence[set[int] | None] = ()) -> None:
        torch_threads = torch.get_num_threads()
        self._threads = [
            ThreadPoolExecutor(1, f"side-by-side-{i}", initializer=_begin, initargs=(torch_threads, share))
            for i, share in zip_longest(range(threads), shares)
        ]

    def __call__(self, work: Callable[[slice], Result], rows: int) -> list[Result]:
        """Run the work on equal shares of rows. Return the results in the order of the rows."""
        threads = min(len(self._threads), rows)
        return self.map(work, [slice(*pair) for pair in pairwise(rows * i // threads for i in range(threads + 1))])

    def map(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Run the work on each item, always in the same thread. Return the results in order."""
        if len(items) == 1:
            return [work(items[0])]
        begun = [thread.submit(work, item) for thread, item in zip(self._threads[: len(items)], items, strict=True)]
        wait(begun)  # if one fails, all must end before the caller sees the error
        return [one.result() for one in begun]


def _begin(torch_threads: int, cores: set[int] | None) -> None:
    # Without this, torch would use every core in a new thread.
    torch.set_num_threads(torch_threads)
    if cores:
        os.sched_setaffinity(0, cores)


ALONE = SideBySide(threads=1)


Network = TypeVar("Network", bound=nn.Module)

# The heads' gains in OpenAI's A2C: the policy starts near uniform, values start near 0.
HEAD_GAINS = {"policy": 0.01, "value": 1.0, "values": 1.0, "advantages": 1.0}


def initialized(network: Network, config: TrainingConfig) -> Network:
    """Initialize a fresh network's weights as configured."""
    if config.initialization == "orthogonal":
        make_orthogonal(network)
    return network


@torch.no_grad()
def make_orthogonal(network: nn.Module) -> None:
    """Make all weights orthogonal, with gain √2 below the heads, and all biases zero."""
    for name, layer in network.named_modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            # The QR decomposition needs float32, even if the layer computes in another format.
            weight = torch.empty(layer.weight.shape)
            nn.init.orthogonal_(weight, HEAD_GAINS.get(name, sqrt(2)))
            layer.weight.copy_(weight)
            if layer.bias is not None:
                layer.bias.zero_()


def fast_bfloat16(device: torch.device, cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Return True if the device multiplies bfloat16 faster than float32.

    Intel CPUs do so with tiles, AMD CPUs with vector instructions. Intel's vector instruction for bfloat16 takes twice
    as long as for float32.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    words = set(cpuinfo.read_text().split()) if cpuinfo.exists() else set[str]()
    return "amx_bf16" in words or {"avx512_bf16", "AuthenticAMD"} <= words


def body_dtype(config: TrainingConfig, device: torch.device) -> torch.dtype:
    """Resolve the field `precision`, which applies to convolutions. Layers over vectors compute in float32."""
    if not config.environment.shows_pixels:
        return torch.float32
    pays = config.precision == "auto" and config.auto_bfloat16 and fast_bfloat16(device)
    return torch.bfloat16 if pays or config.precision == "bfloat16" else torch.float32
