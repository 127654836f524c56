"""Outputs of a command. They are copied unchanged to the outputs of this process."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import termios
from collections.abc import Callable
from types import FrameType

from arcadia.capture.line_log import LineLog

CHUNK_BYTES = 65_536
STDOUT, STDERR = 1, 2


class Output:
    """An output of the command: standard output, standard error, or a terminal for both."""

    def __init__(self, target: int, write: Callable[[str], None]) -> None:
        self._target, self._log = target, LineLog(write)
        self.is_terminal = os.isatty(target)
        self.source, self.end_of_command = open_terminal(target) if self.is_terminal else os.pipe()

    def copy(self) -> bool:
        """Copy the available output. Return False at its end."""
        try:
            data = os.read(self.source, CHUNK_BYTES)
        except OSError:  # how Linux reports the end of a terminal
            data = b""
        if not data:
            return False
        self._log.feed(data)
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._target, rest) :]
        except BrokenPipeError:
            # The reader is gone, as in `arcadia run … | head`. The command gets the same error when it writes again.
            return False
        return True

    def close(self) -> None:
        """Write the last line, and close the output."""
        self._log.finish()
        os.close(self.source)


def open_outputs(write: Callable[[str], None]) -> list[Output]:
    """Return the command's outputs: one if both are the same terminal, which keeps their order."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.isatty(STDOUT) and os.isatty(STDERR) and os.path.sameopenfile(STDOUT, STDERR):
        return [Output(STDOUT, write)]
    return [Output(STDOUT, write), Output(STDERR, write)]


def open_terminal(like: int) -> tuple[int, int]:
    """Return both ends of a new terminal with the size of another one. It keeps progress bars and colors."""
    own, command = os.openpty()
    settings = termios.tcgetattr(command)
    settings[1] &= ~termios.OPOST  # the real terminal adds carriage returns
    termios.tcsetattr(command, termios.TCSANOW, settings)
    copy_size(like, command)
    return own, command


def copy_size(source: int, target: int) -> None:
    """Copy the size of a terminal to another one."""
    size = fcntl.ioctl(source, termios.TIOCGWINSZ, b"\0" * 8)
    fcntl.ioctl(target, termios.TIOCSWINSZ, size)


def follow_size(outputs: list[Output]) -> None:
    """Resize the command's terminals when the real terminal is resized."""

    def resize(_signal: int, _frame: FrameType | None) -> None:
        for output in terminals:
            with contextlib.suppress(OSError):  # the command may have ended
                copy_size(STDOUT, output.source)

    if terminals := [output for output in outputs if output.is_terminal]:
        signal.signal(signal.SIGWINCH, resize)
