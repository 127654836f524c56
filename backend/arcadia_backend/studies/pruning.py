"""Pruning of studies: stops runs that do worse than others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run, Study, StudyRun
from arcadia_backend.errors import Conflict, NotFound
from arcadia_backend.logs import note
from arcadia_backend.metrics.points import MetricSeries, load_run_views
from arcadia_backend.metrics.queries import Window, read_curve
from arcadia_backend.runs import service as runs
from arcadia_backend.studies.points import read_specification
from arcadia_backend.studies.specification import Pruner
from arcadia_backend.web.lookup import find_run
from arcadia_workers.contract.worker_api import State

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
    has_score = run.state == "finished" and run.last_return is not None and math.isfinite(run.last_return)
    return LearningCurve(run.run_id, run.state == "running", run.last_return if has_score else None, means)


def runs_to_prune(pruner: Pruner, curves: Sequence[LearningCurve]) -> list[tuple[int, int]]:
    """Return the active runs to stop, each with the tenth that it is judged at."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize")
    judged: list[tuple[int, int, int]] = []
    for each in curves:
        # Halving judges only at its rungs.
        reached = [tenth for tenth in each.means if tenth < TENTHS and (pruner == "median" or tenth in RUNGS)]
        at = max(reached, default=None)
        if each.is_active and at is not None:
            judged.append((len(study.get_trials(deepcopy=False)), each.run_id, at))
        study.add_trial(optuna.trial.create_trial(**_trial(pruner, each, at)))
    optuna_pruner = _pruner(pruner)
    trials = study.get_trials(deepcopy=False)
    return [(run_id, at) for place, run_id, at in judged if optuna_pruner.prune(study, trials[place])]


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


class StudyPruner:
    """Pruner that judges each run once per tenth of its steps. Its memory is only a cache."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._curves: dict[int, tuple[TrainingProgress, LearningCurve]] = {}
        self._judged_tenths: dict[int, int] = {}

    def forget(self) -> None:
        """Clear the cache when no study is running."""
        self._curves.clear()
        self._judged_tenths.clear()

    def prune(self, study: Study) -> None:
        """Stop the runs that the study's pruner rejects."""
        pruner = read_specification(study).pruner
        if pruner == "none":
            return
        with self._database.read() as session:
            curves = [self._read_curve(session, progress) for progress in _load_progress(session, study)]
        reached = {each.run_id: len(each.means) for each in curves if each.is_active}
        if reached.items() <= self._judged_tenths.items():
            return
        for run_id, tenth in runs_to_prune(pruner, curves):
            with self._database.write() as session, suppress(NotFound, Conflict):
                run = find_run(session, run_id, lock=True)
                runs.act(session, run, "stop")
                note(session, run, f"Pruned by its study at {10 * tenth} % of its steps ({pruner}).")
        self._judged_tenths.update(reached)

    def _read_curve(self, session: Session, progress: TrainingProgress) -> LearningCurve:
        cached = self._curves.get(progress.run_id)
        if cached is None or cached[0].version != progress.version:
            self._curves[progress.run_id] = cached = (progress, read_learning_curve(session, progress))
        return cached[1]


def _load_progress(session: Session, study: Study) -> list[TrainingProgress]:
    """Return the progress of each run that has started training, in order of creation."""
    columns = (Run.id, Run.attempt, Run.state, Run.step, Run.total_steps, Run.last_return)
    of_study = (StudyRun.study_id == study.id, Run.step > 0)
    query = select(*columns).join(StudyRun, StudyRun.run_id == Run.id).where(*of_study).order_by(Run.id)
    return [
        TrainingProgress(row.id, row.attempt, row.state, row.step, row.total_steps or 0, row.last_return)
        for row in session.execute(query)
    ]
