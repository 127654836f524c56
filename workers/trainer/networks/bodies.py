"""The papers' network bodies: from observations to features."""

from itertools import pairwise
from typing import Protocol, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from workers.contract.config import Activation, TrainingConfig
from workers.contract.networks import ARCHITECTURES, NETWORKS, Convolutions
from workers.contract.plugins.references import resolve
from workers.trainer.networks.pixel_convolution import PixelConvolution


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
