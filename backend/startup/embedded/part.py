"""One part of the installation: a child process that is kept running, its lines printed under its name."""

import asyncio
import contextlib
import ctypes
import signal
import sys
import time
from collections.abc import Mapping, Sequence

from backend.startup.embedded.output import Output

PR_SET_PDEATHSIG = 1
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 10.0
LONG_LIFE_SECONDS = 30.0  # after which a death is news, not one of a series
LONGEST_LINE = 1_000_000
CANNOT_RUN = 126  # as a shell says it

_libc = ctypes.CDLL(None)


def die_with_parent() -> None:
    """Have the kernel kill this child when the thread that spawned it, `arcadia up`'s main one, is killed."""
    if sys.platform == "linux":
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def how_it_ended(returncode: int) -> str:
    """Describe an exit status."""
    if returncode >= 0:
        return f"ended with status {returncode}"
    known = -returncode in set(signal.Signals)  # real-time signals have no name
    return f"was killed by {signal.Signals(-returncode).name if known else f'signal {-returncode}'}"


class Part:
    """A child process that is started again when it dies."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str], output: Output) -> None:
        self.name, self._command, self._environment, self._output = name, command, environment, output
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self.started = asyncio.Event()
        self.died_at_birth = asyncio.Event()
        self.returncode = 0

    def start(self) -> None:
        """Start it, and keep it running."""
        self._keeper = asyncio.create_task(self._keep())

    async def stop(self, patience: float) -> None:
        """Ask it to end; kill it if it takes longer than `patience`."""
        self._stopping.set()
        if self._keeper is None:
            return
        self.signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(asyncio.shield(self._keeper), patience)
        except TimeoutError:
            self._output.say("arcadia", f"{self.name} did not end within {patience:g} s: killing it")
            self.signal(signal.SIGKILL)
            await self._keeper

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, if it runs."""
        with contextlib.suppress(ProcessLookupError):
            if self._process and self._process.returncode is None:
                self._process.send_signal(number)

    async def _keep(self) -> None:
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            born = time.monotonic()
            self.returncode = returncode = await self._live_or_tell()
            if self._stopping.is_set():
                return
            # One that was killed has not said that it cannot start.
            if not self.started.is_set() and returncode >= 0:
                self._output.say("arcadia", f"{self.name} {how_it_ended(returncode)} before it was ready")
                self.died_at_birth.set()
                return
            if time.monotonic() - born > LONG_LIFE_SECONDS:
                pause = FIRST_PAUSE
            self._output.say("arcadia", f"{self.name} {how_it_ended(returncode)}; starting it again in {pause:g} s")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _live_or_tell(self) -> int:
        """Run it once; what goes wrong in keeping it, as where the system has no room for a process, ends nothing."""
        try:
            return await self._live()
        except Exception as error:
            self._output.say("arcadia", f"{self.name} could not be kept: {error!r}")
            self.signal(signal.SIGKILL)
            return CANNOT_RUN

    async def _live(self) -> int:
        """Run it once, from start to end."""
        # In a separate session, Ctrl-C reaches `arcadia up` alone, which stops its parts in order.
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self._environment,
            start_new_session=True,
            preexec_fn=die_with_parent,
            limit=LONGEST_LINE,
        )
        if self._stopping.is_set():
            self.signal(signal.SIGTERM)
        if self._process.stdout is not None:
            await self._pass_on(self._process.stdout)
        return await self._process.wait()

    async def _pass_on(self, output: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await output.readline()
            except ValueError:  # longer than LONGEST_LINE: that much of it has been dropped
                continue
            if not line:
                return
            self._output.say(self.name, line.decode(errors="replace").rstrip())
