"""Points drawn by Optuna; it is imported when it is first needed, since that takes half a second.

Its study is built anew from our runs and lives in memory for one question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backend.studies.points import Draw, is_integer_field, round_to_field
from backend.studies.results import Point
from backend.studies.specification import Axis, Specification

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.study import Study


def random_draws(asked: Specification, first: int, count: int) -> list[Draw]:
    """Random points from the `first` one on; those of a specification are always the same."""
    import optuna

    study = _study(optuna.samplers.RandomSampler(seed=asked.seeds[0]))
    space = _space(asked)
    drawn = [study.ask(space).params for _ in range(first + count)]
    return [_draw(params) for params in drawn[first:]]


def next_draw(asked: Specification, points: Sequence[Point]) -> Draw:
    """Where the tree-structured Parzen estimator looks next, given what the points have come to so far."""
    import optuna

    # Points whose runs are under way count as bad ones, so that those drawn together lie apart.
    study = _study(optuna.samplers.TPESampler(seed=asked.seeds[0] + len(points), constant_liar=True))
    space = _space(asked)
    for point in points:
        study.add_trial(
            optuna.trial.create_trial(
                params={name: _place(space[name], place) for name, place in zip(space, point.draw, strict=True)},
                distributions=space,
                **trial_outcome(point),
            )
        )
    return _draw(study.ask(space).params)


def trial_outcome(point: Point) -> dict[str, Any]:
    """A point as a trial: the mean of its runs that have finished, once all have ended."""
    from optuna.trial import TrialState

    if not all(run.ended for run in point.runs):
        return {"state": TrialState.RUNNING}
    scores = [run.score for run in point.runs if run.counts and run.score is not None]
    return {"state": TrialState.COMPLETE, "value": sum(scores) / len(scores)} if scores else {"state": TrialState.FAIL}


def _study(sampler: BaseSampler) -> Study:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(direction="maximize", sampler=sampler)


def _space(asked: Specification) -> dict[str, BaseDistribution]:
    return {str(number): _distribution(asked, axis) for number, axis in enumerate(asked.axes)}


def _distribution(asked: Specification, axis: Axis) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if axis.values is not None:
        return CategoricalDistribution(range(len(axis.values)))
    low, high = axis.bounds
    if is_integer_field(asked, axis):
        ends = [int(round_to_field(asked, axis, end)) for end in (low, high)]
        return IntDistribution(max(ends[0], 1) if axis.log else ends[0], ends[1], log=axis.log)
    return FloatDistribution(low, high, log=axis.log)


def _place(distribution: BaseDistribution, place: float) -> float:
    from optuna.distributions import FloatDistribution

    return place if isinstance(distribution, FloatDistribution) else int(place)


def _draw(params: dict[str, Any]) -> Draw:
    return [float(place) for place in params.values()]
