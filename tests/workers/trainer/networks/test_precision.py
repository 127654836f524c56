"""Tests for the number format that bodies compute in."""

from pathlib import Path

import pytest
import torch

from arcadia_workers.contract.config import A3cConfig, PaacConfig, TrainingConfig
from arcadia_workers.trainer.networks import gradients
from arcadia_workers.trainer.networks.gradients import body_dtype, fast_bfloat16


@pytest.mark.parametrize(
    ("config", "native", "dtype"),
    [
        (PaacConfig(), True, torch.bfloat16),
        (PaacConfig(), False, torch.float32),
        (PaacConfig(precision="float32"), True, torch.float32),
        (PaacConfig(precision="bfloat16"), False, torch.bfloat16),
        (PaacConfig(env="CartPole-v1"), True, torch.float32),
        (PaacConfig(env="CartPole-v1", precision="bfloat16"), True, torch.float32),
        (A3cConfig(), True, torch.float32),
        (A3cConfig(precision="bfloat16"), False, torch.bfloat16),
    ],
)
def test_auto_chooses_bfloat16_if_it_is_faster(
    monkeypatch: pytest.MonkeyPatch, config: TrainingConfig, native: bool, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(gradients, "fast_bfloat16", lambda _device: native)
    assert body_dtype(config, torch.device("cpu")) is dtype


@pytest.mark.parametrize(
    ("vendor", "flags", "fast"),
    [
        ("GenuineIntel", "avx2 avx512f", False),
        ("GenuineIntel", "avx512f avx512_bf16", False),
        ("GenuineIntel", "avx512f avx512_bf16 amx_bf16 amx_tile", True),
        ("AuthenticAMD", "avx512f avx512_bf16", True),
        ("AuthenticAMD", "avx2", False),
    ],
)
def test_bfloat16_is_fast_by_tiles_and_by_amds_vectors(tmp_path: Path, vendor: str, flags: str, fast: bool) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"vendor_id\t: {vendor}\nflags\t\t: fpu {flags}\n")
    assert fast_bfloat16(torch.device("cpu"), cpuinfo) == fast


def test_a_system_that_does_not_describe_its_processor_computes_in_float32(tmp_path: Path) -> None:
    assert not fast_bfloat16(torch.device("cpu"), tmp_path / "missing")
