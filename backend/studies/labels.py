"""Axes and points of studies as people call them."""

from collections.abc import Mapping
from typing import Any

from backend.runs.names import field_titles, format_value
from backend.studies.specification import Axis


def axis_title(axis: Axis) -> str:
    """An axis as people call it."""
    return ", ".join(_title(field) for field in axis.fields)


def point_label(values: Mapping[str, Any]) -> str:
    """A point in words."""
    return " · ".join(_told(field, value) for field, value in values.items()) or "as it stands"


def axis_value_label(axis: Axis, place: float) -> str:
    """A value of an axis as people write it."""
    value = place if axis.values is None else axis.values[int(place)]
    return ", ".join(map(format_value, value)) if isinstance(value, list) else format_value(value)


def _title(field: str) -> str:
    return "Preset" if field == "preset" else field_titles().get(field, field)


def _told(field: str, value: Any) -> str:
    return format_value(value) if field == "preset" else f"{_title(field)} {format_value(value)}"
