"""What the run is told of the roles: who is where, and of their work progress, every episode, and metrics."""

import math
import time
from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from pydantic import JsonValue

from workers.trainer.config import GorilaConfig
from workers.trainer.events import RolePlace
from workers.trainer.gorila.work import Work
from workers.trainer.run import Run

# Work is told of several times a second: shares of less time than this would say little.
METRICS_SECONDS = 1.0
# When a host is gone its roles are found to be lost one after another.
PLACES_SECONDS = 1.0
# Where the classes of the histogram begin.
STALENESS = (0, 1, 4, 16, 64, 256)


class Workers(Protocol):
    """Who does the work that is reported."""

    step: int
    updates: int

    @property
    def places(self) -> list[RolePlace]:
        """Which role runs where."""
        ...

    def take_work(self) -> Work:
        """What was done since the last time."""
        ...


class Reporter:
    """Adds up what the roles tell until metrics are due."""

    def __init__(self, run: Run, config: GorilaConfig, updates: int, facts: Mapping[str, JsonValue]) -> None:
        self._run, self._config, self._updates = run, config, updates
        self._stale, self._outliers = (int(str(facts.get(name, 0))) for name in ("stale", "outliers"))
        self._work, self._since = Work(), time.monotonic()
        self._places: list[RolePlace] = []
        self._placed = -math.inf

    @property
    def facts(self) -> dict[str, JsonValue]:
        """What the next attempt counts on from."""
        return {"stale": self._stale, "outliers": self._outliers}

    def tell(self, crew: Workers, last: bool = False) -> None:
        """Report progress, the episodes that ended, who is where if that has changed, and metrics now and then."""
        run, frames_per_step = self._run, self._config.environment.frames_per_step
        work = crew.take_work()
        for step, episode in work.episodes:
            run.episode(step, step * frames_per_step, episode.episode_return, episode.length)
        run.advance(crew.step, crew.step * frames_per_step, crew.updates - self._updates)
        self._updates = crew.updates
        self._work += work
        self._stale += work.tally.discarded
        self._outliers += sum(report.outliers for report in work.reports)
        now, places = time.monotonic(), crew.places
        if places != self._places and (last or now - self._placed >= PLACES_SECONDS):
            self._places, self._placed = places, now
            run.roles(places)
        if now - self._since >= METRICS_SECONDS and self._work.reports and run.metrics_due():
            run.metrics({**self._metrics(), "gorila/lost_roles": sum(place.times_lost for place in places)})

    def _metrics(self) -> dict[str, float]:
        """What happened since the last metrics."""
        config, work, now = self._config, self._work, time.monotonic()
        seconds, self._since, self._work = now - self._since, now, Work()
        tally, reports = work.tally, work.reports
        acting = [report for report in reports if report.steps]

        def share(activity: str, roles: int) -> float:
            return min(1.0, sum(report.seconds[activity] for report in reports) / (seconds * roles))

        values = {
            "gorila/discarded_stale": float(self._stale),
            "gorila/discarded_outlier": float(self._outliers),
            "gorila/actor_busy": share("acting", config.num_actors),
            "gorila/learner_busy": share("learning", config.num_learners),
            "gorila/shard_busy": min(1.0, tally.busy_seconds / (seconds * config.num_shards)),
            "gorila/bytes_pushed_per_second": sum(report.bytes_pushed for report in reports) / seconds,
            "gorila/bytes_pulled_per_second": sum(report.bytes_pulled for report in reports) / seconds,
        }
        fills = [report.fill for report in reports if report.fill is not None]
        if config.mode == "free":
            values["gorila/replay_busy"] = min(1.0, work.stock_seconds / (seconds * config.num_replays))
            fills = [stock.fill for stock in work.stocks.values()]
        if fills:
            values["gorila/replay_fill"] = sum(fills) / len(fills)
        if gradients := sum(report.gradients for report in reports):
            for name in reports[0].measures | {name: 0 for report in reports for name in report.measures}:
                values[name] = sum(report.measures[name] for report in reports) / gradients
        if acting:
            values["train/epsilon"] = sum(report.epsilon for report in acting) / len(acting)
        return values | histogram(tally.staleness)


def histogram(staleness: Counter[int]) -> dict[str, float]:
    """The mean staleness of the gradients that came in, and how many there were of each class."""
    count = staleness.total()
    if not count:
        return {}
    values = {"gorila/staleness": sum(updates * times for updates, times in staleness.items()) / count}
    for first, following in zip(STALENESS, (*STALENESS[1:], None), strict=True):
        found = sum(
            n for updates, n in staleness.items() if updates >= first and (following is None or updates < following)
        )
        values[class_name(first, following)] = found
    return values


def class_name(first: int, following: int | None) -> str:
    """The metric of the gradients from one staleness up to another."""
    if following is None:
        return f"gorila/staleness_{first}_and_more"
    return f"gorila/staleness_{first}" if following == first + 1 else f"gorila/staleness_{first}_to_{following - 1}"
