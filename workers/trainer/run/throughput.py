"""Meter of training speed."""

from collections import deque

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
