"""First layer of the papers' networks, with an arrangement of frames that it reads quickly."""

from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from workers.trainer.networks.gradients import parameter_gradients, weight_gradients

# Adjacent pixels, as many as the stride, move as one word.
WORDS = {2: torch.int16, 4: torch.int32}


@cache
def _word_order(frames: int, rows: int, side: int, columns: int) -> Tensor:
    """Return each word's position in the frames: by row of blocks, then frame by frame within a block."""
    words = torch.arange(frames * rows * side * columns)
    return words.view(frames, rows, side, columns).permute(1, 3, 0, 2).reshape(1, -1)


class PixelConvolution(nn.Conv2d):
    """A convolution that scales pixel values 0–255 to 0–1.

    A CPU's kernels are slow on images of three or four channels. So where the stride divides the kernel, a block of
    stride × stride pixels of all frames becomes one place with as many channels: 84 × 84 pixels of four frames become
    21 × 21 places of 64 channels. A kernel of 2 × 2 places and stride 1 then computes the same sum of products as
    8 × 8 pixels and stride 4. `arrange` converts frames once. The layer reads unconverted frames, too.
    """

    def arrange(self, frames: Tensor) -> Tensor:
        """Reorder the bytes of frames (n, frames, height, width) to blocks, channels last, where that pays."""
        side = self.stride[0]
        number, depth, height, width = frames.shape
        fits = side in WORDS and all(length % side == 0 for length in (*self.kernel_size, height, width))
        # This gains nothing for a single state or on a GPU.
        if number == 1 or not fits or frames.device.type != "cpu":
            return frames
        rows, columns = height // side, width // side
        words = frames.contiguous().view(WORDS[side]).view(number, -1)
        # A gather takes half the time of copying a permuted view.
        blocks = words.gather(1, _word_order(depth, rows, side, columns).expand(number, -1))
        return blocks.view(torch.uint8).view(number, rows, columns, depth * side * side).permute(0, 3, 1, 2)

    def forward(self, pixels: Tensor) -> Tensor:
        return self.convolve(pixels, self.kernel(pixels))

    def kernel(self, pixels: Tensor) -> Tensor:
        """Return the weights in the layout for these pixels. It is valid until the weights change."""
        # Folding 1/255 into the weights spares a pass over the pixels, which bfloat16 holds exactly as 0–255.
        weight = self.weight / 255
        return self._blocks(weight) if self._are_blocks(pixels) else weight

    def convolve(self, pixels: Tensor, kernel: Tensor) -> Tensor:
        """Apply the layer with a result of `kernel`."""
        return F.conv2d(pixels, kernel, self.bias, 1 if self._are_blocks(pixels) else self.stride)

    def gradients(self, output_gradient: Tensor, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients of weight and bias. Pixels need none."""
        if not self._are_blocks(pixels):
            weight, bias = parameter_gradients(self, output_gradient, pixels)
            return weight / 255, bias
        weight, bias = weight_gradients(self._blocks(self.weight), (1, 1), output_gradient, pixels)
        side, blocks = self.stride[0], self.kernel_size[0] // self.stride[0]
        weight = weight.view(len(weight), self.in_channels, side, side, blocks, blocks).permute(0, 1, 4, 2, 5, 3)
        return weight.reshape(self.weight.shape) / 255, bias

    def newest(self, pixels: Tensor) -> Tensor:
        """Return the channels of the newest frame."""
        return pixels[:, -(pixels.shape[1] // self.in_channels) :]

    def _are_blocks(self, pixels: Tensor) -> bool:
        return pixels.shape[1] != self.in_channels

    def _blocks(self, weight: Tensor) -> Tensor:
        """Return weights (outputs, frames, height, width) for pixels in blocks."""
        side, blocks = self.stride[0], self.kernel_size[0] // self.stride[0]
        by_block = weight.view(len(weight), self.in_channels, blocks, side, blocks, side).permute(0, 1, 3, 5, 2, 4)
        return by_block.reshape(len(weight), -1, blocks, blocks).contiguous(memory_format=torch.channels_last)
