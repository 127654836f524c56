"""Facts about the host: operating system, processor, memory and GPUs."""

import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pynvml

from workers.contract.provenance import Gpu

CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class GpuFacts:
    """The GPUs of the host with their driver and the CUDA version that it supports."""

    gpus: list[Gpu]
    driver: str | None
    cuda: str | None


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
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
        return done.stdout.strip() or platform.machine()
    return platform.processor() or platform.machine()


def read_gpus() -> GpuFacts:
    """Return the GPUs that NVIDIA's management library knows; none without it."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return GpuFacts([], None, None)
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(number) for number in range(pynvml.nvmlDeviceGetCount())]
        gpus = [
            Gpu(name=pynvml.nvmlDeviceGetName(handle), memory_bytes=pynvml.nvmlDeviceGetMemoryInfo(handle).total)
            for handle in handles
        ]
        version = pynvml.nvmlSystemGetCudaDriverVersion_v2()
        return GpuFacts(gpus, pynvml.nvmlSystemGetDriverVersion(), f"{version // 1000}.{version % 1000 // 10}")
    finally:
        pynvml.nvmlShutdown()
