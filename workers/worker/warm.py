"""An idle process that has finished its imports, so that trainers and live games start without waiting."""

import contextlib
import json
import logging
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from workers.worker.trainer_process import TrainerProcess

# Let the worker and its first run start first.
WARM_AFTER_SECONDS = 15.0
# The idle process needs a few hundred megabytes.
MIN_AVAILABLE_BYTES = 2_000_000_000

log = logging.getLogger(__name__)


class WarmProcess:
    """One idle process of a program. It reads its arguments from a named pipe and ends with the worker."""

    def __init__(
        self,
        program: Sequence[str],
        directory: Path,
        environment: Mapping[str, str],
        keep_open: Sequence[int] = (),
        *,
        name: str = "warm",
    ) -> None:
        self._program, self._directory = [*program], directory
        self._environment, self._keep_open = environment, keep_open
        self._name = name
        self._lock = threading.Lock()
        self._process: TrainerProcess | None = None
        self._pipe: int | None = None
        self._path: Path | None = None
        self._started = 0
        self._closed = False
        self._timer: threading.Timer | None = None

    def prepare_later(self) -> None:
        """Start the idle process after a delay."""
        self._timer = threading.Timer(WARM_AFTER_SECONDS, self.prepare)
        self._timer.daemon = True
        self._timer.start()

    def prepare(self) -> None:
        """Start the idle process unless one exists or memory is low."""
        with self._lock:
            if self._closed or self._is_ready() or psutil.virtual_memory().available < MIN_AVAILABLE_BYTES:
                return
            self._discard()
            # Each process has its own pipe, because on a busy machine it opens the pipe late.
            self._started += 1
            path = self._path = self._directory / f"{self._name}-{self._started}"
            try:
                path.unlink(missing_ok=True)
                os.mkfifo(path, 0o600)
                # Open for reading and writing, so that neither end blocks.
                self._pipe = os.open(path, os.O_RDWR)
                self._process = TrainerProcess(
                    [*self._program, "--wait-for-arguments", str(path)],
                    self._directory / f"{self._name}.log",
                    self._keep_open,
                    self._environment,
                )
            except OSError as error:
                log.warning("Cannot keep a process ready: %s", error)
                self._discard()

    def take(self, command: Sequence[str]) -> TrainerProcess | None:
        """Run a command in the idle process. Return None if none is ready."""
        with self._lock:
            if command[: len(self._program)] != self._program or not self._is_ready():
                return None
            process, pipe, path = self._process, self._pipe, self._path
            self._process = self._pipe = self._path = None
        if process is None or pipe is None or path is None:
            return None
        line = json.dumps(command[len(self._program) :]) + "\n"
        threading.Thread(target=_hand_over, args=(process, pipe, path, line.encode()), daemon=True).start()
        self.prepare_later()
        return process

    def close(self) -> None:
        """Kill the idle process and start no other."""
        with self._lock:
            self._closed = True
            if self._timer:
                self._timer.cancel()
            self._discard()

    def _is_ready(self) -> bool:
        return self._process is not None and not self._process.wait(0)

    def _discard(self) -> None:
        if self._process:
            self._process.close()
        if self._pipe is not None:
            os.close(self._pipe)
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self._process = self._pipe = self._path = None


def _hand_over(process: TrainerProcess, pipe: int, path: Path, line: bytes) -> None:
    """Write the arguments, and keep the pipe open while the process lives."""
    with contextlib.suppress(OSError):
        os.write(pipe, line)
    while not process.wait(60):
        continue
    os.close(pipe)
    path.unlink(missing_ok=True)
