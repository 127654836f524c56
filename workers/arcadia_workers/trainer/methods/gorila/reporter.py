"""Counts of the roles' work, and reports to the run: progress, episodes, hosts and metrics."""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pydantic import JsonValue

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.contract.events import RolePlace
from arcadia_workers.trainer.environments.own_environment import FinishedEpisode
from arcadia_workers.trainer.methods.gorila.parameter_server import ShardTally
from arcadia_workers.trainer.run.run import TrainingRun

Activity = Literal["acting", "learning", "waiting"]

# Work arrives several times per second. Fractions of a shorter time would be too noisy.
METRICS_SECONDS = 1.0
# When a host is lost, its roles are noticed one after another. Their new hosts are reported together.
PLACES_SECONDS = 1.0
# The smallest staleness of each class of the histogram.
STALENESS = (0, 1, 4, 16, 64, 256)


def _zeros() -> defaultdict[str, float]:
    return defaultdict(float)


@dataclass
class WorkRecord:
    """Counts of an actor, a learner or a bundle during one order."""

    steps: int = 0
    # Each episode with the number of steps after which it ended.
    episodes: list[tuple[int, FinishedEpisode]] = field(default_factory=list)
    gradients: int = 0
    outliers: int = 0
    # Sums over all gradients, among them the losses.
    measures: defaultdict[str, float] = field(default_factory=_zeros)
    seconds: defaultdict[str, float] = field(default_factory=_zeros)
    bytes_pushed: int = 0
    bytes_pulled: int = 0
    # At the end of the order: the global updates seen, ε, and the fill of a bundle's replay memory.
    updates: int = 0
    epsilon: float = 1.0
    fill: float | None = None
    # A learner's measurements of its network, if they were due.
    network: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, activity: Activity) -> Iterator[None]:
        """Add the time of an activity."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[activity] += time.perf_counter() - began

    def step(self, ended: FinishedEpisode | None) -> None:
        """Count a step, and the episode that ended with it."""
        self.steps += 1
        if ended:
            self.episodes.append((self.steps, ended))

    def gradient(self, measures: Mapping[str, float]) -> None:
        """Count a sent gradient, and add its measures."""
        self.gradients += 1
        for name, value in measures.items():
            self.measures[name] += value


@dataclass(frozen=True)
class Stock:
    """Contents of a shard of the global replay memory, and its busy time since the last request."""

    transitions: int
    fill: float
    busy_seconds: float


@dataclass
class CrewWork:
    """Work of all roles between two calls of `take_work`, with the latest stock of each shard."""

    # Each episode with the global step at which it ended.
    episodes: list[tuple[int, FinishedEpisode]] = field(default_factory=list)
    records: list[WorkRecord] = field(default_factory=list)
    tally: ShardTally = field(default_factory=ShardTally)
    stocks: dict[int, Stock] = field(default_factory=dict)
    stock_seconds: float = 0.0

    def __add__(self, later: "CrewWork") -> "CrewWork":
        return CrewWork(
            self.episodes + later.episodes,
            self.records + later.records,
            self.tally + later.tally,
            self.stocks | later.stocks,
            self.stock_seconds + later.stock_seconds,
        )


class Workers(Protocol):
    """Interface of a crew for the reporter."""

    step: int
    updates: int

    @property
    def places(self) -> list[RolePlace]:
        """The host of each role."""
        ...

    def take_work(self) -> CrewWork:
        """Return the work done since the last call."""
        ...


class Reporter:
    """Reporter that sums up the crew's work for the run."""

    def __init__(self, run: TrainingRun, config: GorilaConfig, updates: int, facts: Mapping[str, JsonValue]) -> None:
        self._run, self._config, self._updates = run, config, updates
        self._stale, self._outliers = (float(str(facts.get(name, 0))) for name in ("stale", "outliers"))
        self._work, self._since = CrewWork(), time.monotonic()
        self._places: list[RolePlace] = []
        self._placed = -math.inf

    @property
    def facts(self) -> dict[str, JsonValue]:
        """The counts that a checkpoint stores and the next attempt continues."""
        return {"stale": self._stale, "outliers": self._outliers}

    def report(self, crew: Workers, last: bool = False) -> None:
        """Report progress and finished episodes, hosts after a change, and metrics when they are due."""
        run, frames_per_step = self._run, self._config.environment.frames_per_step
        work = crew.take_work()
        for step, episode in work.episodes:
            run.episode(step, step * frames_per_step, episode.episode_return, episode.length)
        run.advance(crew.step, crew.step * frames_per_step, crew.updates - self._updates)
        self._updates = crew.updates
        self._work += work
        # Each shard accepts or discards its part of a gradient.
        self._stale += work.tally.discarded / self._config.num_shards
        self._outliers += sum(record.outliers for record in work.records)
        now, places = time.monotonic(), crew.places
        if places != self._places and (last or now - self._placed >= PLACES_SECONDS):
            self._places, self._placed = places, now
            run.roles(places)
        if now - self._since >= METRICS_SECONDS and self._work.records and run.metrics_due():
            run.metrics({**self._metrics(), "gorila/lost_roles": sum(place.times_lost for place in places)})

    def _metrics(self) -> dict[str, float]:
        """Compute the metrics of the work since the last metrics."""
        work, now = self._work, time.monotonic()
        seconds, self._since, self._work = now - self._since, now, CrewWork()
        values = {
            "gorila/discarded_stale": self._stale,
            "gorila/discarded_outlier": float(self._outliers),
            **rates(work, self._config, seconds),
        }
        fills = [record.fill for record in work.records if record.fill is not None]
        if self._config.mode == "free":
            fills = [stock.fill for stock in work.stocks.values()]
        if fills:
            values["gorila/replay_fill"] = sum(fills) / len(fills)
        if acting := [record for record in work.records if record.steps]:
            values["train/epsilon"] = sum(record.epsilon for record in acting) / len(acting)
        for record in work.records:  # the learners' networks are nearly the same, so one measurement represents all
            values |= record.network
        return values | means(work.records) | histogram(work.tally.staleness)


def rates(work: CrewWork, config: GorilaConfig, seconds: float) -> dict[str, float]:
    """Return the busy fraction of each kind of role, and the bytes moved per second."""
    records = work.records

    def busy(worked: float, roles: int) -> float:
        return min(1.0, worked / (seconds * roles))

    values = {
        "gorila/actor_busy": busy(sum(record.seconds["acting"] for record in records), config.num_actors),
        "gorila/learner_busy": busy(sum(record.seconds["learning"] for record in records), config.num_learners),
        "gorila/shard_busy": busy(work.tally.busy_seconds, config.num_shards),
        "gorila/bytes_pushed_per_second": sum(record.bytes_pushed for record in records) / seconds,
        "gorila/bytes_pulled_per_second": sum(record.bytes_pulled for record in records) / seconds,
    }
    if config.mode == "free":
        values["gorila/replay_busy"] = busy(work.stock_seconds, config.num_replays)
    return values


def means(records: list[WorkRecord]) -> dict[str, float]:
    """Average the measures, among them the loss, over all gradients."""
    gradients = sum(record.gradients for record in records)
    sums = _zeros()
    for record in records:
        for name, value in record.measures.items():
            sums[name] += value
    return {name: total / gradients for name, total in sums.items()}


def histogram(staleness: Counter[int]) -> dict[str, float]:
    """Return the mean staleness of the gradients, and the number in each class."""
    count = staleness.total()
    if not count:
        return {}
    values = {"gorila/staleness": sum(updates * times for updates, times in staleness.items()) / count}
    for first, following in zip(STALENESS, (*STALENESS[1:], None), strict=True):
        updates_in_class = sum(
            n for updates, n in staleness.items() if updates >= first and (following is None or updates < following)
        )
        values[class_name(first, following)] = updates_in_class
    return values


def class_name(first: int, following: int | None) -> str:
    """Return the metric of a class: staleness from `first` up to, but excluding, `following`."""
    if following is None:
        return f"gorila/staleness_{first}_and_more"
    return f"gorila/staleness_{first}" if following == first + 1 else f"gorila/staleness_{first}_to_{following - 1}"
