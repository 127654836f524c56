"""Capture of a command as a reported run: its output, its exit status, and its libraries' logs."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import re
import selectors
import signal
import subprocess
import sys
import termios
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

import arcadia.integrations
from arcadia.reporting.attached import JOURNAL_VARIABLE, WRITER_VARIABLE
from arcadia.reporting.run import ReportedRun

HOOKS = Path(arcadia.integrations.__file__).parent / "hooks"


def command_environment(environment: Mapping[str, str], run: ReportedRun) -> dict[str, str]:
    """Return the variables of the command. Python's output is unbuffered, so that the log is current."""
    return {
        "PYTHONUNBUFFERED": "1",
        **environment,
        "PYTHONPATH": os.pathsep.join([str(HOOKS), *filter(None, [environment.get("PYTHONPATH")])]),
        JOURNAL_VARIABLE: str(run.directory),
        WRITER_VARIABLE: run.writer,
    }


TRACEBACK = "Traceback (most recent call last):"
MAX_MESSAGE = 2_000


def describe_status(status: int) -> str:
    """Return a sentence that explains an exit status."""
    if status >= 0:
        return f"The command exited with status {status}."
    try:
        return f"The command was killed by {signal.Signals(-status).name}."
    except ValueError:
        return f"The command was killed by signal {-status}."


def find_traceback(lines: Sequence[str]) -> tuple[str, str] | None:
    """Return the last Python error and its traceback, or None if there is no error."""
    start = next((number for number in reversed(range(len(lines))) if lines[number].strip() == TRACEBACK), None)
    if start is None:
        return None
    end = next((number for number in range(start + 1, len(lines)) if not lines[number].startswith(" ")), None)
    if end is None:
        return None
    return lines[end][:MAX_MESSAGE], "\n".join(lines[start : end + 1])


MAX_LINE = 10_000
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|[\x00-\x08\x0b\x0c\x0e-\x1f]"
)


class LineLog:
    """Splitter of an output into lines. Empty lines are left out."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def feed(self, data: bytes) -> None:
        """Write the lines that are complete now."""
        *lines, rest = (self._rest + self._decoder.decode(data)).split("\n")
        for line in lines:
            self._write_line(line)
        if len(rest) > MAX_LINE:
            # A progress bar overwrites its line without ever ending it.
            start, has_return, last = rest.rpartition("\r")
            if not has_return or len(last) > MAX_LINE:
                self._write_line(rest)
                rest = ""
            else:
                rest = last or start.rpartition("\r")[2] + "\r"
        self._rest = rest

    def finish(self) -> None:
        """Write the last line, which may lack a line feed."""
        self._write_line(self._rest + self._decoder.decode(b"", final=True))
        self._rest = ""

    def _write_line(self, line: str) -> None:
        shown = line.rstrip("\r").rpartition("\r")[2]
        if text := _CONTROL.sub("", shown).rstrip()[:MAX_LINE]:
            self._write(text)


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


POLL_SECONDS = 0.2
# Number of last lines that are searched for a traceback.
TAIL_LINES = 300
NOT_STARTED = 127


class CapturedCommand:
    """A command whose output is logged to a run. The run ends with the command."""

    def __init__(self, run: ReportedRun, command: Sequence[str], grace_seconds: float) -> None:
        self._run, self._command, self._grace = run, list(command), grace_seconds
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._received: signal.Signals | None = None
        self._is_stopping = False
        # Signals after a click on Stop on the run's page, with the grace period between them.
        self._next_signals = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
        self._next_signal_at = 0.0
        # Ctrl-C reaches all processes in a terminal's foreground. Without a terminal, the command has its own session.
        self._shares_terminal = _is_in_foreground()

    def execute(self) -> int:
        """Run the command to its end. Return the exit status as a shell does."""
        outputs = open_outputs(self._write)
        try:
            self._process = subprocess.Popen(
                self._command,
                env=command_environment(os.environ, self._run),
                stdout=outputs[0].end_of_command,
                stderr=outputs[-1].end_of_command,
                start_new_session=not self._shares_terminal,
            )
        except OSError as error:
            message = f"{self._command[0]} cannot be started: {error.strerror}."
            print(f"arcadia: {message}", file=sys.stderr)
            self._run.finish("failed", message)
            return NOT_STARTED
        finally:
            for output in outputs:
                os.close(output.end_of_command)
        self._handle_signals()
        follow_size(outputs)
        with selectors.DefaultSelector() as selector:
            for output in outputs:
                selector.register(output.source, selectors.EVENT_READ, output)
            self._copy(selector)
            for key in list(selector.get_map().values()):
                key.data.close()
        status = self._process.wait()
        self._end_run(status)
        return status if status >= 0 else 128 - status

    def _copy(self, selector: selectors.BaseSelector) -> None:
        """Copy the outputs until the command has ended. Its own children may keep them open."""
        while True:
            has_ended = self._process.poll() is not None
            ready = selector.select(POLL_SECONDS)
            for key, _events in ready:
                if not key.data.copy():
                    selector.unregister(key.fileobj)
                    key.data.close()
            if has_ended and not ready:
                return
            if not has_ended:
                self._stop_if_requested()

    def _write(self, line: str) -> None:
        self._tail.append(line)
        self._run.write(line)

    def _stop_if_requested(self) -> None:
        now = time.monotonic()
        if self._run.should_stop() and self._next_signals and now >= self._next_signal_at:
            self._is_stopping = True
            self._send(self._next_signals.pop(0))
            self._next_signal_at = now + self._grace

    def _handle_signals(self) -> None:
        signal.signal(signal.SIGINT, self._interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` ignores SIGHUP
                signal.signal(number, self._forward)

    def _interrupt(self, number: int, _frame: FrameType | None) -> None:
        self._received = signal.Signals(number)
        if not self._shares_terminal:
            self._send(number)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        self._received = signal.Signals(number)
        self._send(number)

    def _send(self, number: int) -> None:
        if self._process.poll() is not None:
            return
        if self._shares_terminal:
            self._process.send_signal(number)
        else:  # also to the processes that the command has started, as a terminal does
            os.killpg(self._process.pid, number)

    def _end_run(self, status: int) -> None:
        if self._is_stopping:
            self._run.finish()
        elif self._received is not None:
            self._run.finish("stopped", f"The command was interrupted ({self._received.name}).")
        elif status == 0:
            self._run.finish("finished")
        else:
            message, traceback = find_traceback(list(self._tail)) or (describe_status(status), None)
            self._run.finish("failed", message, traceback=traceback)


def _is_in_foreground() -> bool:
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False
