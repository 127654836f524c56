"""Syntax tree of an expression: values are numbers of a run, conditions are true or false for a run."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal

from arcadia_backend.errors import FieldError, Problem
from arcadia_backend.runs.names import field_titles, schema_fields

MAX_SUGGESTIONS = 3
MAX_QUOTED_LENGTH = 60


@dataclass(frozen=True)
class Span:
    """A part of an expression, in characters."""

    start: int
    end: int


@dataclass(frozen=True)
class Expected:
    """The kind of token that an error misses. Operators and texts follow a value."""

    kind: Literal["name", "operator", "text", "time", "missing", "field", "connective"]
    left: object = None


class ExpressionError(Exception):
    """An error at a span of an expression, with replacements for it."""

    def __init__(
        self, message: str, span: Span, suggestions: Sequence[str] = (), expected: Expected | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.suggestions = list(suggestions)
        self.expected = expected


class InvalidExpression(Problem):
    """An expression in a request is wrong."""

    status = 422
    kind = "invalid"
    title = "Invalid value"

    def __init__(self, field: str, error: ExpressionError) -> None:
        start, length = error.span.start, error.span.end - error.span.start
        message = f"{error.message} (at character {start + 1})"
        super().__init__(
            f"{field}: {message}",
            errors=[FieldError(field=field, message=message)],
            expression={"field": field, "position": start, "length": length, "suggestions": error.suggestions},
        )


def similar(name: str, known: Iterable[str]) -> list[str]:
    """Return the most similar known names."""
    by_lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name[:100].lower(), by_lower, n=MAX_SUGGESTIONS, cutoff=0.6)
    return [by_lower[each] for each in close]


def did_you_mean(suggestions: Sequence[str]) -> str:
    """Return the end of an error message that names suggestions."""
    return f"; did you mean {' or '.join(suggestions)}?" if suggestions else ""


def shortened(text: str) -> str:
    """Return a text that fits into a message."""
    return text if len(text) <= MAX_QUOTED_LENGTH else f"{text[:MAX_QUOTED_LENGTH]}…"


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
    _number("core_hours", "Core hours of its jobs", "core_hours"),
    _number("gpu_hours", "GPU hours of its jobs", "gpu_hours"),
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
    _choice("executor", "Trains on", "executor"),
    _choice("person", "Person", "launched_by"),
    _time("created", "Created"),
    _time("started", "Started"),
    _time("finished", "Finished"),
)
# The person who asks, as in `person = me`.
ME = "me"
COLUMN_BY_NAME = {name: column for column in COLUMNS for name in (column.name, *column.aliases)}
# Their values are in columns of a run.
_COLUMN_FIELDS = ("algorithm", "env", "total_steps")


@cache
def setting_kinds() -> dict[str, SettingKind]:
    """Return the kind of each field that some method has."""
    kinds: dict[str, SettingKind] = {}
    for name, field in schema_fields():
        kind = _kind(field)
        kinds[name] = kind if kinds.get(name, kind) == kind else "any"
    return {name: kind for name, kind in kinds.items() if name not in _COLUMN_FIELDS}


def _kind(field: dict[str, Any]) -> SettingKind:
    types = {variant.get("type") for variant in field.get("anyOf", [field])} - {"null"}
    if types and types <= {"integer", "number"}:
        return "number"
    return "boolean" if types == {"boolean"} else "text"


# Short names of fields, and those of Stable-Baselines3. Scripts may log fields with these names.
SETTING_ALIASES = {
    "lr": "learning_rate",
    "n_envs": "num_envs",
    "n_steps": "t_max",
    "ent_coef": "entropy_cost",
    "vf_coef": "value_cost",
}


def setting_title(name: str) -> str:
    """Return the title of a field of the configuration, as the launch form shows it."""
    return field_titles().get(name, name)


Statistic = Literal["last", "min", "max", "mean"]
ArithmeticOperator = Literal["+", "-", "*", "/"]
FunctionName = Literal["min", "max", "abs", "log", "sqrt"]
# The operators != and "not in" are negations of other nodes.
CompareOperator = Literal["=", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Constant:
    """A number in the expression."""

    value: float


@dataclass(frozen=True)
class Setting:
    """A field of a run's configuration. With a short name, it is also the field for which that stands."""

    name: str
    stands_for: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the field in configurations."""
        return (self.name, self.stands_for) if self.stands_for else (self.name,)


@dataclass(frozen=True)
class MetricStatistic:
    """A statistic of a metric. The mean is of the last 100 points."""

    name: str
    statistic: Statistic


@dataclass(frozen=True)
class Negative:
    """The negative of a value."""

    value: "Value"


@dataclass(frozen=True)
class Arithmetic:
    """Two values and an arithmetic operator. A division by zero has no value."""

    operator: ArithmeticOperator
    left: "Value"
    right: "Value"


@dataclass(frozen=True)
class Call:
    """A function of values. It has no value if one of them has none, or outside of its domain."""

    function: FunctionName
    values: tuple["Value", ...]


@dataclass(frozen=True)
class Compare:
    """A comparison of numbers. It is false if one of them is missing."""

    operator: CompareOperator
    left: "Value"
    right: "Value"


@dataclass(frozen=True)
class CompareTime:
    """A comparison of a time with a moment. It is false if the time is missing."""

    operator: CompareOperator
    column: Column
    moment: datetime


@dataclass(frozen=True)
class OneOf:
    """Condition that a text, or one of several tags or studies, is one of these texts."""

    name: Column | Setting
    texts: tuple[str, ...]


@dataclass(frozen=True)
class InStudy:
    """Condition that a run belongs to a study."""

    study_id: int


@dataclass(frozen=True)
class Contains:
    """Condition that a text contains another one, ignoring case."""

    name: Column | Setting
    text: str


@dataclass(frozen=True)
class IsTrue:
    """Condition that a field of the configuration is true, or false."""

    setting: Setting
    value: bool


@dataclass(frozen=True)
class Missing:
    """Condition that a run has no value."""

    value: "Value"


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    condition: "Condition"


@dataclass(frozen=True)
class Both:
    """Condition that all of these conditions are true."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True)
class Either:
    """Condition that at least one of these conditions is true."""

    conditions: tuple["Condition", ...]


Value = Constant | Column | Setting | MetricStatistic | Negative | Arithmetic | Call
Condition = Compare | CompareTime | OneOf | InStudy | Contains | IsTrue | Missing | Not | Both | Either
Node = Value | Condition
