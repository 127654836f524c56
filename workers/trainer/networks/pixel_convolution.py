"""The first layer of the papers' networks, which reads frames as emulators write them."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from workers.trainer.networks.gradients import parameter_gradients, weight_gradients


class PixelConvolution(nn.Conv2d):
    """A convolution that scales pixel values 0–255 to 0–1.

    A CPU's kernels read channels last, but converting four frames to that layout takes as long as the layer itself.
    With stride 4, a row of 84 pixels can be read as 21 columns of 4 channels, and the frames as the depth of a volume.
    A 3D convolution over the unchanged memory then computes the same sum of products.
    """

    def forward(self, pixels: Tensor) -> Tensor:
        return self.convolve(pixels, self.kernel(pixels))

    def kernel(self, pixels: Tensor) -> Tensor:
        """Return the weights in the layout that such pixels need; valid until the weights change."""
        # Folding 1/255 into the weights spares a pass over the pixels, which bfloat16 holds exactly as 0–255.
        weight = self.weight / 255
        return self._columns(weight) if self._reads_columns(pixels) else weight

    def convolve(self, pixels: Tensor, kernel: Tensor) -> Tensor:
        """Apply the layer with a result of `kernel`."""
        if kernel.dim() == 4:
            return F.conv2d(pixels, kernel, self.bias, self.stride)
        return F.conv3d(self._columns(pixels), kernel, self.bias, self._column_stride).squeeze(2)

    def gradients(self, output_gradient: Tensor, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients of weight and bias; pixels need none."""
        # In float32 the kernel for frames as they lie takes eight times as long; in bfloat16 it is as fast as this.
        if pixels.dtype is torch.float32 and self._reads_columns(pixels):
            weight, bias = weight_gradients(
                self._columns(self.weight), self._column_stride, output_gradient.unsqueeze(2), self._columns(pixels)
            )
            weight = weight.permute(0, 2, 3, 4, 1).reshape(self.weight.shape)  # from columns to rows of pixels
        else:
            weight, bias = parameter_gradients(self, output_gradient, pixels)
        return weight / 255, bias

    @property
    def _column_stride(self) -> tuple[int, int, int]:
        return (1, self.stride[0], 1)

    def _reads_columns(self, pixels: Tensor) -> bool:
        stride = self.stride[0]
        fits = stride > 1 and pixels.shape[-1] % stride == 0 and self.kernel_size[0] % stride == 0
        # In float32, torch has no fast 3D kernel for a single state.
        fast = pixels.dtype is torch.bfloat16 or (pixels.dtype is torch.float32 and len(pixels) > 1)
        return fits and fast and pixels.device.type == "cpu" and pixels.is_contiguous()

    def _columns(self, frames: Tensor) -> Tensor:
        """View (n, frames, height, width) as (n, pixels of a column, frames, height, columns) without copying."""
        stride = self.stride[0]
        number, depth, height, width = frames.shape
        return frames.view(number, depth, height, width // stride, stride).permute(0, 4, 1, 2, 3)
