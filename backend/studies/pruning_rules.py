"""Which runs of a study are ended early, by Optuna's pruners on their mean return in each tenth of their steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.metrics.curves import Window, read_curve
from backend.metrics.models import MetricSeries
from backend.metrics.visibility import load_run_views
from backend.studies.specification import Pruner
from workers.contract.worker_api import State

if TYPE_CHECKING:
    from optuna.pruners import BasePruner

EPISODE_RETURN = "episode/return"
TENTHS = 10
# The median of fewer finished runs says little, as does how a run begins.
FEWEST_FINISHED, WARM_UP_TENTHS = 4, 2
# Of the runs that come so far, the best third goes on: at 1, 3 and 9 tenths.
REDUCTION = 3
RUNGS = tuple(REDUCTION**number for number in range(3))
BUCKETS = 400


@dataclass(frozen=True)
class Course:
    """How a run has done so far: its mean return in each tenth of its steps, counted from 1."""

    run_id: int
    under_way: bool
    score: float | None
    means: Mapping[int, float]


@dataclass(frozen=True)
class Progress:
    """How far a run has come."""

    run_id: int
    attempt: int
    state: State
    step: int
    total_steps: int
    last_return: float | None

    @property
    def tenths(self) -> int:
        """How many tenths of its steps it has behind it."""
        return min(TENTHS, self.step * TENTHS // self.total_steps)

    @property
    def seen_as(self) -> tuple[int, State, int]:
        """What its course depends on."""
        return self.attempt, self.state, self.tenths


def course(session: Session, run: Progress) -> Course:
    """Read the course of a run; a tenth counts once it is over, and one without an episode is left out."""
    wanted = select(MetricSeries).where(MetricSeries.run_id == run.run_id, MetricSeries.name == EPISODE_RETURN)
    series = session.scalar(wanted)
    means: dict[int, float] = {}
    if series is not None:
        seen = load_run_views(session, [run.run_id])[run.run_id]
        curve = read_curve(session, series, seen, Window("step", buckets=BUCKETS))
        tenth = np.clip(np.ceil(curve.x * TENTHS / run.total_steps), 1, TENTHS)
        known = (tenth <= run.tenths) & np.isfinite(curve.mean)
        for number in np.unique(tenth[known]).tolist():
            here = known & (tenth == number)
            means[int(number)] = float(np.average(curve.mean[here], weights=curve.count[here]))
    return Course(run.run_id, run.state == "running", _score(run), means)


def _score(run: Progress) -> float | None:
    """The return of a run that was trained to its end, if it is a number."""
    known = run.state == "finished" and run.last_return is not None and math.isfinite(run.last_return)
    return run.last_return if known else None


def losers(pruner: Pruner, courses: Sequence[Course]) -> list[tuple[int, int]]:
    """The runs under way that are to end, with the tenth that they are judged at."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize")
    judged: list[tuple[int, int, int]] = []
    for each in courses:
        at = _judged_at(pruner, each)
        if each.under_way and at is not None:
            judged.append((len(study.get_trials(deepcopy=False)), each.run_id, at))
        study.add_trial(optuna.trial.create_trial(**_trial(pruner, each, at)))
    judge = _pruner(pruner)
    trials = study.get_trials(deepcopy=False)
    return [(run_id, at) for place, run_id, at in judged if judge.prune(study, trials[place])]


def _judged_at(pruner: Pruner, each: Course) -> int | None:
    """The last tenth that a run can be judged at: halving knows its rungs alone, however late it is looked at."""
    reached = [tenth for tenth in each.means if tenth < TENTHS and (pruner == "median" or tenth in RUNGS)]
    return max(reached, default=None)


def _trial(pruner: Pruner, each: Course, at: int | None) -> dict[str, Any]:
    from optuna.trial import TrialState

    if not each.under_way:
        state: dict[str, Any] = {"state": TrialState.FAIL}
        if each.score is not None:
            state = {"state": TrialState.COMPLETE, "value": each.score}
        return {**state, "intermediate_values": dict(each.means), "system_attrs": _rungs(each, TENTHS + 1)}
    shown = {tenth: mean for tenth, mean in each.means.items() if at is not None and tenth <= at}
    return {
        "state": TrialState.RUNNING,
        "intermediate_values": shown,
        "system_attrs": _rungs(each, at or 0) if pruner == "halving" else {},
    }


def _rungs(each: Course, below: int) -> dict[str, float]:
    """What Optuna notes of a trial that has passed rungs; they are passed in order."""
    passed: dict[str, float] = {}
    for number, rung in enumerate(RUNGS):
        if rung >= below or rung not in each.means:
            break
        passed[f"completed_rung_{number}"] = each.means[rung]
    return passed


def _pruner(pruner: Pruner) -> BasePruner:
    import optuna

    if pruner == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=FEWEST_FINISHED, n_warmup_steps=WARM_UP_TENTHS)
    return optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=REDUCTION)
