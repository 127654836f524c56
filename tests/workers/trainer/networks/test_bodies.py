"""The bodies of the papers' networks."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from workers.trainer.networks.bodies import ARCHITECTURES, PixelBody


def body_of(streams: int) -> PixelBody:
    torch.manual_seed(1)
    return PixelBody((4, 84, 84), *ARCHITECTURES["nips"], streams)


def plain(body: PixelBody, pixels: Tensor) -> Tensor:
    """Compute the body's features layer by layer."""
    x = pixels
    for layer in body.layers:
        x = F.relu(layer(x))
    return F.relu(body.hidden(x.flatten(1)))


@pytest.mark.parametrize(("streams", "share"), [(1, 1.0), (2, 2**-0.5)])
def test_convolutions_get_a_share_of_the_gradients_of_several_streams(streams: int, share: float) -> None:
    body = body_of(streams)
    pixels = torch.randint(0, 256, (3, 4, 84, 84)).float()
    features = body(pixels)
    assert features.shape == (3, streams * 256)
    torch.testing.assert_close(features, plain(body, pixels))
    found = torch.autograd.grad(features.square().sum(), list(body.parameters()))
    literal = torch.autograd.grad(plain(body, pixels).square().sum(), list(body.parameters()))
    for (name, _), gradient, expected in zip(body.named_parameters(), found, literal, strict=True):
        factor = share if name.startswith("convolutions") else 1.0
        torch.testing.assert_close(gradient, expected * factor, rtol=1e-3, atol=1e-3 * float(expected.abs().max()))


def test_streams_work_without_gradients() -> None:
    with torch.no_grad():
        assert body_of(streams=2)(torch.zeros(1, 4, 84, 84)).shape == (1, 512)
