"""Forecast of a run before its launch: what it needs, what the workers have, and when it starts."""

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from arcadia_backend import caps
from arcadia_backend.configuration import queue_for
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Worker
from arcadia_backend.runs.history import (
    GPU_MEMORY,
    MEMORY,
    PROCESSOR,
    Measured,
    kind_label,
    measure,
    peak,
    startup_seconds,
    typical,
)
from arcadia_backend.runs.starts import ExpectedStart
from arcadia_backend.runs.waiting import NEW_RUN, NewRun, read_waiting
from arcadia_backend.web.lookup import hidden_runs
from arcadia_backend.workers import open_workers
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.config.shared import CeilingFields
from arcadia_workers.contract.plugins.loading import needed_plugins
from arcadia_workers.contract.worker_api import EXECUTOR_TITLES, WORKERS, QueueName


def seconds_before_training(config: RunConfig) -> float:
    """Return the seconds that a run measures its environments before training."""
    return config.ceiling_seconds if isinstance(config, CeilingFields) else 0.0


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
    starts_in_seconds: float | None = Field(description="Expected wait if nobody adds work ahead; null if unknown.")
    starts_by_seconds: float | None = Field(
        description="In 9 of 10 cases it does not wait longer; null if too few runs like those ahead have ended."
    )
    warnings: list[str] = Field(description="Sentences about your caps and those of the project that are nearly used.")
    start_unknown: str | None = Field(description="Why the start is unknown, as a sentence.")


def forecast(
    session: Session,
    config: RunConfig,
    queue: QueueName | None,
    priority: int,
    executor: str = WORKERS,
    project_id: int | None = None,
    needs: str = "",
) -> RunForecast:
    """Return the forecast of a new run at the end of its priority in the queue."""
    queue = queue or queue_for(config)
    algorithm, env = config.algorithm, config.env
    measured = measure(session, algorithm, env, queue)
    run_ids = measured.run_ids if measured else ()
    startup = startup_seconds(session, algorithm) if measured else None
    cores = typical(session, run_ids, PROCESSOR)
    workers = [worker for worker in open_workers(session, utc_now()) if worker.queue == queue]
    start, ahead, unknown = None, 0, f"{EXECUTOR_TITLES[executor]} decides when it starts."
    if executor == WORKERS:
        plugins = ",".join(needed_plugins(config.model_dump()))
        new = NewRun((algorithm, env), config.total_steps, priority, current().person_id, project_id, plugins, needs)
        start, ahead, unknown = _start(session, queue, workers, new)
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
        starts_in_seconds=start.expected if start else None,
        starts_by_seconds=start.by if start else None,
        start_unknown=None if start else unknown,
        warnings=[] if project_id is None else caps.warnings(session, project_id),
    )


def _start(
    session: Session, queue: QueueName, workers: list[Worker], new: NewRun
) -> tuple[ExpectedStart | None, int, str]:
    """Return the start of a new run, the number of runs ahead, and the sentence for an unknown start."""
    waiting = read_waiting(session, queue, workers, new)
    ahead = waiting.count_ahead(NEW_RUN)
    if not workers:
        return None, ahead, f"No {queue.upper()} worker is connected."
    visible = {*waiting.unmeasured} - hidden_runs(session, waiting.unmeasured)
    return waiting.starts.get(NEW_RUN), ahead, waiting.unknown_reason(NEW_RUN, visible)


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
