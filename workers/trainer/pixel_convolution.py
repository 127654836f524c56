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
        # Folding 1/255 into the weights spares a pass over the pixels, which bfloat16 holds exactly as 0–255.
        weight = self.weight / 255
        if not self._reads_columns(pixels):
            return F.conv2d(pixels, weight, self.bias, self.stride)
        return F.conv3d(self._columns(pixels), self._columns(weight), self.bias, self._step).squeeze(2)

    def gradients(self, output_gradient: Tensor, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Of weight and bias; pixels need none."""
        if not self._reads_columns(pixels):
            _, weight, bias = convolution_gradients(self, output_gradient, pixels, self.weight, self.stride, False)
            return weight / 255, bias
        columns, output_gradient = self._columns(pixels), output_gradient.unsqueeze(2)
        _, weight, bias = convolution_gradients(
            self, output_gradient, columns, self._columns(self.weight), self._step, False
        )
        return weight.permute(0, 2, 3, 4, 1).reshape_as(self.weight) / 255, bias

    @property
    def _step(self) -> tuple[int, ...]:
        return (1, self.stride[0], 1)

    def _reads_columns(self, pixels: Tensor) -> bool:
        stride = self.stride[0]
        fits = stride > 1 and pixels.shape[-1] % stride == 0 and self.kernel_size[0] % stride == 0
        return fits and pixels.dtype is torch.bfloat16 and pixels.device.type == "cpu" and pixels.is_contiguous()

    def _columns(self, frames: Tensor) -> Tensor:
        """(n, frames, height, width) as (n, pixels of a column, frames, height, columns), nothing moved."""
        stride = self.stride[0]
        number, depth, height, width = frames.shape
        return frames.view(number, depth, height, width // stride, stride).permute(0, 4, 1, 2, 3)


def convolution_gradients(
    layer: nn.Conv2d, output_gradient: Tensor, x: Tensor, weight: Tensor, stride: tuple[int, ...], of_input: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Of input (if wanted), weight and bias of a convolution without padding."""
    none, dilation = [0] * len(stride), [1] * len(stride)
    wanted = [of_input, True, True]
    found: tuple[Tensor, Tensor, Tensor] = torch.ops.aten.convolution_backward(
        output_gradient, x, weight, [layer.out_channels], stride, none, dilation, False, none, 1, wanted
    )
    return found
