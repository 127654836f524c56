"""Meters of training speed and of the machine's load."""

import contextlib
import os
import time
from collections import deque

import psutil
import torch

WINDOW_SECONDS = 5.0
SHORTEST_SPAN = 0.2
SYSTEM_SECONDS = 2.0


class RateMeter:
    """Steps and updates per second over the last few seconds; 0 until there is a span to measure.

    The time before the first step after `begins_at` does not count, because processes and networks start then.
    """

    def __init__(self, begins_at: int = 0) -> None:
        self._begins_at = begins_at
        self._marks: deque[tuple[float, int, int]] = deque()
        self.steps_per_second = 0.0
        self.updates_per_second = 0.0

    def mark(self, now: float, step: int, updates: int) -> None:
        """Record the current step and number of updates."""
        if step == self._begins_at:
            return
        self._marks.append((now, step, updates))
        while len(self._marks) > 2 and self._marks[1][0] <= now - WINDOW_SECONDS:
            self._marks.popleft()
        since, first_step, first_updates = self._marks[0]
        if now - since >= SHORTEST_SPAN:
            self.steps_per_second = (step - first_step) / (now - since)
            self.updates_per_second = (updates - first_updates) / (now - since)


class SystemMeter:
    """CPU, memory and GPU use of this process and its children, sampled rarely because sampling is slow."""

    def __init__(self, device: torch.device) -> None:
        self._process = psutil.Process(os.getpid())
        self._family: dict[int, psutil.Process] = {}
        self._gpu = device if reports_its_load(device) else None
        self._next = 0.0
        self._uses()  # the first value of a process is always 0 percent

    def sample(self) -> dict[str, float]:
        """Return the metrics, or nothing if the last sample is still fresh."""
        now = time.monotonic()
        if now < self._next:
            return {}
        self._next = now + SYSTEM_SECONDS
        percents, sizes = zip(*self._uses(), strict=True)
        values = {"system/cpu_percent": sum(percents), "system/rss_bytes": float(sum(sizes))}
        if self._gpu:
            values["system/gpu_percent"] = float(torch.cuda.utilization(self._gpu))
        return values

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


def reports_its_load(device: torch.device) -> bool:
    """Return True if a GPU reports its load. It needs nvidia-ml-py, and some shared GPUs do not."""
    if device.type != "cuda":
        return False
    try:
        torch.cuda.utilization(device)
    except Exception:
        return False
    return True
