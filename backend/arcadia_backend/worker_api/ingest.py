"""Storage of a trainer's events in one transaction: the run, its log, metrics, checkpoints and replays."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy.orm import Session

from arcadia_backend.changes import store_applied
from arcadia_backend.checkpoints.service import frames_at_step, store_checkpoint, update_best
from arcadia_backend.database.tables import Attempt, LogLine, Run
from arcadia_backend.events import digest_of_event, refuse_other_kinds, take_unstored, to_datetime
from arcadia_backend.job_kinds.calibrations import schedule_calibration
from arcadia_backend.job_kinds.evaluations.service import schedule_evaluation
from arcadia_backend.logs import note_conflicts
from arcadia_backend.metrics import service as metrics
from arcadia_backend.provenance import store_provenance
from arcadia_backend.replays.service import keep_replay
from arcadia_backend.runs.start_steps import begin_step, end_step
from arcadia_backend.runs.states import announce_run
from arcadia_backend.worker_api.runs import RUNS
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.worker_api import EventBatch


def ingest(session: Session, run_id: int, batch: EventBatch) -> int:
    """Store the events of a batch that are not stored yet. Return the number of the last stored event."""
    run = RUNS.current(session, run_id, batch.attempt, lock=True)
    attempt = session.get_one(Attempt, (run.id, batch.attempt))
    unstored = take_unstored(session, attempt, [(event.seq, digest_of_event(event)) for event in batch.events])
    events = [batch.events[index] for index in unstored.indexes]
    refuse_other_kinds(events, {ev.Metrics, *_HANDLERS})
    if unstored.conflicts:
        note_conflicts(session, run, attempt, unstored.conflicts)
    if events:
        _store(session, run, attempt, events)
    return attempt.last_seq


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
        if event.kind in _PROGRESS_EVENTS:
            run.step, run.frames = max(run.step, event.step), max(run.frames, event.frames)
    _flush_points(session, run, attempt, points)
    notices = {_NOTICES[event.kind] for event in events if event.kind in _NOTICES}
    announce_run(session, run.id, "run.changed", *sorted(notices))


def _flush_points(session: Session, run: Run, attempt: Attempt, points: list[ev.Metrics]) -> None:
    if points:
        metrics.store(session, run, attempt.attempt, points)
        points.clear()


def _start(session: Session, run: Run, attempt: Attempt, event: ev.Started) -> None:
    """Start at the trainer's checkpoint or at step 0. Later points of earlier attempts are superseded."""
    attempt.started_at = to_datetime(event.time)
    attempt.resumed_step = event.resumed_from or 0
    attempt.host, attempt.device = event.host[:255], event.device[:255]
    attempt.precision, attempt.seed = event.precision[:32], event.seed
    run.state = "running"
    run.started_at = run.started_at or attempt.started_at
    run.versions, run.command = event.versions, event.command
    run.step, run.frames = attempt.resumed_step, frames_at_step(session, run, attempt.resumed_step)
    session.flush()
    metrics.supersede(session, run, attempt.attempt, attempt.resumed_step)
    update_best(session, run)


def _store_provenance(session: Session, _run: Run, attempt: Attempt, event: ev.ProvenanceEvent) -> None:
    store_provenance(session, attempt, event.provenance)


def _start_step(_session: Session, run: Run, attempt: Attempt, event: ev.StartStep) -> None:
    if event.name is None:
        end_step(run, attempt, to_datetime(event.time))
    else:
        begin_step(run, attempt, event.name, to_datetime(event.time))


def _log(session: Session, run: Run, attempt: Attempt, event: ev.Log) -> None:
    session.add(
        LogLine(
            run_id=run.id,
            attempt=attempt.attempt,
            time=to_datetime(event.time),
            level=event.level,
            message=event.message,
        )
    )


def _checkpoint(session: Session, run: Run, attempt: Attempt, event: ev.CheckpointEvent) -> None:
    if not store_checkpoint(session, run, attempt, event):
        return
    schedule_evaluation(session, run)
    schedule_calibration(session, run)
    if event.checkpoint.step > (attempt.resumed_step or 0):
        # This attempt got further than the last one, so earlier losses no longer count.
        run.requeues = 0


def _store_roles(_session: Session, _run: Run, attempt: Attempt, event: ev.Roles) -> None:
    attempt.roles = [role.model_dump() for role in event.roles]


def _progress(_session: Session, run: Run, _attempt: Attempt, event: ev.Progress) -> None:
    run.steps_per_second, run.seconds_left = event.steps_per_second, event.seconds_left


def _recording_replays(_session: Session, run: Run, _attempt: Attempt, event: ev.RecordingReplays) -> None:
    run.state_reason = f"Recording replays, {event.left} of {event.total} left." if event.left else None


def _end(_session: Session, _run: Run, attempt: Attempt, event: ev.Stopped | ev.Finished | ev.Failed) -> None:
    """Store how the trainer ended. The run changes state when its worker releases it or falls silent."""
    attempt.outcome = event.kind
    if isinstance(event, ev.Failed):
        attempt.failure_message = event.message
        attempt.failure_traceback = event.traceback or None


_HANDLERS: dict[type[ev.Event], Callable[[Session, Run, Attempt, Any], None]] = {
    ev.Started: _start,
    ev.ProvenanceEvent: _store_provenance,
    ev.StartStep: _start_step,
    ev.Log: _log,
    ev.Roles: _store_roles,
    ev.Changed: store_applied,
    ev.Progress: _progress,
    ev.RecordingReplays: _recording_replays,
    ev.CheckpointEvent: _checkpoint,
    ev.ReplayEvent: keep_replay,
    ev.Stopped: _end,
    ev.Finished: _end,
    ev.Failed: _end,
}

_NOTICES = {
    "metrics": "run.metrics",
    "log": "run.log",
    "changed": "run.log",
    "checkpoint": "run.files",
    "video": "run.files",
}

# Other events may name an earlier step, such as a replay the step of its checkpoint.
_PROGRESS_EVENTS = ("metrics", "progress", "checkpoint", "finished")
