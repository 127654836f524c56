"""Metrics and settings of a run, as the rules read them. Pure arithmetic, without the database."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, Field

from arcadia_backend.metrics.points import Floats, Ints
from arcadia_workers.contract.games import ENVIRONMENTS, Environment

MarkKind = Literal["checkpoint", "fork", "resume", "change", "warning", "anomaly"]
RuleName = Literal[
    "entropy_collapsed",
    "return_collapsed",
    "loss_exploded",
    "not_a_number",
    "no_episode",
    "speed_halved",
    "return_stalled",
    "value_uninformative",
    "layer_dead",
    "gradient_exploded",
    "policy_lag",
    "learning_rate_spent",
    "throughput_lost",
    "reward_scale",
    "epsilon_stuck",
]


class Mark(BaseModel):
    """Something that happened during training, at its place on each axis of a chart."""

    kind: MarkKind
    rule: RuleName | None = Field(default=None, description="Rule that found the anomaly.")
    metric: str | None = Field(default=None, description="Metric with the anomaly.")
    step: int
    frames: int
    seconds: float | None = Field(description="Seconds of training. Null if no metric was reported yet.")
    title: str
    detail: str = ""
    best: bool = Field(default=False, description="Whether it is the best checkpoint.")
    checkpoint_id: int | None = Field(default=None, description="Checkpoint that can be forked.")
    replay_id: int | None = None
    replay_file_id: int | None = Field(default=None, description="Video of the replay.")
    poster_file_id: int | None = None
    run_id: int | None = Field(default=None, description="Run that was forked here, or that caused the anomaly.")


class RunMarks(BaseModel):
    """The marks of a run."""

    run_id: int
    marks: list[Mark] = Field(description="In order of their steps.")


class AnomalyRule(BaseModel):
    """A rule that finds anomalies."""

    name: RuleName
    title: str
    explanation: str
    cause: str | None = Field(default=None, description="Why it happens. Null for events that need no diagnosis.")


MAX_SAMPLES = 400
# Fewer samples are not judged.
FEWEST_SAMPLES = 20
# A curve is compared in this many parts.
PARTS = 10
# A lasting condition holds for this share of the samples, until the last one.
LASTING_SHARE = 0.05
# The speed of a run is not judged before this time of training.
STARTUP_SECONDS = 60.0


@dataclass(frozen=True)
class Samples:
    """Values of a metric in order, with the step and the seconds of training of each."""

    steps: Ints
    seconds: Floats
    values: Floats

    def merged(self) -> "Samples":
        """Return means of consecutive values if there are too many. The place of a mean is that of its first value."""
        if len(self.values) <= MAX_SAMPLES:
            return self
        starts = np.linspace(0, len(self.values), MAX_SAMPLES, endpoint=False).astype(np.int64)
        counts = np.diff(starts, append=len(self.values))
        return Samples(self.steps[starts], self.seconds[starts], np.add.reduceat(self.values, starts) / counts)

    def since(self, step: int) -> "Samples":
        """Return the samples from a step on."""
        first = int(np.searchsorted(self.steps, step))
        return Samples(self.steps[first:], self.seconds[first:], self.values[first:])

    def after_startup(self) -> "Samples":
        """Return the samples after the first minute. Until then, processes start and the first replays are recorded."""
        first = int(np.searchsorted(self.seconds, STARTUP_SECONDS))
        return Samples(self.steps[first:], self.seconds[first:], self.values[first:])

    def finite(self) -> "Samples":
        """Return the samples whose values are neither NaN nor infinite."""
        kept = np.isfinite(self.values)
        return self if kept.all() else Samples(self.steps[kept], self.seconds[kept], self.values[kept])


@dataclass(frozen=True)
class Signals:
    """The metrics of a run by name, and its configuration."""

    series: Mapping[str, Samples]
    # The configuration of a reported run may have any fields, or none.
    config: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, metric: str) -> Samples:
        return self.series[metric]

    def has(self, *metrics: str) -> bool:
        """Return True if there are enough samples of each metric to judge it."""
        return all(name in self.series and len(self.series[name].values) >= FEWEST_SAMPLES for name in metrics)

    def number(self, name: str) -> float | None:
        """Return a setting that is a number, or None."""
        value = self.config.get(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    @property
    def environment(self) -> Environment | None:
        """The environment, or None if Arcadia does not know it."""
        return ENVIRONMENTS.get(str(self.config.get("env")))

    def is_solved(self, returns: Floats) -> bool:
        """Return True if the mean of these returns solves the environment."""
        solved_at = self.environment.solved_at if self.environment else None
        return solved_at is not None and len(returns) > 0 and float(returns.mean()) >= solved_at

    def finite(self) -> "Signals":
        """Return the signals without values that are NaN or infinite."""
        return replace(self, series={name: samples.finite() for name, samples in self.series.items()})


@dataclass(frozen=True)
class Anomaly:
    """An anomaly, and the steps that show it."""

    rule: RuleName
    metric: str
    step: int
    seconds: float
    title: str
    detail: str
    last_step: int


def ends(values: Floats) -> tuple[Floats, Floats]:
    """Return the first and the last part of the values."""
    parts = np.array_split(values, PARTS)
    return parts[0], parts[-1]


FindAnomalies = Callable[[Signals], Iterator[Anomaly]]


def start_of_lasting(holds: np.typing.NDArray[np.bool]) -> int | None:
    """Return the first place from which the condition holds until the end, if that part is long enough."""
    failing = np.flatnonzero(~holds)
    start = int(failing[-1]) + 1 if len(failing) else 0
    return start if len(holds) - start >= max(3, LASTING_SHARE * len(holds)) else None


def anomaly_at(metric: str, samples: Samples, at: int, rule: RuleName, title: str, detail: str) -> Anomaly:
    """Return an anomaly that begins at a sample and lasts until the last one."""
    return Anomaly(
        rule, metric, int(samples.steps[at]), float(samples.seconds[at]), title, detail, int(samples.steps[-1])
    )
