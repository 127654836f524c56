"""Facts about the host: operating system, processor, memory and GPUs."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CPUINFO = Path("/proc/cpuinfo")
COMMAND_SECONDS = 10


@dataclass(frozen=True)
class Gpu:
    """A GPU of the host."""

    name: str
    memory_bytes: int


@dataclass(frozen=True)
class GpuFacts:
    """The GPUs of the host with their driver and the newest CUDA version that it supports."""

    gpus: list[Gpu] = field(default_factory=list)
    driver: str | None = None
    cuda: str | None = None


def describe_os() -> str:
    """Return the operating system with its kernel, such as Debian GNU/Linux 12 (Linux 6.1.0, x86_64)."""
    kernel = f"{platform.system()} {platform.release()}, {platform.machine()}"
    try:
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']} ({kernel})"
    except (OSError, KeyError):
        return kernel


def describe_cpu(cpuinfo: Path = CPUINFO) -> str:
    """Return the model of the processor, or its architecture if the system does not name the model."""
    if cpuinfo.exists():
        fields = (line.partition(":") for line in cpuinfo.read_text().splitlines())
        return next((value.strip() for name, _, value in fields if name.strip() == "model name"), platform.machine())
    if platform.system() == "Darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
        return done.stdout.strip() or platform.machine()
    return platform.processor() or platform.machine()


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_memory_bytes() -> int:
    """Return the memory of the host."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def read_gpus() -> GpuFacts:
    """Return the GPUs that NVIDIA's management library knows, or that nvidia-smi lists without it."""
    try:
        import pynvml
    except ImportError:
        return _list_gpus()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return GpuFacts()
    try:
        return _read_gpus(pynvml)
    finally:
        pynvml.nvmlShutdown()


def _read_gpus(pynvml: Any) -> GpuFacts:
    handles = [pynvml.nvmlDeviceGetHandleByIndex(number) for number in range(pynvml.nvmlDeviceGetCount())]
    gpus = [Gpu(pynvml.nvmlDeviceGetName(handle), pynvml.nvmlDeviceGetMemoryInfo(handle).total) for handle in handles]
    version = pynvml.nvmlSystemGetCudaDriverVersion_v2()
    return GpuFacts(gpus, pynvml.nvmlSystemGetDriverVersion(), f"{version // 1000}.{version % 1000 // 10}")


def _list_gpus() -> GpuFacts:
    command = ["nvidia-smi", "--query-gpu=memory.total,driver_version,name", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=True)
        rows = [line.split(", ", 2) for line in done.stdout.splitlines() if line]
        gpus = [Gpu(name, int(mebibytes) * 2**20) for mebibytes, _, name in rows]
    except (OSError, subprocess.SubprocessError, ValueError):
        return GpuFacts()
    return GpuFacts(gpus, rows[0][1] if rows else None)
