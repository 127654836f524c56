"""Display labels of axes, points and axis values."""

from collections.abc import Mapping
from typing import Any

from backend.runs.names import field_titles, format_field, format_value
from backend.studies.specification import Axis


def axis_title(axis: Axis) -> str:
    """Return the titles of the fields of an axis."""
    return ", ".join(_title(field) for field in axis.fields)


def point_label(values: Mapping[str, Any]) -> str:
    """Return the label of a point: its fields with their values."""
    return " · ".join(_field_label(field, value) for field, value in values.items()) or "base configuration"


def axis_value_label(axis: Axis, place: float) -> str:
    """Format the value of an axis at a position."""
    value = place if axis.values is None else axis.values[int(place)]
    return ", ".join(map(format_value, value)) if isinstance(value, list) else format_value(value)


def _title(field: str) -> str:
    return "Preset" if field == "preset" else field_titles().get(field, field)


def _field_label(field: str, value: Any) -> str:
    return format_value(value) if field == "preset" else f"{_title(field)} {format_field(field, value)}"
