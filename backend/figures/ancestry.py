"""What a fork went on from: the points of its ancestors up to the step that each was forked at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.metrics.buckets import Curve
from backend.metrics.curves import RunView, Window, read_curve, run_views
from backend.metrics.models import MetricSeries


@dataclass(frozen=True)
class Origin:
    """An ancestor's points before it was forked."""

    run_id: int
    step: int
    curve: Curve
    drawn: bool  # false where the figure has the ancestor's whole line


def origins(session: Session, runs: Sequence[Run], metric: str, window: Window) -> dict[int, list[Origin]]:
    """By run, what it went on from, the oldest ancestor first; on the axis of time, where each begins at 0, nothing."""
    lines = {} if window.axis == "time" else lineages(session, runs)
    ancestors = {ancestor for line in lines.values() for ancestor, _step in line}
    found = select(MetricSeries).where(MetricSeries.name == metric, MetricSeries.run_id.in_(ancestors))
    every = {series.run_id: series for series in session.scalars(found)}
    views = run_views(session, list(every))
    shown = {run.id for run in runs}

    def origin(ancestor: int, step: int) -> Origin:
        seen = RunView(np.minimum(views[ancestor].limits, step), views[ancestor].shifts)
        return Origin(ancestor, step, read_curve(session, every[ancestor], seen, window), ancestor not in shown)

    return {run_id: [origin(*part) for part in reversed(line) if part[0] in every] for run_id, line in lines.items()}


def lineages(session: Session, runs: Sequence[Run]) -> dict[int, list[tuple[int, int]]]:
    """By run, its ancestors with the step up to which they count, the parent first; a purged one ends the line."""
    parents = _parents(session, runs)
    lines: dict[int, list[tuple[int, int]]] = {}
    for run in runs:
        lines[run.id] = line = []
        parent, step = parents[run.id]
        while parent in parents and step is not None:
            line.append((parent, step))
            parent, earlier = parents[parent]
            step = None if earlier is None else min(step, earlier)
    return lines


def _parents(session: Session, runs: Sequence[Run]) -> Mapping[int | None, tuple[int | None, int | None]]:
    """Parent and step of these runs and of all their ancestors."""
    found: dict[int | None, tuple[int | None, int | None]] = {
        run.id: (run.parent_run_id, run.parent_step) for run in runs
    }
    asked: set[int | None] = {None, *found}
    while wanted := {parent for parent, _step in found.values()} - asked:
        asked |= wanted
        rows = session.execute(select(Run.id, Run.parent_run_id, Run.parent_step).where(Run.id.in_(wanted)))
        found |= {run_id: (parent, step) for run_id, parent, step in rows}
    return found
