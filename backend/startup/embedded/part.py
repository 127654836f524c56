"""Supervision of a child process: restart it when it dies, and print its lines under its name."""

import asyncio
import contextlib
import ctypes
import signal
import sys
import time
from collections.abc import Mapping, Sequence

from backend.startup.embedded.output import Output

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
