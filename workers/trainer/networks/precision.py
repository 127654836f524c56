"""The number format that the network's body computes in."""

from pathlib import Path

import torch

from workers.contract.config import TrainingConfig


def fast_bfloat16(device: torch.device, cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Say whether the device multiplies bfloat16 faster than float32.

    Intel's processors do so in their tiles, AMD's by their vector instruction. Intel's vector instruction takes twice
    as long as that for float32.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    words = set(cpuinfo.read_text().split()) if cpuinfo.exists() else set[str]()
    return "amx_bf16" in words or {"avx512_bf16", "AuthenticAMD"} <= words


def body_dtype(config: TrainingConfig, device: torch.device) -> torch.dtype:
    """Resolve `precision`, which is that of convolutions: readings need none, and their layers compute in float32."""
    if not config.environment.shows_pixels:
        return torch.float32
    pays = config.precision == "auto" and config.auto_bfloat16 and fast_bfloat16(device)
    return torch.bfloat16 if pays or config.precision == "bfloat16" else torch.float32
