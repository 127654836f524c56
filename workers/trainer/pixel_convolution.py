"""The first layer of the papers' networks, which reads frames as emulators write them."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class PixelConvolution(nn.Conv2d):
    """A convolution over pixel values 0–255 that counts them as 0–1.

    The bfloat16 kernels of a CPU read channels last, but sorting four frames that way takes as long as the layer. A
    row of 84 pixels is as well 21 columns of 4 channels, 4 being the stride; the frames are then the depth of a
    volume. That is the same sum of products, as a 3D convolution over the memory as it lies.
    """

    def forward(self, pixels: Tensor) -> Tensor:
        return self.convolve(pixels, self.kernel(pixels))

    def kernel(self, pixels: Tensor) -> Tensor:
        """The weights as such pixels need them; they serve until the weights change."""
        # Folding 1/255 into the weights spares a pass over the pixels, which bfloat16 holds exactly as 0–255.
        weight = self.weight / 255
        return self._columns(weight) if self._reads_columns(pixels) else weight

    def convolve(self, pixels: Tensor, kernel: Tensor) -> Tensor:
        """Apply the layer with a kernel made for such pixels."""
        if kernel.dim() == 4:
            return F.conv2d(pixels, kernel, self.bias, self.stride)
        return F.conv3d(self._columns(pixels), kernel, self.bias, (1, self.stride[0], 1)).squeeze(2)

    def gradients(self, output_gradient: Tensor, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Of weight and bias; pixels need none."""
        weight, bias = parameter_gradients(self, output_gradient, pixels)
        return weight / 255, bias

    def _reads_columns(self, pixels: Tensor) -> bool:
        stride = self.stride[0]
        fits = stride > 1 and pixels.shape[-1] % stride == 0 and self.kernel_size[0] % stride == 0
        return fits and pixels.dtype is torch.bfloat16 and pixels.device.type == "cpu" and pixels.is_contiguous()

    def _columns(self, frames: Tensor) -> Tensor:
        """(n, frames, height, width) as (n, pixels of a column, frames, height, columns), nothing moved."""
        stride = self.stride[0]
        number, depth, height, width = frames.shape
        return frames.view(number, depth, height, width // stride, stride).permute(0, 4, 1, 2, 3)


def parameter_gradients(layer: nn.Conv2d, output_gradient: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Of weight and bias of a convolution without padding."""
    _, of_weight, of_bias = _gradients(layer, output_gradient, x, [False, True, True])
    return of_weight, of_bias


def input_gradient(layer: nn.Conv2d, output_gradient: Tensor, x: Tensor) -> Tensor:
    """Of the input of a convolution without padding.

    Where the kernel is twice as wide as the stride, a block of stride × stride places counts as one place with so
    many times the channels: over blocks, the kernel is 2 × 2 and the stride 1, for which the sums take half the time.
    """
    (number, channels, height, width), side = x.shape, layer.stride[0]
    if layer.kernel_size[0] != 2 * side or width % side or layout(x) is not torch.channels_last:
        return _gradients(layer, output_gradient, x, [True, False, False])[0]
    kernel = layer.weight.view(-1, channels, 2, side, 2, side).permute(0, 3, 5, 1, 2, 4).flatten(1, 3)
    blocks = F.conv_transpose2d(output_gradient, kernel.contiguous(memory_format=torch.channels_last))
    places = blocks.permute(0, 2, 3, 1).view(number, height // side, width // side, side, side, channels)
    return places.transpose(2, 3).reshape(number, height, width, channels).permute(0, 3, 1, 2)


def layout(x: Tensor) -> torch.memory_format:
    """Say in which order a batch of maps lies."""
    last = x.is_contiguous(memory_format=torch.channels_last)
    return torch.channels_last if last else torch.contiguous_format


def _gradients(
    layer: nn.Conv2d, output_gradient: Tensor, x: Tensor, wanted: list[bool]
) -> tuple[Tensor, Tensor, Tensor]:
    # The kernels take one layout for all: if that of the weights were another, the input would be sorted anew.
    weight = layer.weight.contiguous(memory_format=layout(x))
    found: tuple[Tensor, Tensor, Tensor] = torch.ops.aten.convolution_backward(
        output_gradient, x, weight, [layer.out_channels], layer.stride, [0, 0], [1, 1], False, [0, 0], 1, wanted
    )
    return found
