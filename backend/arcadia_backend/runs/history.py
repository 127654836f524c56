"""Measurements of earlier runs of a kind: their durations and rates, and what they used."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import ArchiveImport, Attempt, Run
from arcadia_backend.metrics.points import MetricSeries, training_seconds
from arcadia_backend.runs.starts import PastRun
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import ENVIRONMENTS, env_title
from arcadia_workers.contract.worker_api import ENDED, QueueName

# Number of newest runs that a rate is measured from.
MAX_MEASURED_RUNS = 20

MEMORY, PROCESSOR, GPU_MEMORY = "system/rss_bytes", "system/cpu_percent", "system/gpu_memory_bytes"

# A method and an environment.
RunKind = tuple[str, str]


def similar_environments(env: str) -> list[str]:
    """Return the environments of the same family with similar observations. Their steps take about as long."""
    like = ENVIRONMENTS.get(env)
    if like is None:
        return [env]
    kind = like.family, like.observations
    return [name for name, each in ENVIRONMENTS.items() if (each.family, each.observations) == kind]


def trained_here(algorithm: str) -> list[ColumnElement[bool]]:
    """Return the conditions for runs of a method that trained on this installation's hosts."""
    imported = select(ArchiveImport.run_id)
    return [Run.origin == "trained", Run.algorithm == algorithm, Run.id.not_in(imported)]


def startup_seconds(session: Session, algorithm: str) -> float | None:
    """Return the median time that finished runs of a method held a worker without training, or None without any."""
    query = (
        select(Run.id, Run.config, Attempt.claimed_at, Attempt.ended_at)
        .join(Attempt, Attempt.run_id == Run.id)
        .where(*trained_here(algorithm), Run.state == "finished", Run.attempt == 1)
        .where(Attempt.ended_at.is_not(None))
    )
    rows = session.execute(query.order_by(Run.id.desc()).limit(MAX_MEASURED_RUNS)).all()
    trained = training_seconds(session, [row.id for row in rows])
    others = [
        (row.ended_at - row.claimed_at).total_seconds() - trained[row.id] - row.config.get("ceiling_seconds", 0)
        for row in rows
    ]
    return median(max(0.0, seconds) for seconds in others) if others else None


def past_runs(session: Session, kind: RunKind, queue: QueueName) -> list[PastRun]:
    """Return the newest ended runs of a kind, or else of the method in similar environments."""
    algorithm, env = kind
    return _past_runs(session, algorithm, [env], queue) or _past_runs(
        session, algorithm, similar_environments(env), queue
    )


def _past_runs(session: Session, algorithm: str, envs: Sequence[str], queue: QueueName) -> list[PastRun]:
    columns = (Run.id, Run.step, Run.parent_step, Run.total_steps, Run.worker)
    query = select(*columns).where(*trained_here(algorithm), Run.env.in_(envs), Run.queue == queue)
    # A run that ended without an attempt was stopped in the queue.
    query = query.where(Run.state.in_(ENDED), Run.attempt > 0, Run.total_steps.is_not(None))
    rows = session.execute(query.order_by(Run.id.desc()).limit(MAX_MEASURED_RUNS)).all()
    seconds = training_seconds(session, [row.id for row in rows])
    found: list[tuple[float | None, float, str | None]] = []
    for row in rows:
        done, planned = row.step - (row.parent_step or 0), row.total_steps - (row.parent_step or 0)
        rate = seconds[row.id] / done if done > 0 and seconds[row.id] > 0 else None
        found.append((rate, min(1.0, max(0.0, done / planned)) if planned > 0 else 1.0, row.worker))
    rates = [rate for rate, _share, _worker in found if rate is not None]
    if not rates:
        return []
    # Runs that failed before their first step have no rate, but they count as short ones.
    typical = median(rates)
    return [PastRun(typical if rate is None else rate, share, worker) for rate, share, worker in found]


@dataclass(frozen=True)
class Measured:
    """Measurements of earlier runs of a kind."""

    run_ids: tuple[int, ...]
    steps_per_second: float
    # False if they trained in similar environments.
    is_exact: bool


def kind_label(kind: RunKind) -> str:
    """Name a method and its environment."""
    return f"{title_of(kind[0])} on {env_title(kind[1])}"


def measure(session: Session, algorithm: str, env: str, queue: QueueName | None = None) -> Measured | None:
    """Return what runs of a method reached in an environment, or else in similar ones. None if there are no runs."""
    exact = _measure(session, algorithm, [env], queue, is_exact=True)
    return exact or _measure(session, algorithm, similar_environments(env), queue, is_exact=False)


def _measure(
    session: Session, algorithm: str, envs: Sequence[str], queue: QueueName | None, *, is_exact: bool
) -> Measured | None:
    trained = [*trained_here(algorithm), Run.env.in_(envs), Run.step > 0]
    if queue is not None:
        trained.append(Run.queue == queue)
    query = select(Run.id, Run.step, Run.parent_step).where(*trained)
    rows = session.execute(query.order_by(Run.id.desc()).limit(MAX_MEASURED_RUNS)).all()
    seconds = sum(training_seconds(session, [row.id for row in rows]).values())
    steps = sum(row.step - (row.parent_step or 0) for row in rows)
    if seconds <= 0 or steps <= 0:
        return None
    return Measured(tuple(row.id for row in rows), steps / seconds, is_exact)


def peak(session: Session, run_ids: Sequence[int], metric: str) -> float | None:
    """Return the largest value of a metric in these runs, or None if none reported it."""
    series = (MetricSeries.run_id.in_(run_ids), MetricSeries.name == metric)
    return session.scalar(select(func.max(MetricSeries.max)).where(*series))


def typical(session: Session, run_ids: Sequence[int], metric: str) -> float | None:
    """Return the median over runs of the recent mean of a metric, or None if none reported it."""
    series = (MetricSeries.run_id.in_(run_ids), MetricSeries.name == metric, MetricSeries.recent_mean.is_not(None))
    means = [value for value in session.scalars(select(MetricSeries.recent_mean).where(*series)) if value is not None]
    return median(means) if means else None
