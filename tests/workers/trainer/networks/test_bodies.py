"""Tests for the bodies of the papers' networks."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from arcadia_workers.contract.games import ARCHITECTURES
from arcadia_workers.trainer.networks.bodies import PixelBody, ReadingsFilter, VectorBody
from arcadia_workers.trainer.networks.outputs import Tape


def body_of(streams: int) -> PixelBody:
    torch.manual_seed(1)
    return PixelBody((4, 84, 84), *ARCHITECTURES["nips"], streams)


def plain(body: PixelBody, pixels: Tensor) -> Tensor:
    """Return the body's features, computed layer by layer."""
    x = pixels
    for layer in body.layers:
        x = F.relu(layer(x))
    return F.relu(body.hidden(x.flatten(1)))


@pytest.mark.parametrize(("streams", "share"), [(1, 1.0), (2, 2**-0.5)])
def test_gradients_of_several_streams_are_scaled_for_the_convolutions(streams: int, share: float) -> None:
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


def test_a_filter_has_the_mean_and_variance_of_all_observed_readings() -> None:
    torch.manual_seed(0)
    batches = [torch.randn(rows, 3) * 4 + 2 for rows in (5, 1, 40)]
    readings_filter = ReadingsFilter((3,), limit=5)
    for batch in batches:
        readings_filter.see(batch)

    seen = torch.cat(batches)
    torch.testing.assert_close(readings_filter.mean, seen.mean(0))
    torch.testing.assert_close(readings_filter.variance, seen.var(0, correction=0))
    expected = (seen - seen.mean(0)) / seen.std(0, correction=0)
    torch.testing.assert_close(readings_filter(seen), expected.clamp(-5, 5), rtol=1e-4, atol=1e-5)
    assert readings_filter(torch.full((1, 3), 1e6)).tolist() == [[5.0] * 3]


def test_a_filtered_body_uses_filtered_readings_with_and_without_a_tape() -> None:
    torch.manual_seed(0)
    readings_filter = ReadingsFilter((3,), limit=5)
    readings = torch.randn(8, 3) * 4 + 2
    readings_filter.see(readings)
    body = VectorBody((3,), 8, activation="relu")
    body.filter = readings_filter
    plain = VectorBody((3,), 8, activation="relu")
    plain.layers.load_state_dict(body.layers.state_dict())
    filtered, gradient = readings_filter(readings), torch.randn(8, 8)

    tape = Tape(body, 8)
    torch.testing.assert_close(tape.act(readings), plain(filtered))
    torch.testing.assert_close(body(readings), plain(filtered))
    torch.testing.assert_close(body.rectified(readings), plain.rectified(filtered))
    wanted = torch.autograd.grad(plain(filtered), list(plain.parameters()), gradient)
    torch.testing.assert_close(tape.gradients(readings, gradient), list(wanted))
