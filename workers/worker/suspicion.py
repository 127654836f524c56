"""Finds the one event that the backend fails on, so that it does not hold up all that come after it."""

from workers.contract.worker_api import MOST_EVENTS

# A backend that is being repaired gets this many tries before an event is suspected.
TRIES = 10


class Suspicion:
    """After some failures asks for ever smaller batches, until one event stands alone."""

    def __init__(self) -> None:
        self.most = MOST_EVENTS
        self._failures = 0
        self._until = 0  # the last event of the batch that failed first

    def proven(self, first: int, last: int) -> bool:
        """Note that the backend failed on a batch, and say whether its one event is to be left out."""
        if self._failures == 0:
            self._until = last
        self._failures += 1
        if self._failures < TRIES:
            return False
        if first == last:
            return True
        self.most = (last - first + 1) // 2
        return False

    def delivered(self, last: int) -> None:
        """Note that the backend took a batch; beyond the one that failed, trust it again."""
        if last >= self._until:
            self.most, self._failures = MOST_EVENTS, 0
