"""Meters of a trainer's host: processor, memory, disks, networks, and one GPU by NVIDIA's library (NVML)."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
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


BLOCK_DEVICES = Path("/sys/block")
LOOPBACKS = ("lo", "lo0")

Counters = dict[str, int]


class TrafficMeter:
    """Bytes per second of the whole host between two samples."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._time, self._counters = clock(), count_bytes()

    def sample(self) -> dict[str, float]:
        """Return the mean rates since the last sample."""
        now, counters = self._clock(), count_bytes()
        before, seconds = self._counters, now - self._time
        if seconds <= 0:
            return {}
        self._time, self._counters = now, counters
        # A counter falls when its disk or network is removed.
        return {name: max(0, count - before[name]) / seconds for name, count in counters.items() if name in before}


def count_bytes() -> Counters:
    """Return the bytes moved since the host started, by metric. A host without disks reports none for them."""
    counters: Counters = {}
    if disks := _physical_disks():
        counters["system/disk_read_bytes_per_second"] = sum(read for read, _written in disks)
        counters["system/disk_written_bytes_per_second"] = sum(written for _read, written in disks)
    networks = [counts for name, counts in psutil.net_io_counters(pernic=True).items() if name not in LOOPBACKS]
    if networks:
        counters["system/network_received_bytes_per_second"] = sum(network.bytes_recv for network in networks)
        counters["system/network_sent_bytes_per_second"] = sum(network.bytes_sent for network in networks)
    return counters


def _physical_disks() -> list[tuple[int, int]]:
    """Return the bytes read and written by disks. RAID and LVM volumes would count the same bytes again."""
    try:
        disks = psutil.disk_io_counters(perdisk=True)
    except NotImplementedError:  # a sandbox that hides the disks
        return []
    names = [name for name in disks if not BLOCK_DEVICES.exists() or (BLOCK_DEVICES / name / "device").exists()]
    return [(disks[name].read_bytes, disks[name].write_bytes) for name in names]


SYSTEM_SECONDS = 2.0


class SystemMeter:
    """Use of the hardware by this process and its children, sampled rarely because sampling is slow.

    The GPU, the disks and the networks are measured as a whole, with what other programs do.
    """

    def __init__(self, device: torch.device) -> None:
        self._process = psutil.Process(os.getpid())
        self._family: dict[int, psutil.Process] = {}
        self._gpu, self._traffic = GpuMeter(device), TrafficMeter()
        self._next = 0.0
        self._uses()  # the first value of a process is always 0 percent

    def sample(self) -> dict[str, float]:
        """Return the metrics, or nothing if the last sample is still fresh."""
        now = time.monotonic()
        if now < self._next:
            return {}
        self._next = now + SYSTEM_SECONDS
        percents, sizes = zip(*self._uses(), strict=True)
        used = {"system/cpu_percent": sum(percents), "system/rss_bytes": float(sum(sizes))}
        return {**used, **self._gpu.sample(), **self._traffic.sample()}

    def _uses(self) -> list[tuple[float, int]]:
        """Return the CPU percent and the bytes of each of the run's processes."""
        children = {child.pid: child for child in self._process.children(recursive=True)}
        self._family = {pid: self._family.get(pid, child) for pid, child in children.items()}
        uses = [(self._process.cpu_percent(), resident_bytes(self._process))]
        for child in self._family.values():
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended
                uses.append((child.cpu_percent(), resident_bytes(child)))
        return uses


def resident_bytes(process: psutil.Process) -> int:
    """Return the memory of a process. Shared pages count in equal parts where the system reports them."""
    memory = process.memory_full_info()
    return int(getattr(memory, "pss", memory.rss))
