"""Number format of the network's body."""

from pathlib import Path

import torch

from workers.contract.config import TrainingConfig


def fast_bfloat16(device: torch.device, cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Return True if the device multiplies bfloat16 faster than float32.

    Intel CPUs do so with tiles, AMD CPUs with vector instructions. Intel's vector instruction for bfloat16 takes twice
    as long as for float32.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    words = set(cpuinfo.read_text().split()) if cpuinfo.exists() else set[str]()
    return "amx_bf16" in words or {"avx512_bf16", "AuthenticAMD"} <= words


def body_dtype(config: TrainingConfig, device: torch.device) -> torch.dtype:
    """Resolve the field `precision`, which applies to convolutions. Layers over vectors compute in float32."""
    if not config.environment.shows_pixels:
        return torch.float32
    pays = config.precision == "auto" and config.auto_bfloat16 and fast_bfloat16(device)
    return torch.bfloat16 if pays or config.precision == "bfloat16" else torch.float32
