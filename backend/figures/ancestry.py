"""Ancestors of forks: their points up to the step of each fork."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.metrics.buckets import Curve
from backend.metrics.curves import Window, read_curve
from backend.metrics.models import MetricSeries
from backend.metrics.visibility import RunView, load_run_views


@dataclass(frozen=True)
class Origin:
    """An ancestor's points before the fork."""

    run_id: int
    step: int
    curve: Curve
    # False if the figure already has the ancestor's whole line.
    drawn: bool


def read_origins(session: Session, runs: Sequence[Run], metric: str, window: Window) -> dict[int, list[Origin]]:
    """Return the ancestors of each run, oldest first. On the time axis return none, since every run starts at 0."""
    lines = {} if window.axis == "time" else find_lineages(session, runs)
    ancestors = {ancestor for line in lines.values() for ancestor, _step in line}
    found = select(MetricSeries).where(MetricSeries.name == metric, MetricSeries.run_id.in_(ancestors))
    every = {series.run_id: series for series in session.scalars(found)}
    views = load_run_views(session, list(every))
    shown = {run.id for run in runs}

    def origin(ancestor: int, step: int) -> Origin:
        view = RunView(np.minimum(views[ancestor].limits, step), views[ancestor].shifts)
        return Origin(ancestor, step, read_curve(session, every[ancestor], view, window), ancestor not in shown)

    return {run_id: [origin(*part) for part in reversed(line) if part[0] in every] for run_id, line in lines.items()}


def find_lineages(session: Session, runs: Sequence[Run]) -> dict[int, list[tuple[int, int]]]:
    """Return each run's ancestors with their last step before the fork, parent first. A purged run ends the line."""
    parents = _find_parents(session, runs)
    lines: dict[int, list[tuple[int, int]]] = {}
    for run in runs:
        lines[run.id] = line = []
        parent, step = parents[run.id]
        while parent in parents and step is not None:
            line.append((parent, step))
            parent, earlier = parents[parent]
            step = None if earlier is None else min(step, earlier)
    return lines


def _find_parents(session: Session, runs: Sequence[Run]) -> Mapping[int | None, tuple[int | None, int | None]]:
    """Return the parent and fork step of these runs and of all their ancestors."""
    found: dict[int | None, tuple[int | None, int | None]] = {
        run.id: (run.parent_run_id, run.parent_step) for run in runs
    }
    searched: set[int | None] = {None, *found}
    while wanted := {parent for parent, _step in found.values()} - searched:
        searched |= wanted
        rows = session.execute(select(Run.id, Run.parent_run_id, Run.parent_step).where(Run.id.in_(wanted)))
        found |= {run_id: (parent, step) for run_id, parent, step in rows}
    return found
