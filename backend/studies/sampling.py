"""Sampling of points with Optuna, which is imported on first use because that takes half a second.

Each call builds an in-memory Optuna study from our runs.
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


def random_draws(spec: Specification, first: int, count: int) -> list[Draw]:
    """Return random points from index `first` on. They are deterministic for a specification."""
    import optuna

    study = _study(optuna.samplers.RandomSampler(seed=spec.seeds[0]))
    space = _space(spec)
    drawn = [study.ask(space).params for _ in range(first + count)]
    return [_draw(params) for params in drawn[first:]]


def next_draw(spec: Specification, points: Sequence[Point]) -> Draw:
    """Return the next point of the tree-structured Parzen estimator, from the results so far."""
    import optuna

    # Unfinished points count as bad ones, so that concurrent points are not close together.
    study = _study(optuna.samplers.TPESampler(seed=spec.seeds[0] + len(points), constant_liar=True))
    space = _space(spec)
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
    """Return state and value of a point as an Optuna trial. The value is the mean of its finished runs."""
    from optuna.trial import TrialState

    if not all(run.has_ended for run in point.runs):
        return {"state": TrialState.RUNNING}
    scores = [run.score for run in point.runs if run.is_scored and run.score is not None]
    return {"state": TrialState.COMPLETE, "value": sum(scores) / len(scores)} if scores else {"state": TrialState.FAIL}


def _study(sampler: BaseSampler) -> Study:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(direction="maximize", sampler=sampler)


def _space(spec: Specification) -> dict[str, BaseDistribution]:
    return {str(number): _distribution(spec, axis) for number, axis in enumerate(spec.axes)}


def _distribution(spec: Specification, axis: Axis) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if axis.values is not None:
        return CategoricalDistribution(range(len(axis.values)))
    low, high = axis.bounds
    if is_integer_field(spec, axis):
        ends = [int(round_to_field(spec, axis, end)) for end in (low, high)]
        return IntDistribution(max(ends[0], 1) if axis.log else ends[0], ends[1], log=axis.log)
    return FloatDistribution(low, high, log=axis.log)


def _place(distribution: BaseDistribution, place: float) -> float:
    from optuna.distributions import FloatDistribution

    return place if isinstance(distribution, FloatDistribution) else int(place)


def _draw(params: dict[str, Any]) -> Draw:
    return [float(place) for place in params.values()]
