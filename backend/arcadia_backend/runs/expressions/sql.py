"""Translation of expressions to SQL for SQLite and PostgreSQL.

Conditions are true or false, never null. Values are null if they are missing.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from operator import add, eq, ge, gt, le, lt, mul, sub, truediv
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Double,
    Numeric,
    Text,
    and_,
    case,
    cast,
    false,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
    true,
)
from sqlalchemy.orm import Session

from arcadia_backend.database import engine
from arcadia_backend.database.tables import Run, RunTag, Study, StudyRun
from arcadia_backend.metrics.points import MetricClock, MetricSeries
from arcadia_backend.projects.service import in_projects
from arcadia_backend.runs.expressions import nodes
from arcadia_backend.runs.expressions.nodes import Column
from arcadia_backend.runs.expressions.scanner import LARGEST_NUMBER, SMALLEST_NUMBER

Sql = ColumnElement[Any]


class SettingsSql(ABC):
    """A field of a configuration as number, text and truth value. Each is null if the field is of another kind."""

    @abstractmethod
    def kind(self, name: str) -> Sql:
        """Return the field's type in JSON, in the words of the database."""

    @abstractmethod
    def number(self, name: str) -> Sql:
        """Return the number in a field."""

    @abstractmethod
    def text(self, name: str) -> Sql:
        """Return the text in a field. A list is its JSON."""

    @abstractmethod
    def raw(self, name: str) -> Sql:
        """Return the value of a field as text or number, which `kind` explains."""

    @abstractmethod
    def is_boolean(self, name: str, value: bool) -> ColumnElement[bool]:
        """Return whether a field is true, or false."""

    def is_missing(self, name: str) -> ColumnElement[bool]:
        """Return whether a field is absent or null."""
        return or_(self.kind(name).is_(None), self.kind(name) == "null")


class SqliteSettings(SettingsSql):
    """Fields in SQLite, whose types are true, false, integer, real, text, array, object and null."""

    def kind(self, name: str) -> Sql:
        """Return the field's type."""
        return func.json_type(Run.config, _path(name))

    def raw(self, name: str) -> Sql:
        """Return the value of a field."""
        return func.json_extract(Run.config, _path(name))

    def number(self, name: str) -> Sql:
        """Return the number in a field."""
        number = cast(self.raw(name), Double)
        return case((self.kind(name).in_(("integer", "real")), _bounded(number)), else_=None)

    def text(self, name: str) -> Sql:
        """Return the text in a field."""
        listed = _compact(self.raw(name))
        kind = self.kind(name)
        return case((kind == "text", self.raw(name)), (kind.in_(("array", "object")), listed), else_=None)

    def is_boolean(self, name: str, value: bool) -> ColumnElement[bool]:
        """Return whether a field is true, or false."""
        return self.kind(name) == ("true" if value else "false")


class PostgresqlSettings(SettingsSql):
    """Fields in PostgreSQL, whose types are boolean, number, string, array, object and null."""

    def kind(self, name: str) -> Sql:
        """Return the field's type."""
        return func.jsonb_typeof(Run.config[name])

    def raw(self, name: str) -> Sql:
        """Return the value of a field."""
        return cast(Run.config[name].as_string(), Text)

    def number(self, name: str) -> Sql:
        """Return the number in a field. It is compared before it is converted, since it may be larger than a double."""
        exact = cast(Run.config[name], Numeric)
        return case((self.kind(name) == "number", _bounded(exact, cast(exact, Double))), else_=None)

    def text(self, name: str) -> Sql:
        """Return the text in a field."""
        kind, listed = self.kind(name), _compact(self.raw(name))
        return case((kind == "string", self.raw(name)), (kind.in_(("array", "object")), listed), else_=None)

    def is_boolean(self, name: str, value: bool) -> ColumnElement[bool]:
        """Return whether a field is true, or false."""
        word = "true" if value else "false"
        return case((self.kind(name) == "boolean", self.raw(name) == word), else_=None)


def _path(name: str) -> str:
    # The stored JSON escapes other letters than ASCII, and SQLite compares names with their escapes.
    return f"$.{json.dumps(name)}"


def _bounded(number: Sql, converted: Sql | None = None) -> Sql:
    smallest: Sql = literal_column(f"{SMALLEST_NUMBER:g}")
    largest: Sql = literal_column(f"{LARGEST_NUMBER:g}")
    return case(
        (number.between(-smallest, smallest), literal(0.0, Double())),
        (number.between(-largest, largest), number if converted is None else converted),
        else_=None,
    )


def _compact(text: Sql) -> Sql:
    """Return JSON without spaces after its separators."""
    return func.replace(func.replace(text, ", ", ","), ": ", ":")


_COMPARE: dict[str, Callable[[Any, Any], Sql]] = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq}
_ARITHMETIC = {"+": add, "-": sub, "*": mul, "/": truediv}
_STATISTICS = {
    "last": MetricSeries.last,
    "min": MetricSeries.min,
    "max": MetricSeries.max,
    "mean": MetricSeries.recent_mean,
}


class Translator:
    """Translates expressions for the database of a session."""

    def __init__(self, session: Session) -> None:
        self._is_sqlite = session.get_bind().dialect.name == "sqlite"
        self.settings: SettingsSql = SqliteSettings() if self._is_sqlite else PostgresqlSettings()

    def condition(self, node: nodes.Condition) -> ColumnElement[bool]:
        """Translate a condition."""
        match node:
            case nodes.Both(conditions):
                return and_(*map(self.condition, conditions))
            case nodes.Either(conditions):
                return or_(*map(self.condition, conditions))
            case nodes.Not(inner):
                return not_(self.condition(inner))
            case nodes.Missing(value):
                return self._missing(value)
        return func.coalesce(self._comparison(node), false())

    def _comparison(self, node: nodes.Condition) -> Sql:
        match node:
            case nodes.Compare(operator, left, right):
                return _COMPARE[operator](self.number(left), self.number(right))
            case nodes.CompareTime(operator, column, moment):
                return _COMPARE[operator](getattr(Run, str(column.attribute)), moment)
            case nodes.OneOf(name, texts):
                return self._one_of(name, texts)
            case nodes.InStudy(study_id):
                return _in_study(Study.id == study_id)
            case nodes.Contains(name, text):
                return self._contains(name, text)
            case nodes.IsTrue(setting, value):
                return self.settings.is_boolean(setting.name, value)
        raise TypeError(node)

    def _one_of(self, name: Column | nodes.Setting, texts: tuple[str, ...]) -> Sql:
        if isinstance(name, nodes.Setting):
            return self.settings.text(name.name).in_(texts)
        if name.kind == "tags":
            return _has_tag(RunTag.tag.in_(texts))
        if name.kind == "study":
            return _in_study(Study.name.in_(texts))
        if name.name == "project":
            return and_(*in_projects(Run.project_id, texts))
        return self.text(name).in_(texts)

    def _contains(self, name: Column | nodes.Setting, text: str) -> Sql:
        if isinstance(name, nodes.Setting):
            return self.settings.text(name.name).icontains(text, autoescape=True)
        if name.kind == "tags":
            return _has_tag(RunTag.tag.icontains(text, autoescape=True))
        if name.kind == "study":
            return _in_study(Study.name.icontains(text, autoescape=True))
        return self.text(name).icontains(text, autoescape=True)

    def _missing(self, value: nodes.Value) -> ColumnElement[bool]:
        match value:
            case nodes.Setting(name):
                return self.settings.is_missing(name)
            case Column(kind="tags"):
                return not_(_has_tag(true()))
            case Column(kind="study"):
                return not_(_in_study(Study.id.is_not(None)))
            case Column(kind="text"):
                return self.text(value).is_(None)
            case Column(kind="time"):
                return getattr(Run, str(value.attribute)).is_(None)  # type: ignore[no-any-return]
        return self.number(value).is_(None)

    def text(self, column: Column) -> Sql:
        """Return the text of a column. An empty text is missing."""
        return func.nullif(getattr(Run, str(column.attribute)), "")

    def key(self, value: nodes.Value) -> Sql:
        """Return the sort key of a value: its number, text or time."""
        if isinstance(value, Column) and value.kind in ("tags", "study"):
            raise TypeError(value)
        if isinstance(value, Column) and value.kind == "text":
            return self.text(value)
        if isinstance(value, Column) and value.kind == "time":
            return getattr(Run, str(value.attribute))  # type: ignore[no-any-return]
        return self.number(value)

    def number(self, value: nodes.Value) -> Sql:
        """Translate a value of numbers."""
        match value:
            case nodes.Constant(number):
                return literal(number, Double())
            case nodes.Setting(name):
                return self.settings.number(name)
            case nodes.MetricStatistic(name, statistic):
                column = stored_number(_STATISTICS[statistic])
                wanted = select(column).where(MetricSeries.run_id == Run.id, MetricSeries.name == name)
                return wanted.correlate(Run).scalar_subquery()
            case Column():
                return self._column(value)
        return self._calculated(value) if self._is_sqlite else self._combined(value)

    def _calculated(self, value: nodes.Value) -> Sql:
        """Translate a calculation for SQLite (backend/arcadia_backend/database/engine.py)."""
        values: list[Sql] = []
        program = json.dumps([*self._steps(value, values)])
        result: Sql = getattr(func, engine.NAME)(program, *values, type_=Double())
        return result

    def _steps(self, value: nodes.Value, values: list[Sql]) -> Iterator[int | float | str]:
        """Yield the steps of a calculation. Add the values that it needs."""
        match value:
            case nodes.Constant(number):
                yield float(number)
            case nodes.Negative(inner):
                yield from self._steps(inner, values)
                yield "negative"
            case nodes.Arithmetic(operator, left, right):
                yield from self._steps(left, values)
                yield from self._steps(right, values)
                yield operator
            case nodes.Call(function, arguments):
                yield from self._steps(arguments[0], values)
                for argument in arguments[1:]:
                    yield from self._steps(argument, values)
                    yield function
                if len(arguments) == 1:
                    yield function
            case _:
                values.append(self.number(value))
                yield len(values) - 1

    def _combined(self, value: nodes.Value) -> Sql:
        """Translate a calculation for PostgreSQL."""
        match value:
            case nodes.Negative(inner):
                return -self.number(inner)
            case nodes.Arithmetic(operator, left, right):
                return _arithmetic(operator, self.number(left), self.number(right))
            case nodes.Call(function, values):
                return _call(function, [self.number(each) for each in values])
        raise TypeError(value)

    def _column(self, column: Column) -> Sql:
        if column.attribute is not None:
            return stored_number(getattr(Run, column.attribute))
        # A run without a clock has not trained. The files of an imported run may have no times.
        seconds: Sql = func.coalesce(func.sum(MetricClock.last - MetricClock.first), 0.0)
        seconds = case((Run.origin == "imported", func.nullif(seconds, 0.0)), else_=seconds)
        hours = stored_number(seconds / 3600.0)
        return select(hours).where(MetricClock.run_id == Run.id).correlate(Run).scalar_subquery()


def _arithmetic(operator: str, left: Sql, right: Sql) -> Sql:
    if operator == "/":
        right = func.nullif(right, literal(0.0, Double()), type_=Double())
    result: Sql = _ARITHMETIC[operator](left, right)
    return result


def _call(function: str, values: list[Sql]) -> Sql:
    first = values[0]
    if function == "abs":
        return func.abs(first, type_=Double())
    if function == "log":
        # Zero and negative numbers become null, without repeating the value.
        positive = func.nullif(_larger(first, literal(0.0, Double())), literal(0.0, Double()))
        return func.ln(positive, type_=Double())
    if function == "sqrt":
        # No value is between zero and this one.
        below: Sql = literal(-1e-305, Double())
        return func.sqrt(func.nullif(_larger(first, below), below), type_=Double())
    for value in values[1:]:
        first = _larger(first, value) if function == "max" else _smaller(first, value)
    return first


def _larger(left: Sql, right: Sql) -> Sql:
    """Return the larger number, or null if one is null. GREATEST would ignore a null."""
    return func.float8larger(left, right, type_=Double())


def _smaller(left: Sql, right: Sql) -> Sql:
    return func.float8smaller(left, right, type_=Double())


def stored_number(column: Any) -> Sql:
    """Return a stored number. NaN, which SQLite stores as text, and infinities are missing."""
    number = cast(column, Double) if not isinstance(column.type, Double) and column.type.python_type is int else column
    return case(
        (number.between(-SMALLEST_NUMBER, SMALLEST_NUMBER), literal(0.0, Double())),
        (number.between(-LARGEST_NUMBER, LARGEST_NUMBER), number),
        else_=None,
    )


def _in_study(condition: ColumnElement[bool]) -> Sql:
    query = select(StudyRun.run_id).join(Study, Study.id == StudyRun.study_id)
    return Run.id.in_(query.where(StudyRun.run_id.is_not(None), condition))


def _has_tag(condition: ColumnElement[bool]) -> Sql:
    # The database evaluates this query once, and a query that refers to the run once for each run.
    return Run.id.in_(select(RunTag.run_id).where(condition))
