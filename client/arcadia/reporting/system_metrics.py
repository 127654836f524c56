"""System metrics of a script: use of the processor, the memory and the GPUs, and traffic of its host."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from arcadia.reporting.journal import END_OF_RUN, is_writer_alive, read_tail, step_of
from arcadia.reporting.layout import JournalDirectory, WriterFiles
from arcadia.reporting.values import MetricsEncoder

LIBRARY = "libnvidia-ml.so.1"
TEMPERATURE_OF_CHIP = 0
MAX_PROCESSES = 256
_DEVICE_FILE = re.compile(r"/dev/nvidia(\d+)")


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    """Version 2 of the structure. Version 1 counts the memory that the driver reserves as used."""

    _fields_ = (
        ("version", ctypes.c_uint),
        ("total", ctypes.c_ulonglong),
        ("reserved", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


class _Process(ctypes.Structure):
    _fields_ = (
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class NvmlError(Exception):
    """A value that the driver does not report."""


class Gpus:
    """The GPUs of this host. There are none without a driver."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._handles: list[ctypes.c_void_p] = []
        with contextlib.suppress(OSError, NvmlError, AttributeError):  # no driver, or one without these functions
            self._library: Any = ctypes.CDLL(LIBRARY)
            self._call("nvmlInit_v2")
            count = ctypes.c_uint()
            self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
            for number in range(count.value):
                handle = ctypes.c_void_p()
                self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(number), ctypes.byref(handle))
                self._handles.append(handle)

    def sample(self, processes: Collection[int]) -> dict[str, float]:
        """Return the metrics of the GPUs that these processes use: the mean load, the hottest, and otherwise sums."""
        used = [gpu for gpu in self._handles if self._processes_on(gpu) & set(processes)]
        if not used and (minors := self._open_devices(processes)):
            # In a container, the driver knows the processes by other numbers.
            used = [gpu for gpu in self._handles if self._read("nvmlDeviceGetMinorNumber", gpu) in minors]
        loads, sizes, powers, temperatures = (
            [value for gpu in used if (value := read(gpu)) is not None]
            for read in (self._load, self._memory, self._power, self._temperature)
        )
        sampled = {}
        if loads:
            sampled["system/gpu_percent"] = sum(loads) / len(loads)
        if sizes:
            sampled["system/gpu_memory_bytes"] = float(sum(sizes))
        if powers:
            sampled["system/gpu_power_watts"] = sum(powers) / 1000
        if temperatures:
            sampled["system/gpu_temperature"] = float(max(temperatures))
        return sampled

    def _processes_on(self, gpu: ctypes.c_void_p) -> set[int]:
        processes, count = (_Process * MAX_PROCESSES)(), ctypes.c_uint(MAX_PROCESSES)
        try:
            self._call("nvmlDeviceGetComputeRunningProcesses_v3", gpu, ctypes.byref(count), processes)
        except (NvmlError, AttributeError):
            return set()
        return {each.pid for each in processes[: count.value]}

    def _open_devices(self, processes: Collection[int]) -> set[int]:
        """Return the numbers of the GPUs whose device files the processes have opened."""
        devices = set()
        for process in processes:
            with contextlib.suppress(OSError):  # it has ended
                for file in (self._proc / str(process) / "fd").iterdir():
                    with contextlib.suppress(OSError):
                        if device := _DEVICE_FILE.fullmatch(str(file.readlink())):
                            devices.add(int(device[1]))
        return devices

    def _load(self, gpu: ctypes.c_void_p) -> int | None:
        rates = _Utilization()
        return rates.gpu if self._fill("nvmlDeviceGetUtilizationRates", gpu, rates) else None

    def _memory(self, gpu: ctypes.c_void_p) -> int | None:
        memory = _Memory(version=ctypes.sizeof(_Memory) | 2 << 24)
        return memory.used if self._fill("nvmlDeviceGetMemoryInfo_v2", gpu, memory) else None

    def _power(self, gpu: ctypes.c_void_p) -> int | None:
        return self._read("nvmlDeviceGetPowerUsage", gpu)

    def _temperature(self, gpu: ctypes.c_void_p) -> int | None:
        return self._read("nvmlDeviceGetTemperature", gpu, ctypes.c_uint(TEMPERATURE_OF_CHIP))

    def _read(self, name: str, *arguments: Any) -> int | None:
        value = ctypes.c_uint()
        return value.value if self._fill(name, *arguments, value) else None

    def _fill(self, name: str, *arguments: Any) -> bool:
        """Call a function that fills its last argument. Return False if the GPU does not report the value."""
        try:
            self._call(name, *arguments[:-1], ctypes.byref(arguments[-1]))
        except (NvmlError, AttributeError):
            return False
        return True

    def _call(self, name: str, *arguments: Any) -> None:
        if code := getattr(self._library, name)(*arguments):
            raise NvmlError(f"{name} returned {code}")


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
        processes = {}
        for process in descendants(root, {process: int(each[1]) for process, each in fields.items()}):
            used, started = (int(fields[process][11]) + int(fields[process][12])), int(fields[process][19])
            with contextlib.suppress(OSError):
                processes[process] = ProcessUse(started, used / self._tick, self._memory_bytes(process))
        return processes

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
        processes = {}
        for process in descendants(root, parents):
            with contextlib.suppress(self._psutil.Error):  # it has ended
                processes[process] = self._use(self._psutil.Process(process))
        return processes

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
    pids, waiting = [], [root] if root in parents else []
    while waiting:
        process = waiting.pop()
        if process != os.getpid():
            pids.append(process)
            waiting += children.get(process, [])
    return pids


# The first sample comes early, so that short runs have one.
FIRST_SECONDS, INTERVAL_SECONDS = 2.0, 15.0
CHECK_SECONDS = 1.0


class SystemMeter:
    """Use of the host by a script's process and its descendants.

    The GPUs, the disks and the networks are measured as a whole, with what other programs do.
    """

    def __init__(self, root: int, host: Host, gpus: Gpus, clock: Callable[[], float] = time.monotonic) -> None:
        self._root, self._host, self._gpus, self._clock = root, host, gpus, clock
        self._time, self._processes, self._counters = clock(), host.read_processes(root), host.read_counters()

    def sample(self) -> dict[str, float]:
        """Return the metrics since the last sample, or nothing if the script has ended."""
        now, processes, counters = self._clock(), self._host.read_processes(self._root), self._host.read_counters()
        seconds, before = now - self._time, self._processes
        if self._root not in processes or seconds <= 0:
            return {}
        used = sum(use.cpu_seconds - _used_before(before.get(process), use) for process, use in processes.items())
        sampled = {
            "system/cpu_percent": 100 * max(0.0, used) / seconds,
            "system/rss_bytes": float(sum(use.memory_bytes for use in processes.values())),
            **self._gpus.sample(processes),
        }
        for name, count in counters.items():
            if name in self._counters:  # a counter falls when its disk or network is removed
                sampled[name] = max(0, count - self._counters[name]) / seconds
        self._time, self._processes, self._counters = now, processes, counters
        return sampled


def _used_before(before: ProcessUse | None, use: ProcessUse) -> float:
    """Return what a process had used at the last sample: nothing if it has started since."""
    return before.cpu_seconds if before is not None and before.started == use.started else 0.0


class SystemRecorder:
    """Recorder of the system metrics of the scripts that log to a journal directory from this host."""

    def __init__(self, directory: JournalDirectory) -> None:
        self._directory = directory
        self._host, self._gpus = find_host(), Gpus()
        self._encoder = MetricsEncoder()
        self._meters: dict[str, SystemMeter] = {}
        self._steps: dict[str, int] = {}

    def run(self, is_needed: Callable[[], bool]) -> None:
        """Record at intervals, for as long as it is needed."""
        if self._host is None:
            print("There are no system metrics, because psutil is not installed.", file=sys.stderr, flush=True)
            return
        next_at = 0.0
        while is_needed():
            if time.monotonic() >= next_at:
                next_at = time.monotonic() + (INTERVAL_SECONDS if self.record() else FIRST_SECONDS)
            time.sleep(CHECK_SECONDS)

    def start(self) -> None:
        """Record in a thread, until this process ends."""
        threading.Thread(target=self.run, args=(lambda: True,), name="system-metrics", daemon=True).start()

    def record(self) -> int:
        """Append a sample of each script to its journal. Return the number of samples. The first call only begins."""
        recorded = 0
        for files in self._directory.writers():
            with contextlib.suppress(OSError, ValueError, KeyError):  # the journal was deleted, or is just created
                recorded += self._record(files)
        return recorded

    def _record(self, files: WriterFiles) -> bool:
        if self._host is None or not is_writer_alive(files.lock) or not records_system_metrics(files):
            return False
        if files.writer not in self._meters:
            process = json.loads(files.lock.read_text())
            if process["host"] == socket.gethostname():
                self._meters[files.writer] = SystemMeter(process["pid"], self._host, self._gpus)
            return False
        values = self._meters[files.writer].sample()
        lines = read_tail(files)
        if not values or any(line.startswith(END_OF_RUN) for line in lines):
            return False
        steps = (step for line in reversed(lines) if (step := step_of(line)) is not None)
        step = self._steps[files.writer] = next(steps, self._steps.get(files.writer, 0))
        line = self._encoder.encode(step, time.time(), values, [])
        return line is not None and _append(files, line)


def records_system_metrics(files: WriterFiles) -> bool:
    """Return False if the script has turned its system metrics off."""
    return bool(json.loads(files.description.read_text()).get("system_metrics", True))


def _append(files: WriterFiles, line: bytes) -> bool:
    """Append a line to the journal if it exists. A full disk loses the sample, but never a part of a line."""
    descriptor = os.open(files.journal, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        written = os.write(descriptor, line)
        if written < len(line):
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
        return written == len(line)
    finally:
        os.close(descriptor)
