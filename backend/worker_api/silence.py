"""How long leases have gone unrenewed, by a clock that neither jumps nor counts the time that the machine slept.

A lease's end in the database is wall time, since several backends may renew it. A machine that was suspended, or whose
clock was set, finds every lease expired although no worker was ever silent. So a run is only taken back once its lease
has been seen unrenewed for a while: a quarter of a lease if it has expired, else a whole one.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

Held = tuple[int, int]  # run and attempt


class Silence:
    """What one sweeper has seen of the leases."""

    def __init__(self, lease_seconds: float, sweep_seconds: float, clock: Callable[[], float]) -> None:
        self._lease, self._patience, self._clock = lease_seconds, lease_seconds / 4, clock
        # A sweeper that was away for longer has been asleep itself, and heard nobody.
        self._longest_gap = sweep_seconds + self._patience
        self._looked_at = clock()
        self._since: dict[Held, tuple[datetime, float]] = {}

    def silent(self, leases: Mapping[Held, datetime], now: datetime) -> list[Held]:
        """Look at all leases there are, and return those to end."""
        moment = self._clock()
        if moment - self._looked_at > self._longest_gap:
            self._since.clear()
        self._looked_at = moment
        before = self._since
        self._since = {held: _first_seen(before.get(held), end, moment) for held, end in leases.items()}
        return [
            held
            for held, (end, since) in self._since.items()
            if moment - since >= (self._patience if end < now else self._lease)
        ]


def _first_seen(before: tuple[datetime, float] | None, end: datetime, moment: float) -> tuple[datetime, float]:
    return before if before is not None and before[0] == end else (end, moment)
