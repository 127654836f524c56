"""Time, memory and cores that runs need on this installation, measured from earlier runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from backend.database.tables import ArchiveImport, Attempt, Run
from backend.metrics.models import MetricSeries
from backend.metrics.visibility import training_seconds
from workers.contract.config import RunConfig
from workers.contract.config.ceiling import CeilingFields
from workers.contract.config.problems import title_of
from workers.contract.games import ENVIRONMENTS, env_title
from workers.contract.worker_api import QueueName

# Number of newest runs that a rate is measured from.
MAX_MEASURED_RUNS = 20
MEMORY, PROCESSOR, GPU_MEMORY = "system/rss_bytes", "system/cpu_percent", "system/gpu_memory_bytes"

# A method and an environment.
RunKind = tuple[str, str]


@dataclass(frozen=True)
class Measured:
    """Measurements of earlier runs of a kind."""

    run_ids: tuple[int, ...]
    steps_per_second: float
    # False if they trained in similar environments.
    is_exact: bool


def _similar_environments(env: str) -> list[str]:
    """Return the environments of the same family with similar observations. Their steps take about as long."""
    like = ENVIRONMENTS.get(env)
    if like is None:
        return [env]
    kind = like.family, like.observations
    return [name for name, each in ENVIRONMENTS.items() if (each.family, each.observations) == kind]


def kind_label(kind: RunKind) -> str:
    """Name a method and its environment."""
    return f"{title_of(kind[0])} on {env_title(kind[1])}"


def measure(session: Session, algorithm: str, env: str, queue: QueueName | None = None) -> Measured | None:
    """Return what runs of a method reached in an environment, or else in similar ones. None if there are no runs."""
    exact = _measure(session, algorithm, [env], queue, is_exact=True)
    return exact or _measure(session, algorithm, _similar_environments(env), queue, is_exact=False)


def _measure(
    session: Session, algorithm: str, envs: Sequence[str], queue: QueueName | None, *, is_exact: bool
) -> Measured | None:
    trained = [*_trained_here(algorithm), Run.env.in_(envs), Run.step > 0]
    if queue is not None:
        trained.append(Run.queue == queue)
    query = select(Run.id, Run.step, Run.parent_step).where(*trained)
    rows = session.execute(query.order_by(Run.id.desc()).limit(MAX_MEASURED_RUNS)).all()
    seconds = sum(training_seconds(session, [row.id for row in rows]).values())
    steps = sum(row.step - (row.parent_step or 0) for row in rows)
    if seconds <= 0 or steps <= 0:
        return None
    return Measured(tuple(row.id for row in rows), steps / seconds, is_exact)


def startup_seconds(session: Session, algorithm: str) -> float | None:
    """Return the median time that finished runs of a method held a worker without training, or None without any."""
    query = (
        select(Run.id, Run.config, Attempt.claimed_at, Attempt.ended_at)
        .join(Attempt, Attempt.run_id == Run.id)
        .where(*_trained_here(algorithm), Run.state == "finished", Run.attempt == 1)
        .where(Attempt.ended_at.is_not(None))
    )
    rows = session.execute(query.order_by(Run.id.desc()).limit(MAX_MEASURED_RUNS)).all()
    trained = training_seconds(session, [row.id for row in rows])
    others = [
        (row.ended_at - row.claimed_at).total_seconds() - trained[row.id] - row.config.get("ceiling_seconds", 0)
        for row in rows
    ]
    return median(max(0.0, seconds) for seconds in others) if others else None


def _trained_here(algorithm: str) -> list[ColumnElement[bool]]:
    """Return the conditions for runs of a method that trained on this installation's hosts."""
    imported = select(ArchiveImport.run_id)
    return [Run.origin == "trained", Run.algorithm == algorithm, Run.id.not_in(imported)]


def seconds_before_training(config: RunConfig) -> float:
    """Return the seconds that a run measures its environments before training."""
    return config.ceiling_seconds if isinstance(config, CeilingFields) else 0.0


def peak(session: Session, run_ids: Sequence[int], metric: str) -> float | None:
    """Return the largest value of a metric in these runs, or None if none reported it."""
    series = (MetricSeries.run_id.in_(run_ids), MetricSeries.name == metric)
    return session.scalar(select(func.max(MetricSeries.max)).where(*series))


def typical(session: Session, run_ids: Sequence[int], metric: str) -> float | None:
    """Return the median over runs of the recent mean of a metric, or None if none reported it."""
    series = (MetricSeries.run_id.in_(run_ids), MetricSeries.name == metric, MetricSeries.recent_mean.is_not(None))
    found = [value for value in session.scalars(select(MetricSeries.recent_mean).where(*series)) if value is not None]
    return median(found) if found else None
