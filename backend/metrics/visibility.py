"""Visibility of a run's points, and conversion of their times to seconds of training."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Attempt
from backend.metrics.models import MetricClock
from backend.metrics.points import Floats, Ints

NO_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True)
class RunView:
    """The visible part of a run. An attempt beyond the end of an array has the values of the last one.

    `limits` has the last visible step of each attempt; later attempts supersede the points beyond it. `shifts` has the
    Unix time to subtract from an attempt's times to get seconds of training since the run first started.
    """

    limits: Ints
    shifts: Floats


def load_run_views(session: Session, run_ids: Sequence[int]) -> dict[int, RunView]:
    """Return the current view of each run."""
    limits = load_limits(session, run_ids)
    found = select(MetricClock).where(MetricClock.run_id.in_(run_ids)).order_by(MetricClock.attempt)
    clocks: dict[int, list[MetricClock]] = {run_id: [] for run_id in run_ids}
    for clock in session.scalars(found):
        clocks[clock.run_id].append(clock)
    return {run_id: RunView(limits[run_id], _clock_shifts(clocks[run_id])) for run_id in run_ids}


def load_limits(session: Session, run_ids: Sequence[int]) -> dict[int, Ints]:
    """Return the last visible step of each attempt, by run."""
    return {run_id: limits_after(resumed) for run_id, resumed in load_resumed_steps(session, run_ids).items()}


def load_resumed_steps(session: Session, run_ids: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
    """Return each started attempt with the step that it resumed from, by run."""
    started = select(Attempt.run_id, Attempt.attempt, Attempt.resumed_step).where(
        Attempt.run_id.in_(run_ids), Attempt.resumed_step.is_not(None)
    )
    found: dict[int, list[tuple[int, int]]] = {run_id: [] for run_id in run_ids}
    for run_id, attempt, step in session.execute(started):
        found[run_id].append((attempt, step or 0))
    return found


def limits_after(resumed: Sequence[tuple[int, int]]) -> Ints:
    """Return the last visible step of each attempt, given the started attempts and the steps they resumed from."""
    limits = np.full(max((attempt for attempt, _step in resumed), default=0) + 1, NO_LIMIT, np.int64)
    for attempt, step in resumed:
        limits[:attempt] = np.minimum(limits[:attempt], step)
    return limits


def _clock_shifts(clocks: Sequence[MetricClock]) -> Floats:
    shifts = np.zeros(clocks[-1].attempt + 1 if clocks else 1)
    trained = 0.0
    for clock in clocks:
        shifts[clock.attempt] = clock.first - trained
        trained += clock.last - clock.first
    return shifts


def training_seconds(session: Session, run_ids: Sequence[int]) -> dict[int, float]:
    """Return how long each run has trained in all its attempts."""
    seconds = dict.fromkeys(run_ids, 0.0)
    for clock in session.scalars(select(MetricClock).where(MetricClock.run_id.in_(run_ids))):
        seconds[clock.run_id] += clock.last - clock.first
    return seconds
