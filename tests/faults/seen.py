"""Results of a storm: counts, recovery times and faults."""

import os
import statistics
from collections import Counter
from dataclasses import dataclass, field, fields

from tests.faults.gusts import PARTS, Part
from tests.journals import Count

LONGEST_WANTED_SECONDS = 30.0
# For a machine on which many other programs run.
CROWDED_LOAD, LONGEST_WANTED_CROWDED_SECONDS = 20.0, 60.0


@dataclass(frozen=True)
class Phases:
    """Seconds of each phase of a worker's recovery, from the kill to the acknowledgment of new points."""

    claim: float
    process: float
    load: float
    train: float
    deliver: float

    @classmethod
    def between(cls, moments: tuple[float, ...]) -> "Phases":
        """Return the times between six moments. A phase that ended before the kill took no time."""
        first, *others = moments
        taken = []
        for moment in others:
            taken.append(max(0.0, moment - first))
            first = max(first, moment)
        return cls(*taken)

    def __str__(self) -> str:
        return ", ".join(f"{name} {seconds:.1f} s" for name, seconds in vars(self).items())


@dataclass
class Seen:
    """Counts of events, and a description of every fault."""

    kills: Counter[Part] = field(default_factory=Counter)
    ways_back: list[tuple[Part, float]] = field(default_factory=list)
    phases: list[tuple[Part, Phases]] = field(default_factory=list)
    evaluations: Counter[str] = field(default_factory=Counter)
    evaluations_wrong: list[str] = field(default_factory=list)
    points: Count = field(default_factory=Count)
    # The number of points that scripts logged.
    logged: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)

    @property
    def longest(self) -> float:
        """Return the longest recovery time."""
        return max((seconds for _, seconds in self.ways_back), default=0.0)

    @property
    def wanted(self) -> float:
        """Return the longest acceptable recovery time at this load."""
        crowded = self.loads and statistics.mean(self.loads) >= CROWDED_LOAD
        return LONGEST_WANTED_CROWDED_SECONDS if crowded else LONGEST_WANTED_SECONDS

    def faults(self) -> list[str]:
        """Return all faults."""
        kinds = {
            "lost": self.points.lost,
            "doubled": self.points.doubled,
            "journal never seen": self.points.unseen,
            "evaluation": self.evaluations_wrong,
            "failed": self.failed,
            "stuck": self.stuck,
            "orphan": self.orphans,
        }
        late = [f"{seconds:.1f} s after the kill of {part}" for part, seconds in self.ways_back]
        too_late = [reported for reported, (_, took) in zip(late, self.ways_back, strict=True) if took > self.wanted]
        return [f"{kind}: {what}" for kind, all_of_it in (kinds | {"late": too_late}).items() for what in all_of_it]

    def report(self) -> str:
        """Return the tables, one line of counts, and the conditions."""
        return "\n".join([*self._table(), *self._table_of_phases(), self._counts(), *self._conditions()])

    def _table(self) -> list[str]:
        rows = [f"{'part':<8} | kills | ways back | median | longest"]
        for part in PARTS:
            own = [seconds for last, seconds in self.ways_back if last == part]
            took = f"{statistics.median(own):4.1f} s | {max(own):5.1f} s" if own else f"{'':6} |"
            rows.append(f"{part:<8} | {self.kills[part]:5} | {len(own):9} | {took}")
        return rows

    def _table_of_phases(self) -> list[str]:
        """Return the median seconds of each phase of the slowest worker, by the last killed part."""
        names = [each.name for each in fields(Phases)]
        rows = [" | ".join(["phases  ", *(f"{name:>8}" for name in names)])]
        for part in PARTS:
            if own := [phases for last, phases in self.phases if last == part]:
                medians = (statistics.median(getattr(phases, name) for phases in own) for name in names)
                rows.append(" | ".join([f"{part:<8}", *(f"{median:6.1f} s" for median in medians)]))
        return rows

    def _counts(self) -> str:
        median = statistics.median([seconds for _, seconds in self.ways_back] or [0.0])
        return (
            f"kills {self.kills.total()}, lost {len(self.points.lost)}, doubled {len(self.points.doubled)}, "
            f"stuck {len(self.stuck)}, orphans {len(self.orphans)}, longest way back {self.longest:.1f} s "
            f"(wanted: {self.wanted:g} s), median {median:.1f} s"
        )

    def _conditions(self) -> list[str]:
        load = f"{statistics.mean(self.loads):.1f}, at most {max(self.loads):.1f}" if self.loads else "unknown"
        return [
            f"evaluations: {_reported(self.evaluations)}",
            f"{self.points.written} points of runs: {_reported(self.runs)}; {self.logged} points of scripts",
            f"what a user did: {_reported(self.actions)}",
            f"load average {load}, on {os.cpu_count()} cores",
        ]


def _reported(counted: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counted.items())) or "nothing"
