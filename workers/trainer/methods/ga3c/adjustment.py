"""GA3C's dynamic adjustment of the numbers of agents, predictors and trainers (its section 4.3)."""

from dataclasses import asdict, dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Counts:
    """The numbers of agents, predictors and trainers: N_A, N_P and N_T."""

    agents: int
    predictors: int
    trainers: int

    def neighbors(self, most: "Counts") -> list["Counts"]:
        """Return all settings that differ by one in one number, between 1 and `most`."""
        limits = asdict(most)
        return [
            replace(self, **{name: number + change})
            for name, number in asdict(self).items()
            for change in (-1, 1)
            if 1 <= number + change <= limits[name]
        ]

    def within(self, most: "Counts") -> "Counts":
        """Lower each number to its limit."""
        limits = asdict(most)
        return Counts(**{name: min(number, limits[name]) for name, number in asdict(self).items()})


class Adjustment:
    """Search that tries a neighbor of the current setting, and keeps it if it makes more updates per second.

    After a failed trial, the old setting is measured again. If the machine has become slower, every later trial would
    fail against an outdated rate.
    """

    def __init__(self, counts: Counts, most: Counts, seconds: float, random: np.random.Generator) -> None:
        self.counts = counts
        self._most, self._seconds, self._random = most, seconds, random
        self._begun: tuple[float, int] | None = None
        self._before: Counts | None = None
        self._rate = 0.0

    @property
    def kept(self) -> Counts:
        """The best setting so far, without the one on trial."""
        return self._before or self.counts

    def observe(self, now: float, updates: int) -> None:
        """Record the current number of updates. Call it regularly from the first update on."""
        if self._begun is None:
            self._begun = now, updates
        began, first = self._begun
        if now - began < self._seconds:
            return
        self._begun = now, updates
        self._decide((updates - first) / (now - began))

    def _decide(self, rate: float) -> None:
        if self._before is not None and rate <= self._rate:
            self.counts, self._before = self._before, None
            return
        self._rate, self._before = rate, self.counts
        neighbors = self.counts.neighbors(self._most)
        self.counts = neighbors[self._random.integers(len(neighbors))]
