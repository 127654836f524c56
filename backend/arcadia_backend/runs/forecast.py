"""Forecast of a run before its launch: what it needs, what the workers have, and when it starts."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from arcadia_backend.configuration import queue_for
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.tables import ArchiveImport, Attempt, Run, Worker
from arcadia_backend.metrics.points import MetricSeries, training_seconds
from arcadia_backend.web.lookup import hidden_runs
from arcadia_backend.workers import open_workers
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.config.shared import CeilingFields
from arcadia_workers.contract.games import ENVIRONMENTS, env_title
from arcadia_workers.contract.worker_api import EXECUTOR_TITLES, WORKERS, QueueName

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
    means = [value for value in session.scalars(select(MetricSeries.recent_mean).where(*series)) if value is not None]
    return median(means) if means else None


# Longest queue whose runs are placed on workers one by one.
MAX_PLACED_RUNS = 500


class WorkerCapacity(BaseModel):
    """Connected workers of one queue. Each trains one run."""

    workers: int
    idle: int
    cores: int | None = Field(description="Of the largest host; null without workers.")
    memory_bytes: int | None = Field(description="Of the largest host; null without workers.")
    devices: list[str] = Field(description="Names of their GPUs, or `cpu`.")


class RunForecast(BaseModel):
    """The needs of a run, the capacity of the connected workers, and when it can start."""

    queue: QueueName
    executor: str = Field(description="`workers`, or the scheduler that decides when it starts.")
    measured_runs: int = Field(description="Number of earlier runs that this is measured from; 0 if there are none.")
    measured_on: str | None = Field(description="Their method and environment; null if there are none.")
    steps_per_second: float | None
    startup_seconds: float | None = Field(description="Time on a worker besides training, included in `seconds`.")
    seconds: float | None = Field(description="Duration on a worker; null without a measurement.")
    memory_bytes: float | None = Field(description="Largest use of the earlier runs.")
    cores: float | None = Field(description="Cores that the earlier runs kept busy.")
    gpu_memory_bytes: float | None = Field(description="Largest use of the earlier runs.")
    capacity: WorkerCapacity
    runs_ahead: int = Field(description="Queued runs that start earlier.")
    starts_in_seconds: float | None = Field(description="Expected wait; null if unknown.")
    start_unknown: str | None = Field(description="Why the start is unknown, as a sentence.")


def forecast(
    session: Session, config: RunConfig, queue: QueueName | None, priority: int, executor: str = WORKERS
) -> RunForecast:
    """Return the forecast of a new run at the end of its priority in the queue."""
    queue = queue or queue_for(config)
    algorithm, env = config.algorithm, config.env
    measured = measure(session, algorithm, env, queue)
    run_ids = measured.run_ids if measured else ()
    startup = startup_seconds(session, algorithm) if measured else None
    cores = typical(session, run_ids, PROCESSOR)
    workers = [worker for worker in open_workers(session, utc_now()) if worker.queue == queue]
    queued = _Queue(session, queue, workers)
    ahead = queued.count_ahead(priority) if executor == WORKERS else 0
    starts_in, unknown = queued.wait_behind(priority, ahead)
    if executor != WORKERS:
        starts_in, unknown = None, f"{EXECUTOR_TITLES[executor]} decides when it starts."
    return RunForecast(
        queue=queue,
        executor=executor,
        measured_runs=len(run_ids),
        measured_on=_label(config, measured) if measured else None,
        steps_per_second=measured.steps_per_second if measured else None,
        startup_seconds=startup,
        seconds=_duration(config, measured, startup),
        memory_bytes=peak(session, run_ids, MEMORY),
        cores=None if cores is None else cores / 100,
        gpu_memory_bytes=peak(session, run_ids, GPU_MEMORY),
        capacity=_capacity(workers),
        runs_ahead=ahead,
        starts_in_seconds=starts_in,
        start_unknown=unknown,
    )


def _label(config: RunConfig, measured: Measured) -> str:
    if measured.is_exact:
        return kind_label((config.algorithm, config.env))
    return f"{title_of(config.algorithm)} on similar environments"


def _duration(config: RunConfig, measured: Measured | None, startup: float | None) -> float | None:
    if measured is None:
        return None
    training = config.total_steps / measured.steps_per_second
    return training + (startup or 0.0) + seconds_before_training(config)


def _capacity(workers: list[Worker]) -> WorkerCapacity:
    return WorkerCapacity(
        workers=len(workers),
        idle=sum(worker.run_id is None for worker in workers),
        cores=max((worker.cores for worker in workers), default=None),
        memory_bytes=max((worker.memory_bytes for worker in workers), default=None),
        devices=sorted({worker.device for worker in workers}),
    )


@dataclass
class _Queue:
    """One queue with its connected workers. It has the runs of all projects, of which only numbers are shown."""

    session: Session
    queue: QueueName
    workers: list[Worker]
    _seconds: dict[RunKind, tuple[float | None, float]] = field(default_factory=dict)

    def count_ahead(self, priority: int) -> int:
        """Return the number of queued runs that start before a new one."""
        with backend_rights(self.session):
            return self.session.scalar(select(func.count()).where(*self._ahead(priority))) or 0

    def wait_behind(self, priority: int, ahead: int) -> tuple[float | None, str | None]:
        """Return the seconds until a new run starts, or None and the reason why they are unknown.

        Place the runs ahead on the workers in order. Each takes the worker that is free first.
        """
        if not self.workers:
            return None, f"No {self.queue.upper()} worker is connected."
        if ahead > MAX_PLACED_RUNS:
            return None, f"{ahead:,} runs are ahead in the queue."
        with backend_rights(self.session):
            starts_in, unknown = self._place(priority)
        if starts_in is not None:
            return starts_in, None
        name = "A run" if hidden_runs(self.session, unknown) else f"Run {min(unknown)}"
        return None, f"{name} is ahead, and no run like it has been measured here."

    def _place(self, priority: int) -> tuple[float | None, list[int]]:
        """Return the seconds until a worker is free, and the runs that end at an unknown time."""
        free_at: list[float] = []
        unknown: list[int] = []
        for worker in self.workers:
            left = 0.0 if worker.run_id is None else self._seconds_left(worker.run_id)
            if left is None:
                unknown.append(worker.run_id or 0)
            else:
                free_at.append(left)
        heapq.heapify(free_at)
        order = (Run.priority.desc(), Run.created_at, Run.id)
        columns = (Run.id, Run.algorithm, Run.env, Run.step, Run.total_steps)
        for row in self.session.execute(select(*columns).where(*self._ahead(priority)).order_by(*order)):
            seconds = self._run_seconds((row.algorithm, row.env), (row.total_steps or 0) - row.step)
            if not free_at:
                break
            if seconds is None:
                # Its worker is not available to the runs behind it for an unknown time.
                heapq.heappop(free_at)
                unknown.append(row.id)
            else:
                heapq.heapreplace(free_at, free_at[0] + seconds)
        return (free_at[0] if free_at else None), unknown

    def _ahead(self, priority: int) -> tuple[ColumnElement[bool], ...]:
        is_waiting = (Run.state == "queued", Run.queue == self.queue, Run.executor == WORKERS)
        return (*is_waiting, Run.archived_at.is_(None), Run.priority >= priority)

    def _seconds_left(self, run_id: int) -> float | None:
        """Return the seconds until a run ends, as it reports or as runs like it took."""
        # Not the row itself, which the session would keep for later readers.
        columns = (Run.seconds_left, Run.algorithm, Run.env, Run.step, Run.total_steps)
        run = self.session.execute(select(*columns).where(Run.id == run_id)).first()
        if run is None:
            return 0.0
        if run.seconds_left is not None:
            return float(run.seconds_left)
        return self._run_seconds((run.algorithm, run.env), (run.total_steps or 0) - run.step)

    def _run_seconds(self, kind: RunKind, steps: int) -> float | None:
        if kind not in self._seconds:
            algorithm, env = kind
            measured = measure(self.session, algorithm, env, self.queue)
            startup = startup_seconds(self.session, algorithm) or 0.0
            self._seconds[kind] = (measured.steps_per_second if measured else None, startup)
        rate, startup = self._seconds[kind]
        return None if rate is None else max(0, steps) / rate + startup
