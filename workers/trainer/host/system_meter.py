"""Meter of the hardware that a run uses."""

import contextlib
import os
import time

import psutil
import torch

from workers.trainer.host.gpu_meter import GpuMeter
from workers.trainer.host.traffic import TrafficMeter

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
