"""Names of a run's values in expressions."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from backend.runs.names import field_titles, schema_fields

ColumnKind = Literal["number", "text", "time", "tags", "study"]
SettingKind = Literal["number", "text", "boolean", "any"]


@dataclass(frozen=True)
class Column:
    """A value that every run can have. `attribute` is its column in the table of runs, if it is one."""

    name: str
    title: str
    kind: ColumnKind
    attribute: str | None = None
    aliases: tuple[str, ...] = ()
    # Whether `name:text` looks for the whole text, and not for a part of it.
    is_choice: bool = False
    # The unit of a duration.
    unit_seconds: float | None = None


def _number(name: str, title: str, attribute: str, *aliases: str, unit_seconds: float | None = None) -> Column:
    return Column(name, title, "number", attribute, aliases, unit_seconds=unit_seconds)


def _time(name: str, title: str) -> Column:
    return Column(name, title, "time", f"{name}_at", (f"{name}_at",))


def _choice(name: str, title: str, attribute: str, *aliases: str) -> Column:
    return Column(name, title, "text", attribute, aliases, is_choice=True)


COLUMNS = (
    _number("return", "Return", "last_return", "last_return"),
    _number("best_return", "Best return", "best_return"),
    _number("steps", "Steps", "step", "step"),
    _number("frames", "Frames", "frames"),
    _number("total_steps", "Planned steps", "total_steps"),
    _number("episodes", "Episodes", "episodes"),
    _number("speed", "Steps per second", "steps_per_second", "steps_per_second"),
    Column("hours", "Training time, hours", "number", unit_seconds=3600.0),
    _number("time_left", "Remaining training time, seconds", "seconds_left", "seconds_left", unit_seconds=1.0),
    _number("attempt", "Attempt", "attempt"),
    _number("priority", "Priority", "priority"),
    _number("id", "Number", "id"),
    _choice("state", "State", "state"),
    _choice("method", "Method", "algorithm", "algorithm"),
    _choice("env", "Environment", "env"),
    _choice("project", "Project", "project"),
    Column("tag", "Tag", "tags", aliases=("tags",), is_choice=True),
    Column("study", "Study", "study", is_choice=True),
    Column("name", "Name", "text", "name"),
    Column("notes", "Notes", "text", "notes"),
    Column("failure", "Failure", "text", "failure_message"),
    _choice("origin", "Origin", "origin"),
    _choice("queue", "Queue", "queue"),
    _choice("worker", "Worker", "worker"),
    _time("created", "Created"),
    _time("started", "Started"),
    _time("finished", "Finished"),
)
COLUMN_BY_NAME = {name: column for column in COLUMNS for name in (column.name, *column.aliases)}
# Their values are in columns of a run.
_COLUMN_FIELDS = ("algorithm", "env", "total_steps")


@cache
def setting_kinds() -> dict[str, SettingKind]:
    """Return the kind of each field that some method has."""
    found: dict[str, SettingKind] = {}
    for name, field in schema_fields():
        kind = _kind(field)
        found[name] = kind if found.get(name, kind) == kind else "any"
    return {name: kind for name, kind in found.items() if name not in _COLUMN_FIELDS}


def _kind(field: dict[str, Any]) -> SettingKind:
    types = {variant.get("type") for variant in field.get("anyOf", [field])} - {"null"}
    if types and types <= {"integer", "number"}:
        return "number"
    return "boolean" if types == {"boolean"} else "text"


def setting_title(name: str) -> str:
    """Return the title of a field of the configuration, as the launch form shows it."""
    return field_titles().get(name, name)
