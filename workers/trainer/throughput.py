"""How fast training goes and what it takes of the machine."""

import os
import time
from collections import deque

import psutil
import torch

WINDOW_SECONDS = 5.0
SHORTEST_SPAN = 0.2
SYSTEM_SECONDS = 2.0


class RateMeter:
    """Steps and updates per second over the last few seconds; 0 until there is a span to measure over."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int, int]] = deque()
        self.steps_per_second = 0.0
        self.updates_per_second = 0.0

    def mark(self, now: float, step: int, updates: int) -> None:
        """Take in where training stands."""
        self._marks.append((now, step, updates))
        while len(self._marks) > 2 and self._marks[1][0] <= now - WINDOW_SECONDS:
            self._marks.popleft()
        since, first_step, first_updates = self._marks[0]
        if now - since >= SHORTEST_SPAN:
            self.steps_per_second = (step - first_step) / (now - since)
            self.updates_per_second = (updates - first_updates) / (now - since)


class SystemMeter:
    """Processor, memory and GPU use of this process, sampled now and then because asking costs."""

    def __init__(self, device: torch.device) -> None:
        self._process = psutil.Process(os.getpid())
        self._process.cpu_percent()  # the first answer is always 0
        self._gpu = device if tells_its_load(device) else None
        self._next = 0.0

    def sample(self) -> dict[str, float]:
        """Return the metrics, or nothing if the last sample is still fresh."""
        now = time.monotonic()
        if now < self._next:
            return {}
        self._next = now + SYSTEM_SECONDS
        values = {
            "system/cpu_percent": self._process.cpu_percent(),
            "system/rss_bytes": float(self._process.memory_info().rss),
        }
        if self._gpu:
            values["system/gpu_percent"] = float(torch.cuda.utilization(self._gpu))
        return values


def tells_its_load(device: torch.device) -> bool:
    """Ask a GPU once: without nvidia-ml-py it cannot be asked, and some shared GPUs do not answer."""
    if device.type != "cuda":
        return False
    try:
        torch.cuda.utilization(device)
    except Exception:
        return False
    return True
