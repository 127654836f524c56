"""Finds the one event or file that cannot be delivered, so that it does not hold up all that come after it."""

import math
import time

from workers.contract.worker_api import MOST_EVENTS

# A backend that is being repaired gets this many tries before an event is suspected.
TRIES = 10
# A file is worth more: this takes about a minute.
UPLOAD_TRIES = 25


class Suspicion:
    """After some failures asks for ever smaller batches, until one event stands alone.

    A backend that fails on everything proves nothing against that event: between two failures on it alone, the
    backend must have taken something else. Else an event would be lost whenever a backend comes back at that moment.
    """

    def __init__(self) -> None:
        self.most = MOST_EVENTS
        self._failures = 0
        self._until = 0  # the last event of the batch that failed first
        self._alone, self._failed_at = 0, math.inf  # the event that failed alone, and when

    def proven(self, first: int, last: int, heard: float) -> bool:
        """Note that the backend failed on a batch, and say whether its one event is to be left out.

        `heard` is when the backend had last taken something else, before it was given the batch.
        """
        if self._failures == 0:
            self._until = last
        self._failures += 1
        if self._failures < TRIES:
            return False
        if first < last:
            self.most = (last - first + 1) // 2
            return False
        took_another = first == self._alone and heard > self._failed_at
        self._alone, self._failed_at = first, time.monotonic()
        return took_another

    def delivered(self, last: int) -> None:
        """Note that the backend took a batch; beyond the one that failed, trust it again."""
        if last >= self._until:
            self.most, self._failures = MOST_EVENTS, 0


class UploadTries:
    """Counts how often a file could not be handed over although the backend was heard in between.

    A proxy that takes no large bodies refuses it for ever; a backend that is away does not count.
    """

    def __init__(self) -> None:
        self._path: str | None = None
        self._failures, self._failed_at = 0, math.inf

    def exhausted(self, path: str, heard: float) -> bool:
        """Note a failure, and say whether there were enough; `heard` is when the backend last took something else."""
        if path != self._path:
            self._path, self._failures, self._failed_at = path, 0, math.inf
        self._failures += heard > self._failed_at
        self._failed_at = time.monotonic()
        return self._failures >= UPLOAD_TRIES
