"""Definitions of diagrams: a method's architecture, with numbers of a run in its boxes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reading:
    """A number in a box: a metric of the run, or configuration fields if the metric is missing."""

    label: str
    metric: str | None = None
    # The product of several fields is shown.
    fields: tuple[str, ...] = ()
    unit: str = ""
    # Show the last value instead of the mean of the last 100.
    counts: bool = False


@dataclass(frozen=True)
class Box:
    """A component of the method at a place of a grid. Wide screens show columns, narrow screens rows."""

    name: str
    title: str
    # What it is on the host, such as "threads".
    kind: str
    does: str
    column: int
    row: int = 0
    rows: int = 1
    # There are several instances.
    many: bool = False
    # It holds the learned parameters.
    learned: bool = False
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True)
class Arrow:
    """Data that one box sends to another. `around` draws the arrow past the boxes between them."""

    start: str
    end: str
    carries: str
    around: bool = False


@dataclass(frozen=True)
class BoxGroup:
    """Boxes that share a process in runs with these configuration values."""

    title: str
    boxes: tuple[str, ...]
    only: Mapping[str, Any]


@dataclass(frozen=True)
class MethodDiagram:
    """The architecture of one or more methods as implemented here."""

    # Name in URLs, such as ga3c.
    name: str
    title: str
    methods: tuple[str, ...]
    # Preset to launch while no run of the method has started.
    preset: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    groups: tuple[BoxGroup, ...] = ()
