"""Events of a trainer, stored once each: the run's columns, its log, metrics, checkpoints and replays move together."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from backend.checkpoints.keeping import frames_at, keep_checkpoint
from backend.errors import Problem
from backend.evaluations import keep_evaluation
from backend.metrics import service as metrics
from backend.models import Attempt, LogLine, Run
from backend.runs.notices import announce_run
from backend.videos import keep_video
from backend.workers.attempts import current_run
from workers.contract import events as ev
from workers.contract.worker_api import SEQUENCE_GAP, EventBatch


class SequenceGap(Problem):
    """Events are missing between the last one stored and the first one sent."""

    status = 409
    kind = SEQUENCE_GAP
    title = "Events are missing"


def ingest(session: Session, run_id: int, batch: EventBatch) -> int:
    """Store the new events of a batch. Return the number of the last one stored."""
    run = current_run(session, run_id, batch.attempt, lock=True)
    attempt = session.get_one(Attempt, (run.id, batch.attempt))
    new = _new(batch.events, attempt.last_seq)
    if new:
        _store(session, run, attempt, new)
        attempt.last_seq = new[-1].seq
    return attempt.last_seq


def _new(events: Sequence[ev.Event], last_seq: int) -> list[ev.Event]:
    """Events not stored yet; raise if one is missing between."""
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
                # Store earlier points first, since this event may supersede some of them.
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
    """Begin at the trainer's checkpoint or at 0; points of earlier attempts beyond it are superseded."""
    attempt.started_at = _moment(event.time)
    attempt.resumed_step = event.resumed_from or 0
    attempt.host, attempt.device = event.host[:255], event.device[:255]
    attempt.precision, attempt.seed = event.precision[:32], event.seed
    run.state, run.state_reason = "running", None
    run.started_at = run.started_at or attempt.started_at
    run.versions, run.command = event.versions, event.command
    run.step, run.frames = attempt.resumed_step, frames_at(session, run, attempt.resumed_step)
    session.flush()
    metrics.supersede(session, run, attempt.attempt, attempt.resumed_step)


def _log(session: Session, run: Run, attempt: Attempt, event: ev.Log) -> None:
    session.add(
        LogLine(
            run_id=run.id,
            attempt=attempt.attempt,
            time=_moment(event.time),
            level=event.level,
            message=event.message,
        )
    )


def _checkpoint(session: Session, run: Run, attempt: Attempt, event: ev.Checkpoint) -> None:
    if keep_checkpoint(session, run, attempt, event) and event.checkpoint.step > (attempt.resumed_step or 0):
        # It got further than the last time, so earlier losses no longer count against it.
        run.requeues = 0


def _keep_roles(_session: Session, _run: Run, attempt: Attempt, event: ev.Roles) -> None:
    attempt.roles = [role.model_dump() for role in event.roles]


def _progress(_session: Session, run: Run, _attempt: Attempt, event: ev.Progress) -> None:
    run.steps_per_second, run.seconds_left = event.steps_per_second, event.seconds_left


def _await_the_whole(_session: Session, _run: Run, _attempt: Attempt, _event: ev.EvaluatedEpisode) -> None:
    """Keep nothing of a single episode: the evaluation that follows has them all."""


def _end(_session: Session, _run: Run, attempt: Attempt, event: ev.Stopped | ev.Finished | ev.Failed) -> None:
    """Keep how the trainer ended. The run changes state when its worker gives it back or falls silent."""
    attempt.outcome = event.kind
    if isinstance(event, ev.Failed):
        attempt.failure_message = event.message
        attempt.failure_traceback = event.traceback


def _moment(seconds: float) -> datetime:
    """A Unix time as a moment; one outside the calendar becomes 1970, since a trainer's clock may be wrong."""
    if not math.isfinite(seconds) or not 0 <= seconds < 253_402_300_800:
        seconds = 0.0
    return datetime.fromtimestamp(seconds, UTC)


_HANDLERS: dict[type[ev.Event], Callable[[Session, Run, Attempt, Any], None]] = {
    ev.Started: _start,
    ev.Log: _log,
    ev.Roles: _keep_roles,
    ev.Progress: _progress,
    ev.Checkpoint: _checkpoint,
    ev.Video: keep_video,
    ev.EvaluatedEpisode: _await_the_whole,
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

# Other events may name an earlier step; a replay names its checkpoint's.
_TELLS_PROGRESS = ("metrics", "progress", "checkpoint", "finished")
