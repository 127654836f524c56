"""The first layer, which reads frames without converting their layout, against a plain convolution."""

import pytest
import torch
import torch.nn.functional as F

from workers.trainer.networks.pixel_convolution import PixelConvolution


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize(("channels", "stride"), [(4, 4), (3, 4), (4, 2), (4, 3), (4, 1)])
def test_pixels_are_scaled_to_0_to_1_at_every_stride_and_format(channels: int, stride: int, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    layer = PixelConvolution(channels, 6, 8, stride).to(dtype)
    pixels = torch.randint(0, 256, (3, channels, 84, 84)).to(dtype)
    weight, bias = (p.detach().double().requires_grad_() for p in (layer.weight, layer.bias) if p is not None)
    expected = F.conv2d(pixels.double() / 255, weight, bias, stride)
    gradient = torch.randn_like(expected)
    wanted = torch.autograd.grad(expected, [weight, bias], gradient)

    output = layer(pixels)
    by_autograd = torch.autograd.grad(output, list(layer.parameters()), gradient.to(dtype))
    by_hand = layer.gradients(gradient.to(dtype), pixels)

    near = 1e-5 if dtype is torch.float32 else 0.01
    assert (output - expected).norm() <= near * expected.norm()
    for theirs, ours in zip(wanted * 2, by_autograd + by_hand, strict=True):
        assert ours.shape == theirs.shape
        assert (ours - theirs).norm() <= near * theirs.norm()


def test_channels_last_pixels_give_the_same_output() -> None:
    torch.manual_seed(1)
    layer = PixelConvolution(4, 16, 8, 4).to(torch.bfloat16)
    pixels = torch.randint(0, 256, (3, 4, 84, 84)).to(torch.bfloat16)
    last = pixels.contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(layer(last), layer(pixels), rtol=0.02, atol=0.01)
