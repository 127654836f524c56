"""The number format that the network's body computes in."""

from pathlib import Path

import torch

from workers.contract.config import TrainingConfig


def native_bfloat16(device: torch.device) -> bool:
    """Say whether the device multiplies bfloat16 in hardware; emulation would be slower than float32."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    cpuinfo = Path("/proc/cpuinfo")
    return cpuinfo.exists() and "avx512_bf16" in cpuinfo.read_text()


def body_dtype(config: TrainingConfig, device: torch.device) -> torch.dtype:
    """Resolve `precision`; on vectors, bfloat16 would cost accuracy and save little time."""
    if config.precision == "bfloat16":
        return torch.bfloat16
    pays = config.environment.shows_pixels and config.auto_bfloat16
    if config.precision == "auto" and pays and native_bfloat16(device):
        return torch.bfloat16
    return torch.float32
