"""SIGTERM and Ctrl-C: the run saves and ends; a second Ctrl-C ends it at once."""

import os
import signal
from types import FrameType


class StopRequest:
    """Remembers that somebody wants the run to stop, and who."""

    def __init__(self) -> None:
        self.reason: str | None = None
        # While modules load there is no state to save: the signal ends the program where it stands.
        self.interrupts = True

    def requested(self) -> bool:
        """Say whether the run shall stop."""
        return self.reason is not None

    def interrupt_if_requested(self) -> None:
        """Raise KeyboardInterrupt if the stop was requested before there was a run to stop."""
        if self.requested():
            raise KeyboardInterrupt

    def listen(self) -> None:
        """Take the signals from now on."""
        signal.signal(signal.SIGTERM, self._receive)
        signal.signal(signal.SIGINT, self._receive)

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self.reason = "stopped by Ctrl-C" if number == signal.SIGINT else "stopped by SIGTERM"
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, _end_at_once)
        if self.interrupts:
            raise KeyboardInterrupt


def _end_at_once(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
