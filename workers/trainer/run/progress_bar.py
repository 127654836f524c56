"""Progress of a run on the console: a line that updates on a terminal, plain lines elsewhere."""

import contextlib
import shutil
import time
from dataclasses import dataclass
from typing import TextIO

PLAIN_LINE_SECONDS = 10.0
TERMINAL_SECONDS = 0.25
BAR_CELLS = 24


@dataclass(frozen=True)
class RunProgress:
    """Progress of a run."""

    step: int
    total_steps: int
    steps_per_second: float
    frames_per_second: float
    return_mean: float | None

    @property
    def seconds_left(self) -> float | None:
        """The time to the last step at the current rate."""
        if self.steps_per_second <= 0:
            return None
        return max(0, self.total_steps - self.step) / self.steps_per_second


class ProgressBar:
    """Display of a run's progress."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._encoding = stream.encoding or "utf-8"
        self._terminal = stream.isatty()
        self._interval = TERMINAL_SECONDS if self._terminal else PLAIN_LINE_SECONDS
        self._next = time.monotonic() + self._interval
        self._shown = ""

    def show(self, standing: RunProgress) -> None:
        """Show the progress if the interval has passed."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._interval
        if self._terminal:
            self._shown = with_bar(standing)[: shutil.get_terminal_size().columns - 1]
            self._write(f"\r{self._shown}\x1b[K")
        else:
            self.line(in_words(standing))

    def line(self, text: str) -> None:
        """Print a permanent line above the bar."""
        if self._shown:
            self._write("\r\x1b[K")
        self._write(f"{text}\n{self._shown}")

    def close(self) -> None:
        """Leave the last bar and go to the next line."""
        if self._shown:
            self._write("\n")
            self._shown = ""

    def _write(self, text: str) -> None:
        # Training continues if the output is closed or its disk is full.
        with contextlib.suppress(OSError):
            # A terminal without UTF-8 shows a question mark for each cell of the bar.
            self._stream.write(text.encode(self._encoding, "replace").decode(self._encoding))
            self._stream.flush()


def in_words(standing: RunProgress) -> str:
    """Return the progress as one plain line."""
    parts = [
        f"{standing.step:,} of {standing.total_steps:,} steps",
        f"{standing.steps_per_second:,.0f} steps/s",
        f"{standing.frames_per_second:,.0f} frames/s",
    ]
    if standing.return_mean is not None:
        parts.append(f"return {standing.return_mean:.1f}")
    if standing.seconds_left is not None:
        parts.append(f"{duration(standing.seconds_left)} left")
    return " · ".join(parts)


def with_bar(standing: RunProgress) -> str:
    """Return the progress as a bar followed by the plain line."""
    share = min(1.0, standing.step / standing.total_steps)
    full = int(share * BAR_CELLS)
    return f"{share:6.1%} {'━' * full}{'─' * (BAR_CELLS - full)} {in_words(standing)}"


def duration(seconds: float) -> str:
    """Format a time span as 2 h 05 min, 3 min 20 s or 4.5 s."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60:,} h {minutes % 60:02d} min"
