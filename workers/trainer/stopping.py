"""Handling of SIGTERM and Ctrl-C: the run saves and ends. A second Ctrl-C ends it immediately."""

import os
import signal
from types import FrameType


class StopRequest:
    """Request to stop, with its reason."""

    def __init__(self) -> None:
        self.reason: str | None = None
        # While modules load, there is no state to save, so a signal ends the program immediately.
        self.interrupts = True

    def requested(self) -> bool:
        """Return True if a stop was requested."""
        return self.reason is not None

    def interrupt_if_requested(self) -> None:
        """Raise KeyboardInterrupt if the stop was requested before there was a run to stop."""
        if self.requested():
            raise KeyboardInterrupt

    def listen(self) -> None:
        """Install the signal handlers."""
        signal.signal(signal.SIGTERM, self._receive)
        signal.signal(signal.SIGINT, self._receive)

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self.reason = "stopped by Ctrl-C" if number == signal.SIGINT else "stopped by SIGTERM"
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, _end_immediately)
        if self.interrupts:
            raise KeyboardInterrupt


def _end_immediately(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
