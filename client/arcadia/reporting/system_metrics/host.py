"""Processes and traffic of the host: from /proc on Linux, and from psutil elsewhere if it is installed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

BLOCK_DEVICES = Path("/sys/block")
SECTOR_BYTES = 512
LOOPBACKS = ("lo", "lo0")
DISK_READ, DISK_WRITTEN = "system/disk_read_bytes_per_second", "system/disk_written_bytes_per_second"
RECEIVED, SENT = "system/network_received_bytes_per_second", "system/network_sent_bytes_per_second"


@dataclass(frozen=True)
class ProcessUse:
    """What a process has used until now. Two processes with the same id have different start times."""

    started: float
    cpu_seconds: float
    memory_bytes: int


class Host(Protocol):
    """Source of measurements of this host."""

    def read_processes(self, root: int) -> dict[int, ProcessUse]:
        """Return the use of a process and its descendants, without this process."""

    def read_counters(self) -> dict[str, int]:
        """Return the bytes moved since the host started, by the metric of their rate."""


def find_host() -> Host | None:
    """Return the source of measurements, or None if this system has none."""
    if Path("/proc/self/stat").exists():
        return LinuxHost()
    with contextlib.suppress(ImportError):
        return PsutilHost()
    return None


class LinuxHost:
    """Measurements from Linux's /proc."""

    def __init__(self, proc: Path = Path("/proc"), block_devices: Path = BLOCK_DEVICES) -> None:
        self._proc, self._block_devices = proc, block_devices
        self._tick, self._page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")

    def read_processes(self, root: int) -> dict[int, ProcessUse]:
        """Return the use of a process and its descendants, without this process."""
        fields: dict[int, list[str]] = {}
        for folder in self._proc.iterdir():
            if folder.name.isdecimal():
                with contextlib.suppress(OSError):  # it has ended
                    # The name of the program is in parentheses, and may contain some itself.
                    fields[int(folder.name)] = (folder / "stat").read_text().rpartition(")")[2].split()
        found = {}
        for process in descendants(root, {process: int(each[1]) for process, each in fields.items()}):
            used, started = (int(fields[process][11]) + int(fields[process][12])), int(fields[process][19])
            with contextlib.suppress(OSError):
                found[process] = ProcessUse(started, used / self._tick, self._memory_bytes(process))
        return found

    def read_counters(self) -> dict[str, int]:
        """Return the bytes moved since the host started, by the metric of their rate."""
        counters: dict[str, int] = {}
        with contextlib.suppress(OSError):  # a sandbox that hides the disks
            rows = [line.split() for line in (self._proc / "diskstats").read_text().splitlines()]
            # RAID and LVM volumes would count the same bytes again.
            if disks := [row for row in rows if (self._block_devices / row[2] / "device").exists()]:
                counters[DISK_READ] = SECTOR_BYTES * sum(int(row[5]) for row in disks)
                counters[DISK_WRITTEN] = SECTOR_BYTES * sum(int(row[9]) for row in disks)
        with contextlib.suppress(OSError):
            lines = (self._proc / "net" / "dev").read_text().splitlines()[2:]
            networks = [(name.strip(), rest.split()) for name, _, rest in (line.partition(":") for line in lines)]
            if counts := [each for name, each in networks if name not in LOOPBACKS]:
                counters[RECEIVED] = sum(int(each[0]) for each in counts)
                counters[SENT] = sum(int(each[8]) for each in counts)
        return counters

    def _memory_bytes(self, process: int) -> int:
        """Return the memory of a process. Shared pages count in equal parts where the system reports them."""
        folder = self._proc / str(process)
        with contextlib.suppress(OSError):  # an old kernel, or a process of another user
            for line in (folder / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
        return int((folder / "statm").read_text().split()[1]) * self._page


class PsutilHost:
    """Measurements from psutil. Raises ImportError without it."""

    def __init__(self) -> None:
        import psutil

        self._psutil: Any = psutil

    def read_processes(self, root: int) -> dict[int, ProcessUse]:
        """Return the use of a process and its descendants, without this process."""
        parents = {each.pid: each.info["ppid"] or 0 for each in self._psutil.process_iter(["ppid"])}
        found = {}
        for process in descendants(root, parents):
            with contextlib.suppress(self._psutil.Error):  # it has ended
                found[process] = self._use(self._psutil.Process(process))
        return found

    def read_counters(self) -> dict[str, int]:
        """Return the bytes moved since the host started, by the metric of their rate."""
        counters: dict[str, int] = {}
        # A sandbox may hide the disks.
        with contextlib.suppress(NotImplementedError, RuntimeError):
            if disks := self._psutil.disk_io_counters():
                counters |= {DISK_READ: disks.read_bytes, DISK_WRITTEN: disks.write_bytes}
        networks = self._psutil.net_io_counters(pernic=True)
        if counts := [each for name, each in networks.items() if name not in LOOPBACKS]:
            counters[RECEIVED] = sum(each.bytes_recv for each in counts)
            counters[SENT] = sum(each.bytes_sent for each in counts)
        return counters

    def _use(self, process: Any) -> ProcessUse:
        with process.oneshot():
            times = process.cpu_times()
            return ProcessUse(process.create_time(), times.user + times.system, process.memory_info().rss)


def descendants(root: int, parents: Mapping[int, int]) -> Iterable[int]:
    """Return a process and all processes below it. This process and those below it measure, so they do not count."""
    children: dict[int, list[int]] = {}
    for process, parent in parents.items():
        children.setdefault(parent, []).append(process)
    found, waiting = [], [root] if root in parents else []
    while waiting:
        process = waiting.pop()
        if process != os.getpid():
            found.append(process)
            waiting += children.get(process, [])
    return found
