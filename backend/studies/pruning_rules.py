"""Optuna's pruners, applied to the mean return of runs in each tenth of their steps."""

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
# The median requires this many finished runs. The first tenths of a run are not judged.
MIN_FINISHED_RUNS, WARM_UP_TENTHS = 4, 2
# Halving keeps the best third of the runs at 1, 3 and 9 tenths.
REDUCTION = 3
RUNGS = tuple(REDUCTION**number for number in range(3))
CURVE_BUCKETS = 400


@dataclass(frozen=True)
class LearningCurve:
    """The mean return of a run in each tenth of its steps, numbered from 1."""

    run_id: int
    is_active: bool
    score: float | None
    means: Mapping[int, float]


@dataclass(frozen=True)
class TrainingProgress:
    """The progress of a run."""

    run_id: int
    attempt: int
    state: State
    step: int
    total_steps: int
    last_return: float | None

    @property
    def tenths(self) -> int:
        """Return progress in tenths."""
        return min(TENTHS, self.step * TENTHS // self.total_steps)

    @property
    def version(self) -> tuple[int, State, int]:
        """Return a key that changes when the learning curve may have changed."""
        return self.attempt, self.state, self.tenths


def read_learning_curve(session: Session, run: TrainingProgress) -> LearningCurve:
    """Read the learning curve of a run. Unfinished tenths and tenths without episodes are omitted."""
    wanted = select(MetricSeries).where(MetricSeries.run_id == run.run_id, MetricSeries.name == EPISODE_RETURN)
    series = session.scalar(wanted)
    means: dict[int, float] = {}
    if series is not None:
        seen = load_run_views(session, [run.run_id])[run.run_id]
        curve = read_curve(session, series, seen, Window("step", buckets=CURVE_BUCKETS))
        tenth = np.clip(np.ceil(curve.x * TENTHS / run.total_steps), 1, TENTHS)
        known = (tenth <= run.tenths) & np.isfinite(curve.mean)
        for number in np.unique(tenth[known]).tolist():
            here = known & (tenth == number)
            means[int(number)] = float(np.average(curve.mean[here], weights=curve.count[here]))
    return LearningCurve(run.run_id, run.state == "running", _score(run), means)


def _score(run: TrainingProgress) -> float | None:
    """Return the score of a finished run, or None."""
    known = run.state == "finished" and run.last_return is not None and math.isfinite(run.last_return)
    return run.last_return if known else None


def runs_to_prune(pruner: Pruner, curves: Sequence[LearningCurve]) -> list[tuple[int, int]]:
    """Return the active runs to stop, each with the tenth that it is judged at."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize")
    judged: list[tuple[int, int, int]] = []
    for each in curves:
        at = _judged_tenth(pruner, each)
        if each.is_active and at is not None:
            judged.append((len(study.get_trials(deepcopy=False)), each.run_id, at))
        study.add_trial(optuna.trial.create_trial(**_trial(pruner, each, at)))
    optuna_pruner = _pruner(pruner)
    trials = study.get_trials(deepcopy=False)
    return [(run_id, at) for place, run_id, at in judged if optuna_pruner.prune(study, trials[place])]


def _judged_tenth(pruner: Pruner, each: LearningCurve) -> int | None:
    """Return the last tenth at which a run can be judged. Halving judges only at its rungs."""
    reached = [tenth for tenth in each.means if tenth < TENTHS and (pruner == "median" or tenth in RUNGS)]
    return max(reached, default=None)


def _trial(pruner: Pruner, each: LearningCurve, at: int | None) -> dict[str, Any]:
    from optuna.trial import TrialState

    if not each.is_active:
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


def _rungs(each: LearningCurve, below: int) -> dict[str, float]:
    """Return the attributes that Optuna stores for passed rungs. Rungs are passed in order."""
    passed: dict[str, float] = {}
    for number, rung in enumerate(RUNGS):
        if rung >= below or rung not in each.means:
            break
        passed[f"completed_rung_{number}"] = each.means[rung]
    return passed


def _pruner(pruner: Pruner) -> BasePruner:
    import optuna

    if pruner == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=MIN_FINISHED_RUNS, n_warmup_steps=WARM_UP_TENTHS)
    return optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=REDUCTION)
