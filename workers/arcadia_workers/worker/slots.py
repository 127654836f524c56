"""Several slots on one host: a parent process that starts a worker for each, and stops with them.

Each slot is a process of its own, so that an error in one ends one run, and starts again by itself.
"""

import ctypes
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from arcadia_workers.contract.leash import ON_LINUX, PR_SET_PDEATHSIG
from arcadia_workers.worker.answers import Backoff

# Exit statuses after which another start would end the same way.
FINAL = (os.EX_OK, os.EX_NOPERM, os.EX_CONFIG, os.EX_USAGE)
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 60.0
# A worker that ran this long had started well.
WELL_SECONDS = 60.0

log = logging.getLogger(__name__)
_libc = ctypes.CDLL(None)


def slot_arguments(given: Sequence[str], name: str | None, worker_dir: Path | None, slot: int) -> list[str]:
    """Return the arguments of the worker of a slot. Only the first one does jobs."""
    arguments = [*given, "--slots", "1"]
    if name is not None:
        arguments += ["--name", f"{name}-{slot + 1}"]
        if worker_dir is not None:
            arguments += ["--worker-dir", str(worker_dir / str(slot + 1))]
    return arguments if slot == 0 else [*arguments, "--jobs", "0"]


def serve_slots(commands: Sequence[Sequence[str]]) -> int:
    """Run a worker for each slot until all end, or until SIGTERM or Ctrl-C. Return the first bad exit status."""
    stopped = threading.Event()
    slots = [_Slot(command, stopped) for command in commands]

    def stop(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        stopped.set()
        for slot in slots:
            slot.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    for slot in slots:
        slot.start()
    for slot in slots:
        while slot.is_alive():
            slot.join(0.2)
    return next((slot.status for slot in slots if slot.status), os.EX_OK)


class _Slot(threading.Thread):
    """Thread that keeps one worker running."""

    def __init__(self, command: Sequence[str], stopped: threading.Event) -> None:
        super().__init__(daemon=True)
        self._command, self._stopped = command, stopped
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.status = os.EX_OK

    def run(self) -> None:
        pause = Backoff(FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS)
        while True:
            with self._lock:
                if self._stopped.is_set():
                    return
                self._process = subprocess.Popen(self._command, preexec_fn=_stop_with_parent, start_new_session=True)
            began = time.monotonic()
            self.status = self._process.wait()
            if self._stopped.is_set() or self.status in FINAL:
                return
            if time.monotonic() - began > WELL_SECONDS:
                pause.reset()
            log.warning("A worker ended with status %d. Starting it again.", self.status)
            self._stopped.wait(pause.delay())

    def stop(self) -> None:
        """Stop the worker as SIGTERM does."""
        with self._lock:
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()


def _stop_with_parent() -> None:
    """Make the kernel stop the worker when the thread that started it is gone, as after a kill of this process."""
    if ON_LINUX:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def worker_command(arguments: Sequence[str]) -> list[str]:
    """Return the command of a worker."""
    return [sys.executable, "-m", "arcadia_workers.worker", *arguments]
