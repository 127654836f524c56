"""Detection of events and files that can never be delivered, so that they do not block the others."""

import math
import time

from workers.contract.worker_api import MOST_EVENTS

# The backend gets this many attempts before an event is suspected.
EVENT_ATTEMPTS = 10
# Files get more attempts, for about a minute.
UPLOAD_ATTEMPTS = 25


class FailingEvents:
    """Search for the event that the backend fails on, by halving the batch after repeated failures.

    A backend that fails on everything says nothing about an event. So the backend must have accepted something else
    between two failures on the single event. Otherwise an event would be lost whenever a backend recovers.
    """

    def __init__(self) -> None:
        self.batch_limit = MOST_EVENTS
        self._failures = 0
        self._until = 0  # the last event of the batch that failed first
        self._single, self._failed_at = 0, math.inf  # the event that failed in a batch of one, and when

    def should_skip(self, first: int, last: int, accepted_at: float) -> bool:
        """Record a failed batch. Return True if its only event should be skipped.

        `accepted_at` is when the backend last accepted something else, before this batch.
        """
        if self._failures == 0:
            self._until = last
        self._failures += 1
        if self._failures < EVENT_ATTEMPTS:
            return False
        if first < last:
            self.batch_limit = (last - first + 1) // 2
            return False
        accepted_another = first == self._single and accepted_at > self._failed_at
        self._single, self._failed_at = first, time.monotonic()
        return accepted_another

    def delivered(self, last: int) -> None:
        """Record a delivered batch. After the end of the batch that failed first, use full batches again."""
        if last >= self._until:
            self.batch_limit, self._failures = MOST_EVENTS, 0


class FailingUploads:
    """Counter of a file's failed uploads. A failure counts if the backend accepted something else since the last one.

    A proxy may always reject large bodies. Failures of an unreachable backend do not count.
    """

    def __init__(self) -> None:
        self._path: str | None = None
        self._failures, self._failed_at = 0, math.inf

    def should_skip(self, path: str, accepted_at: float) -> bool:
        """Record a failed upload. Return True if there were too many."""
        if path != self._path:
            self._path, self._failures, self._failed_at = path, 0, math.inf
        self._failures += accepted_at > self._failed_at
        self._failed_at = time.monotonic()
        return self._failures >= UPLOAD_ATTEMPTS
