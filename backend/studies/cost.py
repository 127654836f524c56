"""Cost of a study: its runs, their steps, and the time that they take at the rates measured here."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.configuration.configs import queue_for
from backend.database.columns import utc_now
from backend.database.tables import Attempt, Run
from backend.metrics.visibility import training_seconds
from backend.studies.points import Draw, point_config
from backend.studies.specification import Specification
from backend.workers.presence import connected_workers
from workers.contract.config import RunConfig
from workers.contract.config.ceiling import CeilingFields
from workers.contract.config.problems import title_of
from workers.contract.games import ENVIRONMENTS, env_title

# Points in the sample that the cost is estimated from.
MAX_SAMPLED_POINTS = 200
# Number of newest runs that a rate is measured from.
MAX_MEASURED_RUNS = 20
# Default for the time that a run holds a worker before and after its training.
DEFAULT_OVERHEAD_SECONDS = 15.0

# A method and an environment.
RunKind = tuple[str, str]


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
    """Estimate the cost of this number of points from a sample of them."""
    sample = draws[:: max(1, len(draws) // MAX_SAMPLED_POINTS)]
    found = [point_config(spec, draw, spec.seeds[0]) for draw in sample]
    runs = points * len(spec.seeds)
    steps: Counter[RunKind] = Counter()
    for config in found:
        steps[config.algorithm, config.env] += config.total_steps
    exact = {kind: _steps_per_second(session, kind[0], [kind[1]]) for kind in steps}
    similar = {
        kind: _steps_per_second(session, kind[0], similar_environments(kind[1]))
        for kind, rate in exact.items()
        if not rate
    }
    rates = exact | similar
    concurrent = _concurrent_runs(session, found, spec.max_concurrent_runs)
    seconds = None
    if all(rates.values()):
        overheads = {algorithm: _overhead(session, algorithm) for algorithm, _ in steps}
        training = sum(count / (rates[kind] or 1) for kind, count in steps.items())
        overhead = sum(_before_training(config) + overheads[config.algorithm] for config in found)
        seconds = (training + overhead) * runs / len(found) / concurrent
    unmeasured = [kind_label(kind) for kind, rate in rates.items() if not rate]
    estimated = [kind_label(kind) for kind, rate in similar.items() if rate]
    return Cost(points, runs, steps.total() * runs // len(found), seconds, concurrent, unmeasured, estimated)


def similar_environments(env: str) -> list[str]:
    """Return the environments of the same family with similar observations. Their steps take about as long."""
    like = ENVIRONMENTS.get(env)
    if like is None:
        return [env]
    kind = like.family, like.observations
    return [name for name, each in ENVIRONMENTS.items() if (each.family, each.observations) == kind]


def is_measured(session: Session, algorithm: str, env: str) -> bool:
    """Return True if the rate of a method was measured here, in this environment or in similar ones."""
    return _steps_per_second(session, algorithm, [env, *similar_environments(env)]) is not None


def kind_label(kind: RunKind) -> str:
    """Name a method and its environment."""
    return f"{title_of(kind[0])} on {env_title(kind[1])}"


def _steps_per_second(session: Session, algorithm: str, envs: Sequence[str]) -> float | None:
    """Return the steps per second of the newest runs of a kind, or None if there are none."""
    trained = (Run.origin == "trained", Run.algorithm == algorithm, Run.env.in_(envs), Run.step > 0)
    query = select(Run.id, Run.step, Run.parent_step).where(*trained)
    rows = session.execute(query.order_by(Run.id.desc()).limit(MAX_MEASURED_RUNS)).all()
    seconds = sum(training_seconds(session, [row.id for row in rows]).values())
    steps = sum(row.step - (row.parent_step or 0) for row in rows)
    return steps / seconds if seconds > 0 and steps > 0 else None


def _overhead(session: Session, algorithm: str) -> float:
    """Return the median time that finished runs of a method held a worker without training, in seconds."""
    query = (
        select(Run.id, Run.config, Attempt.claimed_at, Attempt.ended_at)
        .join(Attempt, Attempt.run_id == Run.id)
        .where(Run.origin == "trained", Run.algorithm == algorithm, Run.state == "finished", Run.attempt == 1)
        .where(Attempt.ended_at.is_not(None))
    )
    rows = session.execute(query.order_by(Run.id.desc()).limit(MAX_MEASURED_RUNS)).all()
    trained = training_seconds(session, [row.id for row in rows])
    others = [
        (row.ended_at - row.claimed_at).total_seconds() - trained[row.id] - row.config.get("ceiling_seconds", 0)
        for row in rows
    ]
    return median(max(0.0, seconds) for seconds in others) if others else DEFAULT_OVERHEAD_SECONDS


def _before_training(config: RunConfig) -> float:
    """Return the seconds that a run measures its environments before training."""
    return config.ceiling_seconds if isinstance(config, CeilingFields) else 0.0


def _concurrent_runs(session: Session, configs: Iterable[RunConfig], max_concurrent_runs: int) -> int:
    """Return how many runs can train concurrently, limited by the connected workers of their queues."""
    queues = {queue_for(config) for config in configs}
    here = [worker for worker in connected_workers(session, utc_now()) if worker.queue in queues]
    return max(1, min(max_concurrent_runs, len(here)))


def _duration(seconds: float) -> str:
    if seconds < 5_400:
        return f"{max(1, round(seconds / 60)):,} min"
    return f"{seconds / 3_600:,.1f} h" if seconds < 360_000 else f"{seconds / 86_400:,.0f} days"
