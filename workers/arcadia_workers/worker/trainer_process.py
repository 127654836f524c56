"""Child processes on a leash that the worker can stop, kill and wait for, one of them kept ready."""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import IO, Protocol

import psutil

from arcadia_workers.contract import leash
from arcadia_workers.contract.layout import TIME_FORMAT

STDERR_LINES = 200
STDERR_LINE_BYTES = 20_000
STDERR_FILE_BYTES = 5_000_000
# A trainer loads plug-ins and reports its build. It may join a Ray cluster, and uses no other service.
PASSED_ON = ("ARCADIA_BUILD", "ARCADIA_PLUGINS")
RAY_ADDRESS = "ARCADIA_RAY_ADDRESS"
# A cluster with tokens accepts only programs that have its token.
FOR_RAY = (RAY_ADDRESS, "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
CREDENTIALS = ("TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "PGPASS", "BROKER", "DATABASE_URL", "REDIS_URL")

# Let the worker and its first run start first.
WARM_AFTER_SECONDS = 15.0
# The idle process needs a few hundred megabytes.
MIN_AVAILABLE_BYTES = 2_000_000_000

log = logging.getLogger(__name__)


def without_credentials(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for a trainer, without secrets and most of Arcadia's settings."""
    passed_on = PASSED_ON + (FOR_RAY if environment.get(RAY_ADDRESS) else ())
    return {
        name: value
        for name, value in environment.items()
        if name in passed_on
        or (
            not name.upper().startswith(("ARCADIA_", "CELERY_", "PGPASS"))
            and not any(word in name.upper() for word in CREDENTIALS)
        )
    }


class TrainerProcess:
    """A child process of the worker."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        keep_open: Sequence[int] = (),
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.log = log
        self.returncode: int | None = None
        self._pid: int | None = None
        self._tail: deque[str] = deque(maxlen=STDERR_LINES)
        self._ended = threading.Event()
        self._leash = subprocess.Popen(
            [sys.executable, "-I", "-S", leash.__file__, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**without_credentials(os.environ), **environment},
            start_new_session=True,
            pass_fds=keep_open,
        )
        self._stderr_reader = threading.Thread(target=self._read_stderr, daemon=True)
        self._stderr_reader.start()
        threading.Thread(target=self._read_status, daemon=True).start()

    def wait(self, timeout: float) -> bool:
        """Wait for the process to end. Return True if it has ended."""
        return self._ended.wait(timeout)

    def terminate(self) -> None:
        """Make the trainer save a checkpoint and exit."""
        self._send(leash.TERMINATE)

    def kill(self) -> None:
        """Kill the process and all its children."""
        self._send(leash.KILL)

    def close(self) -> None:
        """Kill the process and wait for its end."""
        self.kill()
        self._ended.wait()

    def stderr_tail(self) -> str:
        """Return the end of the process's standard error."""
        return "".join(self._tail).strip()

    def _send(self, command: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ValueError):
            pipe = _opened(self._leash.stdin)
            pipe.write(command)
            pipe.flush()

    def _read_status(self) -> None:
        """Read the reports of the leash, and set the ended event in any case."""
        try:
            self._follow_leash()
        finally:
            self._ended.set()

    def _follow_leash(self) -> None:
        """Read the reports of the leash. Without a report, it was killed or could not start the process."""
        for line in _opened(self._leash.stdout):
            try:
                status = json.loads(line)
            except ValueError:
                continue  # cut off by a kill
            self._pid = status.get("pid", self._pid)
            self.returncode = status.get("returncode")
        if (leash_code := self._leash.wait()) and self.returncode is None:
            self.returncode = leash_code if leash_code > 0 else -signal.SIGKILL
            if self._pid is not None:
                leash.kill_group(self._pid)
        self._stderr_reader.join(timeout=5)

    def _read_stderr(self) -> None:
        """Keep the end of standard error in memory, so that a full disk does not hide the cause of a failure."""
        with contextlib.ExitStack() as stack:
            try:
                file = stack.enter_context(self.log.open("ab"))
            except OSError:
                file = None
            written = 0
            pipe = _opened(self._leash.stderr)
            while raw := pipe.readline(STDERR_LINE_BYTES):
                line = raw.decode(errors="replace")
                self._tail.append(line)
                written += len(raw)
                if file and written < STDERR_FILE_BYTES:
                    try:
                        file.write(f"{datetime.now():{TIME_FORMAT}} ".encode() + raw)
                        file.flush()
                    except OSError:
                        file = None


def _opened(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the leash does not have this pipe")
    return stream


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


class Launcher(Protocol):
    """Starts the processes of attempts."""

    def prepare(self) -> None:
        """Make later starts fast, when there is time."""

    def launch(self, command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> TrainerProcess:
        """Start a command for the attempt of a directory."""

    def close(self) -> None:
        """End what was prepared."""


class LocalLauncher:
    """Starts processes on this host. With `warm`, one is kept idle that has finished its imports."""

    def __init__(self, keep_open: Sequence[int] = (), warm: WarmProcess | None = None) -> None:
        self._keep_open, self._warm = keep_open, warm

    def prepare(self) -> None:
        """Start the idle process after a delay."""
        if self._warm:
            self._warm.prepare_later()

    def launch(self, command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> TrainerProcess:
        """Start the process, or use the idle one."""
        ready = self._warm.take(command) if self._warm else None
        return ready or TrainerProcess(command, directory / "trainer.log", self._keep_open, environment)

    def close(self) -> None:
        """Kill the idle process and start no other."""
        if self._warm:
            self._warm.close()
