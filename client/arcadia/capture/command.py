"""A command that runs as the script of a reported run."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from types import FrameType

from arcadia.capture.environment import command_environment
from arcadia.capture.failure import describe_status, find_traceback
from arcadia.capture.outputs import follow_size, open_outputs
from arcadia.reporting.run import ReportedRun

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
