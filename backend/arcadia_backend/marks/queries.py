"""Marks of the curves of runs, read from the database."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import select, union
from sqlalchemy.orm import Session

from arcadia_backend.changes import describe, load_changes
from arcadia_backend.database.tables import Attempt, Checkpoint, LogLine, Replay, Run, RunChange
from arcadia_backend.events import to_datetime
from arcadia_backend.marks.rules import METRICS, find_anomalies
from arcadia_backend.marks.signals import Anomaly, Mark, RunMarks, Samples, Signals
from arcadia_backend.metrics.points import NO_POINTS, Array, Floats, MetricSeries, load_run_views
from arcadia_backend.metrics.reading import visible_points

MAX_WARNINGS = 50
SPEED_RULES = ("speed_halved", "throughput_lost")
# Another run that started this shortly before the speed fell may be the cause.
CAUSE_SECONDS = 120.0


@dataclass(frozen=True)
class StepClock:
    """Frames and seconds of training by step, from the points of a metric."""

    records: Array
    seconds: Floats

    def mark(self, step: int, frames: int | None = None) -> dict[str, int | float | None]:
        """Return the place of a mark at this step."""
        steps = self.records["step"]
        if not len(steps):
            return {"step": step, "frames": step if frames is None else frames, "seconds": None}
        if frames is None:
            frames = round(float(np.interp(step, steps, self.records["frames"])))
        return {"step": step, "frames": frames, "seconds": float(np.interp(step, steps, self.seconds))}

    def step_at(self, time: datetime) -> int:
        """Return the step that was reached at this time."""
        if not len(self.records):
            return 0
        return round(float(np.interp(time.timestamp(), self.records["time"], self.records["step"])))

    def time_at(self, step: int) -> datetime:
        """Return when this step was reached."""
        seconds = float(np.interp(step, self.records["step"], self.records["time"]))
        return to_datetime(seconds)


def load_marks(session: Session, run: Run) -> list[Mark]:
    """Return the marks of the run in order of their steps."""
    points = _read_points(session, run)
    clock = _clock(points)
    marks = [
        *_checkpoints(session, run, clock),
        *_interventions(session, run, clock),
        *_warnings(session, run, clock),
        *_anomalies(session, run, points, clock),
    ]
    return sorted(marks, key=lambda mark: mark.step)


def read_interventions(session: Session, runs: Sequence[Run]) -> list[RunMarks]:
    """Return the forks, resumed attempts and changes of those runs that have any."""
    # Find the runs that may have marks, so that the points of others are not read.
    ids = [run.id for run in runs]
    forked = select(Run.parent_run_id).where(Run.parent_run_id.in_(ids))
    resumed = select(Attempt.run_id).where(Attempt.run_id.in_(ids), Attempt.attempt > 1)
    changed = select(RunChange.run_id).where(RunChange.run_id.in_(ids))
    run_ids = set(session.scalars(union(forked, resumed, changed)))
    interventions = []
    for run in (run for run in runs if run.id in run_ids):
        marks = _interventions(session, run, _clock(_read_points(session, run)))
        interventions.append(RunMarks(run_id=run.id, marks=sorted(marks, key=lambda mark: mark.step)))
    return [each for each in interventions if each.marks]


def read_anomalies(session: Session, run: Run) -> list[Anomaly]:
    """Return the anomalies in the metrics of the run."""
    return [*find_anomalies(_signals(run, _read_points(session, run)))]


def _signals(run: Run, points: Mapping[str, tuple[Array, Floats]]) -> Signals:
    series = {name: Samples(records["step"], seconds, records["value"]) for name, (records, seconds) in points.items()}
    return Signals(series, run.config)


def _clock(points: Mapping[str, tuple[Array, Floats]]) -> StepClock:
    return StepClock(*max(points.values(), key=lambda series: len(series[0]), default=(NO_POINTS, np.empty(0))))


def _read_points(session: Session, run: Run) -> dict[str, tuple[Array, Floats]]:
    view = load_run_views(session, [run.id])[run.id]
    wanted = select(MetricSeries).where(MetricSeries.run_id == run.id, MetricSeries.name.in_(METRICS))
    return {series.name: visible_points(session, series, view) for series in session.scalars(wanted)}


def _checkpoints(session: Session, run: Run, clock: StepClock) -> Iterator[Mark]:
    replays = {
        (replay.attempt, replay.checkpoint): replay
        for replay in session.scalars(select(Replay).where(Replay.run_id == run.id, Replay.file_id.is_not(None)))
    }
    kept = select(Checkpoint).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None))
    for checkpoint in session.scalars(kept):
        replay = replays.get((checkpoint.attempt, checkpoint.file))
        mean = "" if checkpoint.return_mean is None else f"Mean return {checkpoint.return_mean:.4g}"
        yield Mark(
            kind="checkpoint",
            title="Best checkpoint" if checkpoint.best else "Checkpoint",
            detail=mean,
            best=checkpoint.best,
            checkpoint_id=checkpoint.id,
            replay_id=replay and replay.id,
            replay_file_id=replay and replay.file_id,
            poster_file_id=replay and replay.poster_file_id,
            **clock.mark(checkpoint.step, checkpoint.frames),
        )


def _interventions(session: Session, run: Run, clock: StepClock) -> Iterator[Mark]:
    """Yield the forks, the resumed attempts and the applied changes of a run."""
    forks = select(Run).where(Run.parent_run_id == run.id, Run.parent_step.is_not(None), Run.archived_at.is_(None))
    for fork in session.scalars(forks):
        yield Mark(kind="fork", title=f"Forked: {fork.name}", run_id=fork.id, **clock.mark(fork.parent_step or 0))
    resumed = select(Attempt).where(Attempt.run_id == run.id, Attempt.attempt > 1, Attempt.resumed_step.is_not(None))
    for attempt in session.scalars(resumed):
        host = f"On {attempt.host}" if attempt.host else ""
        title = f"Attempt {attempt.attempt} resumed here"
        yield Mark(kind="resume", title=title, detail=host, **clock.mark(attempt.resumed_step or 0))
    for change in load_changes(session, run.id):
        if change.applied_step is not None:
            described = describe(change)
            by = f"By {change.requested_by}" if change.requested_by else ""
            title = described[0].upper() + described[1:]
            yield Mark(kind="change", title=title, detail=by, **clock.mark(change.applied_step))


def _warnings(session: Session, run: Run, clock: StepClock) -> Iterator[Mark]:
    newest = (
        select(LogLine)
        .where(LogLine.run_id == run.id, LogLine.level == "warning")
        .order_by(LogLine.id.desc())
        .limit(MAX_WARNINGS)
    )
    for line in session.scalars(newest):
        yield Mark(kind="warning", title="Warning", detail=line.message, **clock.mark(clock.step_at(line.time)))


def _anomalies(session: Session, run: Run, points: dict[str, tuple[Array, Floats]], clock: StepClock) -> Iterator[Mark]:
    for anomaly in find_anomalies(_signals(run, points)):
        cause = _find_cause(session, run, clock.time_at(anomaly.step)) if anomaly.rule in SPEED_RULES else None
        yield Mark(
            kind="anomaly",
            rule=anomaly.rule,
            metric=anomaly.metric,
            title=f"{anomaly.title} when {cause.name} #{cause.id} started" if cause else anomaly.title,
            detail=anomaly.detail,
            run_id=cause and cause.id,
            **clock.mark(anomaly.step) | {"seconds": anomaly.seconds},
        )


def _find_cause(session: Session, run: Run, time: datetime) -> Run | None:
    """Return the last run that started on a host of this one shortly before."""
    hosts = select(Attempt.host).where(Attempt.run_id == run.id, Attempt.host.is_not(None))
    started = (
        select(Run)
        .join(Attempt, Attempt.run_id == Run.id)
        .where(Run.id != run.id, Attempt.host.in_(hosts))
        .where(Attempt.started_at.between(time - timedelta(seconds=CAUSE_SECONDS), time + timedelta(seconds=10)))
        .order_by(Attempt.started_at.desc())
    )
    return session.scalars(started).first()
