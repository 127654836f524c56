"""Points of a study, the configurations of their runs, and how samplers draw them.

A draw has one number per axis: an index into its values, or a number from its range.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from arcadia_backend import configuration
from arcadia_backend.database.tables import Study
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.studies.results import Point, scores_of
from arcadia_backend.studies.specification import Axis, Specification, find_errors
from arcadia_workers.contract.config import RunConfig

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.study import Study as OptunaStudy


Draw = Sequence[float]

MAX_ERRORS = 10


def read_specification(study: Study) -> Specification:
    """Return the stored specification with the current name and question."""
    return Specification.model_validate({**study.specification, "name": study.name, "question": study.question})


def point_values(spec: Specification, draw: Draw) -> dict[str, Any]:
    """Return the values of the varied fields at a point."""
    values: dict[str, Any] = {}
    for axis, place in zip(spec.axes, draw, strict=True):
        value: Any = place if axis.values is None else axis.values[int(place)]
        values.update(zip(axis.fields, value if isinstance(axis.field, list) else [value], strict=True))
    return values


def point_config(spec: Specification, draw: Draw, seed: int) -> RunConfig:
    """Return the configuration for a point and a seed."""
    return _config(spec, point_values(spec, draw), seed)


def _config(spec: Specification, values: dict[str, Any], seed: int) -> RunConfig:
    preset = values.get("preset", spec.preset)
    changes = spec.changes | {field: value for field, value in values.items() if field != "preset"} | {"seed": seed}
    if spec.total_steps is not None:
        changes["total_steps"] = spec.total_steps
    if preset is None:
        return configuration.validate(spec.config or {}, changes)
    return configuration.from_preset(str(preset), changes)


def grid(spec: Specification) -> Iterator[Draw]:
    """Return every combination of axis values."""
    return itertools.product(*(range(len(axis.values or [])) for axis in spec.axes))


def round_to_field(spec: Specification, axis: Axis, place: float) -> float:
    """Round a drawn number if its field is an integer."""
    return round(place) if is_integer_field(spec, axis) else place


def is_integer_field(spec: Specification, axis: Axis) -> bool:
    """Return True if the field of an axis is an integer."""
    return isinstance(_base_config(spec).get(axis.fields[0]), int)


def _base_config(spec: Specification) -> dict[str, Any]:
    """Return the configuration at the first values. Fields with ranges keep their base values."""
    first = [0.0] * len(spec.axes)
    drawn = {field for axis in spec.axes if axis.values is None for field in axis.fields}
    values = {field: value for field, value in point_values(spec, first).items() if field not in drawn}
    return configuration.to_document(_config(spec, values, spec.seeds[0]))


def validate(spec: Specification) -> None:
    """Raise Invalid for each field that makes a run impossible."""
    if errors := find_errors(spec):
        raise Invalid(*(FieldError(field=field, message=message) for field, message in errors[:MAX_ERRORS]))
    try:
        document = _base_config(spec)
    except Invalid as refused:
        raise _relocate_errors(spec, refused, "") from None
    for number, axis in enumerate(spec.axes):
        value = document.get(axis.fields[0])
        if axis.values is None and (isinstance(value, bool) or not isinstance(value, int | float)):
            message = f"{axis.fields[0]} is not a number: use values"
            raise Invalid(FieldError(field=f"axes.{number}.field", message=message))
        if axis.log_uniform is not None and round_to_field(spec, axis, axis.bounds[1]) <= 0:
            message = f"{axis.fields[0]} is an integer: use a range with an integer above 0"
            raise Invalid(FieldError(field=f"axes.{number}.log_uniform", message=message))
    for field, draw in _edge_points(spec):
        validate_draw(spec, draw, field)


def validate_draw(spec: Specification, draw: Draw, field: str = "axes") -> None:
    """Raise Invalid if a point makes a run impossible. Use `field` for errors of no other part."""
    try:
        point_config(spec, draw, spec.seeds[0])
    except Invalid as refused:
        raise _relocate_errors(spec, refused, field) from None


def _edge_points(spec: Specification) -> Iterator[tuple[str, Draw]]:
    """Return points with each value of each axis. The other axes have their first value, and every preset is used."""
    places: list[Sequence[float]] = [
        range(len(axis.values)) if axis.values is not None else [round_to_field(spec, axis, end) for end in axis.bounds]
        for axis in spec.axes
    ]
    first = [each[0] for each in places]
    presets = next((number for number, axis in enumerate(spec.axes) if "preset" in axis.fields), None)
    bases = [first] if presets is None else [_replace(first, presets, place) for place in places[presets]]
    yield from (("axes", base) for base in bases)
    for number, each in enumerate(places):
        yield from ((f"axes.{number}", _replace(base, number, place)) for base in bases for place in each)


def _replace(draw: Draw, number: int, place: float) -> Draw:
    return [place if index == number else other for index, other in enumerate(draw)]


def _relocate_errors(spec: Specification, refused: Invalid, field: str) -> Invalid:
    return Invalid(*[_relocate(spec, error, field) for error in refused.errors or []][:MAX_ERRORS])


def _relocate(spec: Specification, error: FieldError, field: str) -> FieldError:
    """Return the error at the part of the specification that sets the field."""
    part, _, name = error.field.partition(".")
    top = name.partition(".")[0] or part
    for number, axis in enumerate(spec.axes):
        if top in axis.fields:
            return FieldError(field=f"axes.{number}", message=f"{name or part}: {error.message}")
    if top == "preset":
        return FieldError(field="preset", message=error.message)
    if top == "total_steps" and spec.total_steps is not None:
        return FieldError(field="total_steps", message=error.message)
    if top == "seed":
        return FieldError(field="seeds", message=error.message)
    if top in spec.changes:
        return FieldError(field=f"changes.{name}", message=error.message)
    # Report conflicts between values at the given field.
    return FieldError(field=field or error.field, message=f"{name}: {error.message}" if field else error.message)


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
    scores = scores_of(point.runs)
    return {"state": TrialState.COMPLETE, "value": sum(scores) / len(scores)} if scores else {"state": TrialState.FAIL}


def _study(sampler: BaseSampler) -> OptunaStudy:
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
