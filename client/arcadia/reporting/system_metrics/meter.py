"""Recording of system metrics into a journal, by a process beside the script."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable

from arcadia.reporting.journal_reader import END_OF_RUN, read_tail, step_of
from arcadia.reporting.layout import JournalDirectory, WriterFiles
from arcadia.reporting.locks import is_writer_alive
from arcadia.reporting.system_metrics.gpus import Gpus
from arcadia.reporting.system_metrics.host import Host, ProcessUse, find_host
from arcadia.reporting.values import MetricsEncoder

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
        found = {
            "system/cpu_percent": 100 * max(0.0, used) / seconds,
            "system/rss_bytes": float(sum(use.memory_bytes for use in processes.values())),
            **self._gpus.sample(processes),
        }
        for name, count in counters.items():
            if name in self._counters:  # a counter falls when its disk or network is removed
                found[name] = max(0, count - self._counters[name]) / seconds
        self._time, self._processes, self._counters = now, processes, counters
        return found


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
