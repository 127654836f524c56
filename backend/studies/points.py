"""The points of a study: where each lies on the axes, and the configuration of its runs.

A draw is a number for each axis: the place in its values, or the number itself where it is drawn from a range.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from backend.configuration import configs
from backend.database.tables import Study
from backend.errors import FieldError, Invalid
from backend.studies.specification import Axis, Specification, problems
from workers.contract.config import RunConfig

Draw = Sequence[float]

# Wrong values told at once.
MOST_TOLD = 10


def read_specification(study: Study) -> Specification:
    """What was asked for, with the name and the question of today."""
    return Specification.model_validate({**study.specification, "name": study.name, "question": study.question})


def point_values(asked: Specification, draw: Draw) -> dict[str, Any]:
    """The fields that the axes move, with their values at a point."""
    found: dict[str, Any] = {}
    for axis, place in zip(asked.axes, draw, strict=True):
        value: Any = place if axis.values is None else axis.values[int(place)]
        found.update(zip(axis.fields, value if isinstance(axis.field, list) else [value], strict=True))
    return found


def point_config(asked: Specification, draw: Draw, seed: int) -> RunConfig:
    """The configuration of the run of a point and a seed."""
    return _config(asked, point_values(asked, draw), seed)


def _config(asked: Specification, values: dict[str, Any], seed: int) -> RunConfig:
    preset = values.get("preset", asked.preset)
    changes = asked.changes | {field: value for field, value in values.items() if field != "preset"} | {"seed": seed}
    if asked.total_steps is not None:
        changes["total_steps"] = asked.total_steps
    if preset is None:
        return configs.checked(asked.config or {}, changes)
    return configs.from_preset(str(preset), changes)


def grid(asked: Specification) -> Iterator[Draw]:
    """Every combination of the values of the axes."""
    return itertools.product(*(range(len(axis.values or [])) for axis in asked.axes))


def round_to_field(asked: Specification, axis: Axis, place: float) -> float:
    """A drawn number as its field takes it: a whole one where the field takes those alone."""
    return round(place) if is_integer_field(asked, axis) else place


def is_integer_field(asked: Specification, axis: Axis) -> bool:
    """Whether the field of an axis takes whole numbers alone."""
    return isinstance(_undrawn(asked).get(axis.fields[0]), int)


def _undrawn(asked: Specification) -> dict[str, Any]:
    """The configuration at the first values, with fields that are drawn from ranges as they are without a study."""
    first = [0.0] * len(asked.axes)
    drawn = {field for axis in asked.axes if axis.values is None for field in axis.fields}
    values = {field: value for field, value in point_values(asked, first).items() if field not in drawn}
    return configs.as_document(_config(asked, values, asked.seeds[0]))


def validate(asked: Specification) -> None:
    """Refuse what no run could be made of, by the field that is wrong."""
    if wrong := problems(asked):
        raise Invalid(*(FieldError(field=field, message=told) for field, told in wrong[:MOST_TOLD]))
    try:
        document = _undrawn(asked)
    except Invalid as refused:
        raise _told(asked, refused, "") from None
    for number, axis in enumerate(asked.axes):
        value = document.get(axis.fields[0])
        if axis.values is None and (isinstance(value, bool) or not isinstance(value, int | float)):
            message = f"{axis.fields[0]} is no number: give values"
            raise Invalid(FieldError(field=f"axes.{number}.field", message=message))
        if axis.log_uniform is not None and round_to_field(asked, axis, axis.bounds[1]) <= 0:
            message = f"{axis.fields[0]} takes whole numbers: give a range that has one above 0"
            raise Invalid(FieldError(field=f"axes.{number}.log_uniform", message=message))
    for field, draw in _edges(asked):
        validate_draw(asked, draw, field)


def validate_draw(asked: Specification, draw: Draw, field: str = "axes") -> None:
    """Refuse a point that no run could be made of; `field` is told where no other part is wrong by itself."""
    try:
        point_config(asked, draw, asked.seeds[0])
    except Invalid as refused:
        raise _told(asked, refused, field) from None


def _edges(asked: Specification) -> Iterator[tuple[str, Draw]]:
    """Each value of each axis, with each preset that an axis has, and the other axes where they begin."""
    places = [_places(asked, axis) for axis in asked.axes]
    first = [each[0] for each in places]
    presets = next((number for number, axis in enumerate(asked.axes) if "preset" in axis.fields), None)
    bases = [first] if presets is None else [_moved(first, presets, place) for place in places[presets]]
    yield from (("axes", base) for base in bases)
    for number, each in enumerate(places):
        yield from ((f"axes.{number}", _moved(base, number, place)) for base in bases for place in each)


def _places(asked: Specification, axis: Axis) -> Sequence[float]:
    return (
        range(len(axis.values))
        if axis.values is not None
        else [round_to_field(asked, axis, end) for end in axis.bounds]
    )


def _moved(draw: Draw, number: int, place: float) -> Draw:
    return [place if index == number else other for index, other in enumerate(draw)]


def _told(asked: Specification, refused: Invalid, field: str) -> Invalid:
    return Invalid(*[_placed(asked, error, field) for error in refused.errors or []][:MOST_TOLD])


def _placed(asked: Specification, error: FieldError, field: str) -> FieldError:
    """Name the part of the specification that a field of a configuration comes from."""
    part, _, name = error.field.partition(".")
    top = name.partition(".")[0] or part
    for number, axis in enumerate(asked.axes):
        if top in axis.fields:
            return FieldError(field=f"axes.{number}", message=f"{name or part}: {error.message}")
    if top == "preset":
        return FieldError(field="preset", message=error.message)
    if top == "total_steps" and asked.total_steps is not None:
        return FieldError(field="total_steps", message=error.message)
    if top == "seed":
        return FieldError(field="seeds", message=error.message)
    if top in asked.changes:
        return FieldError(field=f"changes.{name}", message=error.message)
    # What does not fit another value is told where that value is.
    return FieldError(field=field or error.field, message=f"{name}: {error.message}" if field else error.message)
