"""A command in a pseudo-terminal, with its output and the typed input."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from types import TracebackType

from tests.workers.waiting import PATIENCE_SECONDS, wait_until

ROWS, COLUMNS = 40, 100
# A piece of a chart.
BRAILLE = re.compile("[\u2801-\u28ff]{3}")
_CONTROL_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def _prepare(sigint: signal.Handlers) -> None:
    """Make the terminal that of the session, as Ctrl-C needs, and set what a shell would."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, sigint)


class Terminal:
    """The command `arcadia` in a terminal of a fixed size."""

    def __init__(
        self, *arguments: object, environment: Mapping[str, str], sigint: signal.Handlers = signal.SIG_DFL
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.set_blocking(self._master, False)
        self._output = b""
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "arcadia", *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**kept, **environment, "TERM": "xterm"},
            start_new_session=True,
            preexec_fn=lambda: _prepare(sigint),
        )
        os.close(slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
        self._process.wait(PATIENCE_SECONDS)
        os.close(self._master)

    @property
    def shown(self) -> str:
        """Return the output until now, without colors and cursor movements."""
        try:
            while block := os.read(self._master, 1 << 16):
                self._output += block
        except (BlockingIOError, OSError):  # there is no more output yet, or the command has ended
            pass
        return _CONTROL_SEQUENCE.sub("", self._output.decode(errors="replace"))

    def wait_for(self, text: str) -> None:
        """Wait until a text was shown."""
        wait_until(lambda: text in self.shown)

    def type(self, text: str) -> None:
        """Type a text."""
        os.write(self._master, text.encode())

    def wait(self) -> int:
        """Wait for the end and return the exit status. Keep reading the output so that the command does not block."""
        wait_until(lambda: (self.shown, self._process.poll())[1] is not None)
        return int(self._process.returncode)
