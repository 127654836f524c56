"""The number format that bodies compute in."""

import pytest
import torch

from workers.contract.config import A3cConfig, PaacConfig, TrainingConfig
from workers.trainer.networks import precision
from workers.trainer.networks.precision import body_dtype


@pytest.mark.parametrize(
    ("config", "native", "dtype"),
    [
        (PaacConfig(), True, torch.bfloat16),
        (PaacConfig(), False, torch.float32),
        (PaacConfig(precision="float32"), True, torch.float32),
        (PaacConfig(precision="bfloat16"), False, torch.bfloat16),
        (PaacConfig(env="CartPole-v1"), True, torch.float32),
        (A3cConfig(), True, torch.float32),
        (A3cConfig(precision="bfloat16"), False, torch.bfloat16),
    ],
)
def test_auto_takes_bfloat16_where_it_pays(
    monkeypatch: pytest.MonkeyPatch, config: TrainingConfig, native: bool, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(precision, "native_bfloat16", lambda _device: native)
    assert body_dtype(config, torch.device("cpu")) is dtype
