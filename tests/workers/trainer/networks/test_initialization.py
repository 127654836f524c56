"""Tests for orthogonal initial weights."""

import pytest
import torch

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.trainer.networks import networks


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_are_orthogonal_with_the_gain_of_their_layer(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    network = networks.build(PaacConfig(initialization="orthogonal"), (4, 84, 84), Discrete(6), dtype)
    precision = 1e-4 if dtype is torch.float32 else 0.02
    weights = network.state_dict()
    for name, gain in (("body.convolutions.0.weight", 2**0.5), ("policy.weight", 0.01)):
        rows = weights[name].float().flatten(1)
        assert torch.allclose(rows @ rows.T, gain**2 * torch.eye(len(rows)), atol=gain**2 * precision)
    assert not any(bias.any() for name, bias in weights.items() if name.endswith(".bias"))
