"""Rows of runs as the API shows them: with a colour, and with why a waiting run waits."""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import models
from backend.columns import utc_now
from backend.metrics.models import MetricSeries
from backend.runs import schemas
from backend.runs.states import ACTIVE
from workers.trainer.config.problems import title_of
from workers.trainer.events import RolePlace

# Colours that colour-blind eyes tell apart (Okabe and Ito; Tol), legible on a light and on a dark page.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#aa4499", "#999933", "#44aa99", "#ee6677")

# A worker that reports every few seconds is taken for gone after this long.
GONE_AFTER = timedelta(seconds=10)


def shown(session: Session, runs: Sequence[models.Run], metrics: Sequence[str] = ()) -> list[schemas.Run]:
    """Runs as the API shows them, with some of their metrics if any are asked for."""
    free = _free_workers(session, {run.queue for run in runs if run.state == "queued"})
    extents = _extents(session, [run.id for run in runs], metrics) if metrics else {}
    return [_shown(run, free, extents.get(run.id, {})) for run in runs]


def shown_one(session: Session, run: models.Run) -> schemas.Run:
    """One run as the API shows it, with its roles."""
    (one,) = shown(session, [run])
    attempt = session.get(models.Attempt, (run.id, run.attempt))
    one.roles = [RolePlace.model_validate(role) for role in (attempt.roles if attempt else None) or []]
    return one


def color_of(run_id: int) -> str:
    """A run's colour, the same in every chart for ever."""
    return PALETTE[run_id % len(PALETTE)]


def is_here(worker: models.Worker, now: datetime) -> bool:
    """Whether a worker has reported lately and has not said goodbye."""
    return not worker.left and now - worker.last_seen_at < GONE_AFTER


def _free_workers(session: Session, queues: Iterable[str]) -> dict[str, int | None]:
    """How many workers of each queue are free; None where none is connected at all."""
    if not queues:
        return {}
    now = utc_now()
    here = [worker for worker in session.scalars(select(models.Worker)) if is_here(worker, now)]
    found: dict[str, int | None] = {}
    for queue in queues:
        mine = [worker for worker in here if worker.queue == queue]
        found[queue] = sum(worker.run_id is None for worker in mine) if mine else None
    return found


def _extents(
    session: Session, run_ids: Sequence[int], metrics: Sequence[str]
) -> dict[int, dict[str, schemas.MetricExtent]]:
    """By run and metric, how far each of the metrics reaches."""
    columns = (MetricSeries.run_id, MetricSeries.name, MetricSeries.last, MetricSeries.min, MetricSeries.max)
    wanted = select(*columns).where(MetricSeries.run_id.in_(run_ids), MetricSeries.name.in_(metrics))
    found: dict[int, dict[str, schemas.MetricExtent]] = {}
    for row in session.execute(wanted):
        found.setdefault(row.run_id, {})[row.name] = schemas.MetricExtent.model_validate(row)
    return found


def _reason(run: models.Run, free: dict[str, int | None]) -> str | None:
    if run.state in ACTIVE and run.desired != "run":
        return "Stopping: the trainer saves a checkpoint first." if run.desired == "stop" else "Pausing."
    if run.state != "queued":
        return run.state_reason
    return " ".join(part for part in (run.state_reason, _waiting(run.queue, free.get(run.queue))) if part)


def _waiting(queue: str, free: int | None) -> str:
    name = queue.upper()
    if free is None:
        return f"No {name} worker is connected: start one with `arcadia worker --queue {queue}`."
    return f"A {name} worker is about to take it." if free else f"Waiting for a free {name} worker."


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _shown(run: models.Run, free: dict[str, int | None], metrics: dict[str, schemas.MetricExtent]) -> schemas.Run:
    parent = None
    if run.parent_run_id is not None:
        parent = schemas.Parent(run_id=run.parent_run_id, checkpoint_id=run.parent_checkpoint_id, step=run.parent_step)
    failure = None
    if run.failure_message is not None:
        failure = schemas.Failure(message=run.failure_message, traceback=run.failure_traceback)
    running = run.state == "running"
    return schemas.Run(
        id=run.id,
        name=run.name,
        state=run.state,
        desired=run.desired,
        algorithm=run.algorithm,
        method=title_of(run.algorithm),
        env=run.env,
        queue=run.queue,
        attempt=run.attempt,
        priority=run.priority,
        tags=sorted(tag.tag for tag in run.tags),
        notes=run.notes,
        config=run.config,
        parent=parent,
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        archived_at=run.archived_at,
        state_reason=_reason(run, free),
        failure=failure,
        worker=run.worker,
        step=run.step,
        frames=run.frames,
        total_steps=run.total_steps,
        steps_per_second=_finite(run.steps_per_second),
        seconds_left=_finite(run.seconds_left) if running else None,
        last_return=_finite(run.last_return),
        best_return=_finite(run.best_return),
        episodes=run.episodes,
        poster_file_id=run.poster_file_id,
        versions=run.versions,
        command=run.command,
        color=color_of(run.id),
        metrics=metrics,
        roles=[],
    )
