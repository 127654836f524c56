"""Diagrams of how a method is built here, with the numbers of a run in their boxes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reading:
    """A number in a box: a metric of the run, or a field of its configuration where the metric is missing."""

    label: str
    metric: str | None = None
    # Several fields are multiplied.
    fields: tuple[str, ...] = ()
    unit: str = ""
    # The last value is shown, not the mean of the last reports.
    counts: bool = False


@dataclass(frozen=True)
class Box:
    """A part of the method, in a grid that wide screens show in columns and narrow screens in rows."""

    name: str
    title: str
    # What it is on the host, as "threads".
    kind: str
    does: str
    column: int
    row: int = 0
    rows: int = 1
    # There are several of it.
    many: bool = False
    # The learned parameters are there.
    learned: bool = False
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True)
class Arrow:
    """What one box sends to another; `around` leads past the boxes between them."""

    start: str
    end: str
    carries: str
    around: bool = False


@dataclass(frozen=True)
class Group:
    """Boxes that are one process in runs with these values."""

    title: str
    boxes: tuple[str, ...]
    only: Mapping[str, Any]


@dataclass(frozen=True)
class Diagram:
    """How methods are built here."""

    # In addresses, as ga3c.
    name: str
    title: str
    methods: tuple[str, ...]
    # What the launch form begins with where no run has trained yet.
    preset: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    groups: tuple[Group, ...] = ()
