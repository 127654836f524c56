"""Tests of the first layer, which reads frames directly or arranged in blocks, against a plain convolution."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from arcadia_workers.trainer.networks.bodies import PixelConvolution

SIDE = 84


def frames(number: int, channels: int) -> Tensor:
    return torch.randint(0, 256, (number, channels, SIDE, SIDE), dtype=torch.uint8)


@pytest.mark.parametrize("arranged", [True, False], ids=["arranged", "as they are"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize(("channels", "stride"), [(4, 4), (3, 4), (4, 2), (4, 3), (4, 1)])
def test_pixels_are_scaled_to_0_to_1_at_every_stride_and_format(
    channels: int, stride: int, dtype: torch.dtype, arranged: bool
) -> None:
    torch.manual_seed(1)
    layer = PixelConvolution(channels, 6, 8, stride).to(dtype)
    seen = frames(3, channels)
    weight, bias = (p.detach().double().requires_grad_() for p in (layer.weight, layer.bias) if p is not None)
    expected = F.conv2d(seen.double() / 255, weight, bias, stride)
    gradient = torch.randn_like(expected)
    wanted = torch.autograd.grad(expected, [weight, bias], gradient)

    pixels = (layer.arrange(seen) if arranged else seen).to(dtype)
    output = layer(pixels)
    by_autograd = torch.autograd.grad(output, list(layer.parameters()), gradient.to(dtype))
    by_hand = layer.gradients(gradient.to(dtype), pixels)

    near = 1e-5 if dtype is torch.float32 else 0.01
    assert (output - expected).norm() <= near * expected.norm()
    for theirs, ours in zip(wanted * 2, by_autograd + by_hand, strict=True):
        assert ours.shape == theirs.shape
        assert (ours - theirs).norm() <= near * theirs.norm()
    assert sorted(layer.newest(pixels).flatten().tolist()) == sorted(seen[:, -1].flatten().tolist())


@pytest.mark.parametrize(("channels", "stride"), [(4, 4), (3, 4), (4, 2)])
def test_blocks_have_their_pixels_frame_by_frame_and_row_by_row(channels: int, stride: int) -> None:
    seen = frames(2, channels)
    blocks = PixelConvolution(channels, 6, 8, stride).arrange(seen)
    assert blocks.is_contiguous(memory_format=torch.channels_last)
    for frame in range(channels):
        for row in range(stride):
            for column in range(stride):
                ours = blocks[:, (frame * stride + row) * stride + column]
                assert torch.equal(ours, seen[:, frame, row::stride, column::stride])


@pytest.mark.parametrize(("number", "stride"), [(1, 4), (2, 3), (2, 1)])
def test_single_states_and_frames_that_do_not_divide_into_blocks_are_unchanged(number: int, stride: int) -> None:
    seen = frames(number, 4)
    assert torch.equal(PixelConvolution(4, 6, 8, stride).arrange(seen), seen)


def test_channels_last_pixels_give_the_same_output() -> None:
    torch.manual_seed(1)
    layer = PixelConvolution(4, 16, 8, 4).to(torch.bfloat16)
    pixels = frames(3, 4).to(torch.bfloat16)
    last = pixels.contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(layer(last), layer(pixels), rtol=0.02, atol=0.01)
