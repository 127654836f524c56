"""Detection of silent workers by a monotonic clock, which does not jump and stops while the machine is suspended.

The end of a lease in the database is wall time, since several backends may renew it. After a suspend or a clock change
every lease may look expired although no worker was silent. So an attempt only ends after its lease was seen unchanged
for some time: a quarter of a lease if it has expired, otherwise a whole lease.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

Held = tuple[int, int]  # id of the run or job, and attempt


class SilenceDetector:
    """Record of how long one sweeper has seen each lease unchanged."""

    def __init__(self, lease_seconds: float, sweep_seconds: float, clock: Callable[[], float]) -> None:
        self._lease_limit, self._expired_limit, self._clock = lease_seconds, lease_seconds / 4, clock
        # After a longer gap this process was suspended itself, so its observations are worthless.
        self._longest_gap = sweep_seconds + self._expired_limit
        self._last_check = clock()
        self._since: dict[Held, tuple[datetime, float]] = {}

    @property
    def is_watching(self) -> bool:
        """True if there was a lease at the last check."""
        return bool(self._since)

    def silent(self, leases: Mapping[Held, datetime], now: datetime) -> list[Held]:
        """Record all current leases, and return the attempts to end."""
        monotonic = self._clock()
        if monotonic - self._last_check > self._longest_gap:
            self._since.clear()
        self._last_check = monotonic
        before = self._since
        self._since = {held: _first_seen(before.get(held), end, monotonic) for held, end in leases.items()}
        return [
            held
            for held, (end, since) in self._since.items()
            if monotonic - since >= (self._expired_limit if end < now else self._lease_limit)
        ]


def _first_seen(before: tuple[datetime, float] | None, end: datetime, monotonic: float) -> tuple[datetime, float]:
    return before if before is not None and before[0] == end else (end, monotonic)
