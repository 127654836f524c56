"""The papers' network bodies: from observations to features."""

from functools import cache
from itertools import pairwise
from typing import Protocol, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from arcadia_workers.contract.config import Activation, TrainingConfig
from arcadia_workers.contract.games import ARCHITECTURES, NETWORKS, Convolutions
from arcadia_workers.contract.plugins.discovery import resolve
from arcadia_workers.trainer.networks.gradients import parameter_gradients, weight_gradients

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


class Prepare(Protocol):
    """Converts raw observations once to the input format of a body, into `out` if given."""

    def __call__(self, observations: Tensor, out: Tensor | None = None) -> Tensor: ...


class PixelBody(nn.Module):
    """Convolutions over stacked 84×84 frames, then one hidden layer. Pixels are 0–255 in any float format."""

    def __init__(
        self, observation_shape: tuple[int, ...], convolutions: Convolutions, hidden: int, streams: int = 1
    ) -> None:
        super().__init__()
        channels, side = observation_shape[0], observation_shape[1]
        layers: list[nn.Conv2d] = []
        for outputs, kernel, stride in convolutions:
            layers.append((nn.Conv2d if layers else PixelConvolution)(channels, outputs, kernel, stride))
            channels, side = outputs, (side - kernel) // stride + 1
        self.convolutions = nn.ModuleList(layers)
        self.features = streams * hidden
        self.hidden = nn.Linear(channels * side * side, self.features)
        # Scales the streams' joint gradient to the convolutions (Wang et al. 2016, section 4.2).
        self.share = streams**-0.5

    def prepare(self, observations: Tensor, out: Tensor | None = None) -> Tensor:
        """Convert bytes to the layers' input format, into `out` if given. Return prepared frames unchanged."""
        first = cast(PixelConvolution, self.layers[0])
        pixels = first.arrange(observations) if observations.dtype is torch.uint8 else observations
        if out is not None:
            return out.copy_(pixels)
        pixels = pixels.to(self.hidden.weight.dtype)
        # Converting a single state to channels last is cheap, and backpropagation through it then takes a third of
        # the time.
        on_gpu = pixels.device.type == "cuda" and pixels.dtype is torch.bfloat16
        last = on_gpu or len(pixels) == 1
        return pixels.contiguous(memory_format=torch.channels_last) if last else pixels

    def forward(self, pixels: Tensor) -> Tensor:
        x = pixels
        for layer in self.layers:
            x = F.relu_(layer(x))
        x = x.flatten(1)
        if self.share != 1 and x.requires_grad:
            x.register_hook(lambda gradients: gradients * self.share)
        return F.relu_(self.hidden(x))

    def rectified(self, pixels: Tensor) -> dict[str, Tensor]:
        """Return the output of every layer, by the layer's name."""
        outputs, x = {}, pixels
        for number, layer in enumerate(self.layers, start=1):
            x = outputs[f"convolution_{number}"] = F.relu_(layer(x))
        outputs["hidden_1"] = F.relu_(self.hidden(x.flatten(1)))
        return outputs

    @property
    def layers(self) -> list[nn.Conv2d]:
        """The convolutions in order."""
        return [cast(nn.Conv2d, layer) for layer in self.convolutions]


class ReadingsFilter(nn.Module):
    """Normalization of readings by the mean and standard deviation of all readings so far.

    It is part of the network, so that checkpoints have it. Like the weights, it does not change during a rollout.
    """

    mean: Tensor
    variance: Tensor
    count: Tensor

    def __init__(self, observation_shape: tuple[int, ...], limit: float) -> None:
        super().__init__()
        self.limit = limit
        self.register_buffer("mean", torch.zeros(observation_shape))
        self.register_buffer("variance", torch.ones(observation_shape))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, readings: Tensor) -> Tensor:
        scaled = (readings - self.mean) * (self.variance + 1e-8).rsqrt()
        return scaled.clamp_(-self.limit, self.limit)

    @torch.no_grad()
    def see(self, readings: Tensor) -> None:
        """Add a batch of readings to the mean and variance (Chan et al. 1979)."""
        total = self.count + len(readings)
        share = len(readings) / total
        distance = readings.mean(0) - self.mean
        within = torch.lerp(self.variance, readings.var(0, correction=0), share)
        self.variance.copy_(within + distance.square() * share * (1 - share))
        self.mean.add_(distance * share)
        self.count.copy_(total)


class VectorBody(nn.Module):
    """Hidden layers over a vector of readings. `filter` may be replaced by a `ReadingsFilter`."""

    def __init__(
        self, observation_shape: tuple[int, ...], hidden: int, layers: int = 2, activation: Activation = "tanh"
    ) -> None:
        super().__init__()
        self.filter: nn.Module = nn.Identity()
        widths = [observation_shape[0]] + [hidden] * layers
        self.activation = activation
        self.layers = nn.Sequential()
        for inputs, outputs in pairwise(widths):
            self.layers.extend([nn.Linear(inputs, outputs), nn.Tanh() if activation == "tanh" else nn.ReLU()])
        self.features = hidden

    def prepare(self, observations: Tensor, out: Tensor | None = None) -> Tensor:
        """Convert readings to float32, into `out` if it is given."""
        return observations.to(torch.float32) if out is None else out.copy_(observations)

    def forward(self, readings: Tensor) -> Tensor:
        return cast(Tensor, self.layers(self.filter(readings)))

    def rectified(self, readings: Tensor) -> dict[str, Tensor]:
        """Return the output of every rectified layer, by the layer's name."""
        outputs: dict[str, Tensor] = {}
        x = self.filter(readings)
        for layer in self.layers:
            x = layer(x)
            if isinstance(layer, nn.ReLU):
                outputs[f"hidden_{len(outputs) + 1}"] = x
        return outputs


Body = PixelBody | VectorBody


def build_body(config: TrainingConfig, observation_shape: tuple[int, ...], streams: int = 1) -> Body:
    """Build the run's body with fresh weights. Each stream gets a full set of hidden units."""
    reference = NETWORKS[config.resolved_network].body
    body = resolve(reference)(config, observation_shape, streams)
    if not isinstance(body, Body):
        raise TypeError(f"{reference} must return a PixelBody or a VectorBody, whose layers tapes know")
    return body


def build_mlp(config: TrainingConfig, observation_shape: tuple[int, ...], streams: int) -> VectorBody:
    """Build hidden layers over a vector."""
    return VectorBody(observation_shape, streams * config.hidden_units, config.hidden_layers, config.activation)


def build_convolutions(config: TrainingConfig, observation_shape: tuple[int, ...], streams: int) -> PixelBody:
    """Build one of the papers' convolutional bodies."""
    convolutions, hidden = ARCHITECTURES[config.resolved_network]
    return PixelBody(observation_shape, convolutions, hidden, streams)
