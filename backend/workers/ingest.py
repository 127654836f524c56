"""Events of a trainer, stored once each: the run's columns, its log, metrics, checkpoints and replays move together."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import models
from backend.errors import Problem
from backend.metrics import service as metrics
from backend.models import Attempt, LogLine, Run
from backend.runs.notices import announce_run
from backend.workers.attempts import current_run
from backend.workers.outputs import keep_checkpoint, keep_evaluation, keep_video
from backend.workers.schemas import EventBatch
from workers.trainer import events as ev

LONGEST_MESSAGE = 10_000
LONGEST_TRACEBACK = 100_000


class SequenceGap(Problem):
    """Events are missing between the last one stored and the first one sent."""

    status = 409
    kind = "sequence-gap"
    title = "Events are missing"


def ingest(session: Session, run_id: int, batch: EventBatch) -> int:
    """Store what is new of a batch; the last event now stored."""
    run = current_run(session, run_id, batch.attempt, lock=True)
    attempt = session.get_one(Attempt, (run.id, batch.attempt))
    new = _new(batch.events, attempt.last_seq)
    if new:
        _store(session, run, attempt, new)
        attempt.last_seq = new[-1].seq
    return attempt.last_seq


def _new(events: Sequence[ev.Event], last_seq: int) -> list[ev.Event]:
    """Events not stored yet; a problem where one is missing."""
    new = [event for event in events if event.seq > last_seq]
    for expected, event in enumerate(new, start=last_seq + 1):
        if event.seq != expected:
            raise SequenceGap(
                f"Event {expected} must come next, but {event.seq} came. Send again from {expected}.", expected=expected
            )
    return new


def _store(session: Session, run: Run, attempt: Attempt, events: Sequence[ev.Event]) -> None:
    points: list[ev.Metrics] = []
    for event in events:
        if isinstance(event, ev.Metrics):
            points.append(event)
        else:
            if isinstance(event, ev.Started):
                # Earlier points must be there when it supersedes some.
                _flush_points(session, run, attempt, points)
            _HANDLERS[type(event)](session, run, attempt, event)
        if event.kind in _TELLS_PROGRESS:
            run.step, run.frames = max(run.step, event.step), max(run.frames, event.frames)
    _flush_points(session, run, attempt, points)
    told = {_NOTICES[event.kind] for event in events if event.kind in _NOTICES}
    announce_run(session, run.id, "run.changed", *sorted(told))


def _flush_points(session: Session, run: Run, attempt: Attempt, points: list[ev.Metrics]) -> None:
    if points:
        metrics.store(session, run, attempt.attempt, points)
        points.clear()


def _start(session: Session, run: Run, attempt: Attempt, event: ev.Started) -> None:
    """The trainer begins, perhaps from a checkpoint: what earlier attempts did beyond it no longer counts."""
    attempt.started_at = _moment(event.time)
    attempt.resumed_step = event.resumed_from or 0
    attempt.host, attempt.device = event.host[:255], event.device[:255]
    attempt.precision, attempt.seed = event.precision[:32], event.seed
    run.state, run.state_reason = "running", None
    run.started_at = run.started_at or attempt.started_at
    run.versions, run.command = event.versions, event.command
    run.step, run.frames = attempt.resumed_step, _frames_at(session, run, attempt.resumed_step)
    session.flush()
    metrics.supersede(session, run, attempt.attempt, attempt.resumed_step)


def _frames_at(session: Session, run: Run, step: int) -> int:
    """Emulator frames at the checkpoint that was resumed."""
    if step == 0:
        return 0
    query = select(models.Checkpoint.frames).where(models.Checkpoint.run_id == run.id, models.Checkpoint.step == step)
    return session.scalar(query.limit(1)) or 0


def _log(session: Session, run: Run, attempt: Attempt, event: ev.Log) -> None:
    session.add(
        LogLine(
            run_id=run.id,
            attempt=attempt.attempt,
            time=_moment(event.time),
            level=event.level,
            message=event.message[:LONGEST_MESSAGE],
        )
    )


def _keep_roles(_session: Session, _run: Run, attempt: Attempt, event: ev.Roles) -> None:
    attempt.roles = [role.model_dump() for role in event.roles]


def _progress(_session: Session, run: Run, _attempt: Attempt, event: ev.Progress) -> None:
    run.steps_per_second, run.seconds_left = event.steps_per_second, event.seconds_left


def _end(_session: Session, _run: Run, attempt: Attempt, event: ev.Stopped | ev.Finished | ev.Failed) -> None:
    """Keep what the trainer says of its end; the run moves when the worker gives it back or falls silent."""
    attempt.outcome = event.kind
    if isinstance(event, ev.Failed):
        attempt.failure_message = event.message[:LONGEST_MESSAGE]
        attempt.failure_traceback = event.traceback[-LONGEST_TRACEBACK:]


def _moment(seconds: float) -> datetime:
    """A trainer's clock may say anything; a moment outside the calendar becomes its beginning."""
    if not math.isfinite(seconds) or not 0 <= seconds < 253_402_300_800:
        seconds = 0.0
    return datetime.fromtimestamp(seconds, UTC)


_HANDLERS: dict[type[ev.Event], Callable[[Session, Run, Attempt, Any], None]] = {
    ev.Started: _start,
    ev.Log: _log,
    ev.Roles: _keep_roles,
    ev.Progress: _progress,
    ev.Checkpoint: keep_checkpoint,
    ev.Video: keep_video,
    ev.Evaluation: keep_evaluation,
    ev.Stopped: _end,
    ev.Finished: _end,
    ev.Failed: _end,
}

_NOTICES = {
    "metrics": "run.metrics",
    "log": "run.log",
    "checkpoint": "run.files",
    "video": "run.files",
    "evaluation": "run.files",
}

# The others may speak of an earlier step, as a replay does of its checkpoint's.
_TELLS_PROGRESS = ("metrics", "progress", "checkpoint", "finished")
