"""Cost of a study: its runs, their steps, and the time that they take at the rates measured here."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from backend.configuration.configs import queue_for
from backend.database.columns import utc_now
from backend.runs.speed import (
    RunKind,
    kind_label,
    measure,
    seconds_before_training,
    startup_seconds,
)
from backend.studies.points import Draw, point_config
from backend.studies.specification import Specification
from backend.workers.presence import connected_workers
from workers.contract.config import RunConfig

# Points in the sample that the cost is estimated from.
MAX_SAMPLED_POINTS = 200
# Default for the time that a run holds a worker before and after its training.
DEFAULT_OVERHEAD_SECONDS = 15.0


@dataclass(frozen=True)
class Cost:
    """Cost of all runs. `seconds` is elapsed time, or None if some kind of run was never measured here."""

    points: int
    runs: int
    steps: int
    seconds: float | None
    concurrent_runs: int
    # Labels of run kinds that have not trained here yet.
    unmeasured: list[str]
    # Labels of run kinds whose rate is taken from similar environments.
    estimated: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        time = "" if self.seconds is None else f" and about {_duration(self.seconds)}"
        return f"{self.runs:,} runs with {self.steps:,} steps{time}"


def estimate_cost(session: Session, spec: Specification, draws: Sequence[Draw], points: int) -> Cost:
    """Estimate the largest cost of this number of points from a sample of them."""
    sample = draws[:: max(1, len(draws) // MAX_SAMPLED_POINTS)]
    found = [point_config(spec, draw, spec.seeds[0]) for draw in sample]
    runs = points * spec.seed_limit
    steps: Counter[RunKind] = Counter()
    for config in found:
        steps[config.algorithm, config.env] += config.total_steps
    measured = {(algorithm, env): measure(session, algorithm, env) for algorithm, env in steps}
    rates = {kind: each.steps_per_second for kind, each in measured.items() if each}
    concurrent = _concurrent_runs(session, found, spec.max_concurrent_runs)
    seconds = None
    if len(rates) == len(steps):
        overheads = {algorithm: _overhead(session, algorithm) for algorithm, _ in steps}
        training = sum(count / rates[kind] for kind, count in steps.items())
        overhead = sum(seconds_before_training(config) + overheads[config.algorithm] for config in found)
        seconds = (training + overhead) * runs / len(found) / concurrent
    unmeasured = [kind_label(kind) for kind, each in measured.items() if each is None]
    estimated = [kind_label(kind) for kind, each in measured.items() if each and not each.is_exact]
    return Cost(points, runs, steps.total() * runs // len(found), seconds, concurrent, unmeasured, estimated)


def _overhead(session: Session, algorithm: str) -> float:
    seconds = startup_seconds(session, algorithm)
    return DEFAULT_OVERHEAD_SECONDS if seconds is None else seconds


def _concurrent_runs(session: Session, configs: Iterable[RunConfig], max_concurrent_runs: int) -> int:
    """Return how many runs can train concurrently, limited by the connected workers of their queues."""
    queues = {queue_for(config) for config in configs}
    here = [worker for worker in connected_workers(session, utc_now()) if worker.queue in queues]
    return max(1, min(max_concurrent_runs, len(here)))


def _duration(seconds: float) -> str:
    if seconds < 5_400:
        return f"{max(1, round(seconds / 60)):,} min"
    return f"{seconds / 3_600:,.1f} h" if seconds < 360_000 else f"{seconds / 86_400:,.0f} days"
