"""What a crew did, on its way to the run's metrics."""

from dataclasses import dataclass, field

from workers.trainer.gorila.parameter_server import Tally
from workers.trainer.gorila.report import Report
from workers.trainer.own_environment import Episode


@dataclass(frozen=True)
class Stock:
    """How much a shard of the global replay memory holds, and how long it was busy since it was last asked."""

    transitions: int
    fill: float
    busy_seconds: float


@dataclass
class Work:
    """What all roles together did in some time; stocks are as they were last heard of."""

    # With the step that each ended at.
    episodes: list[tuple[int, Episode]] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    stocks: dict[int, Stock] = field(default_factory=dict)
    stock_seconds: float = 0.0

    def __add__(self, later: "Work") -> "Work":
        return Work(
            self.episodes + later.episodes,
            self.reports + later.reports,
            self.tally + later.tally,
            self.stocks | later.stocks,
            self.stock_seconds + later.stock_seconds,
        )
