"""Environment variables that affect training or its speed."""

from __future__ import annotations

import re
from collections.abc import Mapping

PREFIXES = (
    "ARCADIA_",
    "CUBLAS_",
    "CUDA_",
    "CUDNN_",
    "GOMP_",
    "KMP_",
    "MALLOC_",
    "MKL_",
    "MUJOCO_",
    "NCCL_",
    "NVIDIA_",
    "OMP_",
    "ONEDNN_",
    "OPENBLAS_",
    "PYTORCH_",
    "RAY_",
    "TORCH_",
)
NAMES = ("LD_PRELOAD", "PYTHONHASHSEED", "PYTHONPATH", "SDL_VIDEODRIVER")
# NVIDIA's images list the drivers that they accept in a kilobyte.
IGNORED = ("NVIDIA_REQUIRE_CUDA",)
# A variable with one of these words in its name may hold a secret.
SECRET_WORDS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "KEY", "BROKER", "DATABASE", "REDIS", "AUTH")
MAX_LENGTH = 1_000

_ACCOUNT = re.compile(r"(?<=://)[^/@\s]*@")


def relevant_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that affect training, without secrets. Accounts are removed from addresses."""
    return {
        name: _ACCOUNT.sub("", value)[:MAX_LENGTH]
        for name, value in sorted(environment.items())
        if (name.startswith(PREFIXES) or name in NAMES) and name not in IGNORED and not _may_be_secret(name)
    }


def _may_be_secret(name: str) -> bool:
    return any(word in name.upper() for word in SECRET_WORDS)
