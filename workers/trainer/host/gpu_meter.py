"""Load, memory, power and temperature of one GPU, from NVIDIA's management library (NVML)."""

from collections.abc import Callable
from typing import Any

import pynvml
import torch

# NVML reads a MIG instance under its own kind of name.
UUID_PREFIXES = ("GPU-", "MIG-")

READINGS: dict[str, Callable[[Any], float]] = {
    "system/gpu_percent": lambda gpu: pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu,
    # Version 1 adds the memory that the driver reserves, half a gigabyte on an H100, which nvidia-smi leaves out.
    "system/gpu_memory_bytes": lambda gpu: pynvml.nvmlDeviceGetMemoryInfo(gpu, version=pynvml.nvmlMemory_v2).used,
    "system/gpu_power_watts": lambda gpu: pynvml.nvmlDeviceGetPowerUsage(gpu) / 1000,
    "system/gpu_temperature": lambda gpu: pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU),
}


class GpuMeter:
    """Metrics of the GPU that a run trains on. Values that the GPU does not report are left out.

    A MIG instance, for example, reports its memory but no load, power or temperature.
    """

    def __init__(self, device: torch.device) -> None:
        self._gpu = _find_gpu(device) if device.type == "cuda" else None

    def sample(self) -> dict[str, float]:
        """Return the metrics that the GPU reports now."""
        if self._gpu is None:
            return {}
        values = {}
        for name, read in READINGS.items():
            try:
                values[name] = float(read(self._gpu))
            except pynvml.NVMLError:
                continue  # not supported, or the GPU is lost: training reports that itself
        return values


def _find_gpu(device: torch.device) -> Any | None:
    """Return NVML's handle of a CUDA device, or None without NVML.

    The UUID identifies the GPU. Its number may differ from CUDA's because of CUDA_VISIBLE_DEVICES.
    """
    uuid = torch.cuda.get_device_properties(device).uuid
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    for prefix in UUID_PREFIXES:
        try:
            return pynvml.nvmlDeviceGetHandleByUUID(f"{prefix}{uuid}")
        except pynvml.NVMLError:
            continue
    return None
