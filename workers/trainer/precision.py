"""Which number format the network's body computes in."""

from pathlib import Path

import torch

from workers.trainer.config import A3cConfig, RunConfig


def native_bfloat16(device: torch.device) -> bool:
    """Say whether the device multiplies bfloat16 in hardware; emulation would be slower than float32."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    cpuinfo = Path("/proc/cpuinfo")
    return cpuinfo.exists() and "avx512_bf16" in cpuinfo.read_text()


def body_dtype(config: RunConfig, device: torch.device) -> torch.dtype:
    """Resolve `precision`.

    Vectors are so small that bfloat16 would only cost accuracy, and so is the one state at a time that A3C looks at.
    """
    if config.precision == "bfloat16":
        return torch.bfloat16
    large = config.environment.shows_pixels and not isinstance(config, A3cConfig)
    if config.precision == "auto" and large and native_bfloat16(device):
        return torch.bfloat16
    return torch.float32
