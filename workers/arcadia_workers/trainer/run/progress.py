"""Progress of a run: its bar, speed, milestones that deserve a checkpoint, and warnings."""

import contextlib
import shutil
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TextIO

from arcadia_workers.contract.metrics import DEAD_UNITS

# The minimum time between milestones. Solving the environment is always one.
MILESTONE_SECONDS = 120.0
# A better mean is a milestone only if it adds this share of the progress so far, so that noise does not count.
CLEAR_IMPROVEMENT = 0.05


class Milestones:
    """Detector of mean returns over a full window that are the first solve or clearly a new best."""

    def __init__(self, solved_at: float | None, best: float | None) -> None:
        self._solved_at = solved_at
        self._best = best
        self._lowest = best
        self._solved = best is not None and self._solves(best)
        self._reached_at: float | None = None

    def is_reached(self, mean: float, now: float) -> bool:
        """Return True if a checkpoint saved now, at this mean, would be a milestone."""
        best = self._best = mean if self._best is None else self._best
        lowest = self._lowest = min(mean, best if self._lowest is None else self._lowest)
        if self.is_first_solve(mean):
            return True
        if self._reached_at is not None and now < self._reached_at + MILESTONE_SECONDS:
            return False
        return mean > best + CLEAR_IMPROVEMENT * (best - lowest)

    def is_first_solve(self, mean: float) -> bool:
        """Return True if this mean solves the environment and none did before."""
        return not self._solved and self._solves(mean)

    def reach(self, mean: float, now: float) -> None:
        """Record that a checkpoint was saved at a milestone."""
        self._best, self._reached_at = mean, now
        self._solved = self._solved or self._solves(mean)

    def _solves(self, mean: float) -> bool:
        return self._solved_at is not None and mean >= self._solved_at


class DeadLayerAlarm:
    """Alarm that warns once about each layer that has died."""

    def __init__(self) -> None:
        self._living = list(DEAD_UNITS)

    def check(self, values: Mapping[str, float]) -> Iterator[str]:
        """Return a warning for each layer whose units are all dead for the first time."""
        for metric in [metric for metric in self._living if values.get(metric.name, 0) >= 1]:
            self._living.remove(metric)
            layer = metric.title.removeprefix("Dead in ")
            yield (
                f"All units of {layer} are dead: no recent state activated them, so the network cannot distinguish "
                "states and no gradient reaches them. This run will hardly learn anything more. Start it again, or "
                "fork it from an earlier checkpoint, with a smaller learning rate, a larger ε in the optimizer or, "
                "where the method has the setting, centered inputs."
            )


WINDOW_SECONDS = 5.0
SHORTEST_SPAN = 0.2


class RateMeter:
    """Steps and updates per second over the last few seconds; 0 until there is a span to measure.

    The time before the first step after `begins_at` does not count, because processes and networks start then.
    """

    def __init__(self, begins_at: int = 0) -> None:
        self._begins_at = begins_at
        self._marks: deque[tuple[float, int, int]] = deque()
        self.steps_per_second = 0.0
        self.updates_per_second = 0.0

    def mark(self, now: float, step: int, updates: int) -> None:
        """Record the current step and number of updates."""
        if step == self._begins_at:
            return
        self._marks.append((now, step, updates))
        while len(self._marks) > 2 and self._marks[1][0] <= now - WINDOW_SECONDS:
            self._marks.popleft()
        since, first_step, first_updates = self._marks[0]
        if now - since >= SHORTEST_SPAN:
            self.steps_per_second = (step - first_step) / (now - since)
            self.updates_per_second = (updates - first_updates) / (now - since)


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
