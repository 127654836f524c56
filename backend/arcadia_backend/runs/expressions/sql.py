"""Translation of expressions to SQL for SQLite and PostgreSQL.

Conditions are true or false, never null. Values are null if they are missing.
"""

import json
from collections.abc import Callable, Iterator
from operator import add, eq, ge, gt, le, lt, mul, sub, truediv
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Double,
    FromClause,
    Text,
    and_,
    case,
    cast,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    true,
    type_coerce,
)
from sqlalchemy.orm import Session

from arcadia_backend.database import calculation
from arcadia_backend.database.rights import beside_run
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import (
    LARGEST_NUMBER,
    SMALLEST_NUMBER,
    Run,
    RunSetting,
    RunTag,
    Study,
    StudyRun,
)
from arcadia_backend.metrics.points import MetricClock, MetricSeries
from arcadia_backend.projects.service import in_projects
from arcadia_backend.runs.expressions import nodes
from arcadia_backend.runs.expressions.nodes import ME, Column

Sql = ColumnElement[Any]


_COMPARE: dict[str, Callable[[Any, Any], Sql]] = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq}
_ARITHMETIC = {"+": add, "-": sub, "*": mul, "/": truediv}
_STATISTICS = {"last": "last", "min": "min", "max": "max", "mean": "recent_mean"}
# Types of settings that are compared as texts.
_TEXTS = ("text", "json")

# Joined settings and metrics of a query. Others are subqueries, because SQLite joins at most 64 tables.
MAX_JOINS = 20


class Translator:
    """Translates expressions for the database of a session.

    With `joins`, the query must select from `source()`, which reads a setting or a metric once for all its values.
    """

    def __init__(self, session: Session, *, joins: bool = False) -> None:
        self._is_sqlite = session.get_bind().dialect.name == "sqlite"
        self._joined: dict[tuple[Any, str], Any] | None = {} if joins else None

    def source(self) -> FromClause:
        """Return the runs, joined with the settings and metrics of the expressions so far."""
        source: Any = Run.__table__
        for (_table, name), rows in (self._joined or {}).items():
            source = source.outerjoin(rows, and_(rows.name == name, rows.run_id == Run.id))
        return source  # type: ignore[no-any-return]

    def _read(self, table: Any, name: str, read: Callable[[Any], Sql]) -> Sql:
        """Return a value of a run's row in a table that has one row per run and name."""
        if self._joined is not None and ((table, name) in self._joined or len(self._joined) < MAX_JOINS):
            return read(self._joined.setdefault((table, name), beside_run(table, len(self._joined))))
        rows = select(read(table)).where(table.name == name, table.run_id == Run.id)
        return rows.correlate(Run).scalar_subquery()

    def setting_text(self, name: str) -> Sql:
        """Return the text of a setting of any type."""
        return self._read(RunSetting, name, lambda row: row.text)

    def setting_value(self, name: str) -> Sql:
        """Return a setting as its type, a colon and its text."""
        return self._read(RunSetting, name, lambda row: row.type + ":" + row.text)

    def digits(self, value: nodes.Value) -> Sql:
        """Return a number as a text with all of its digits."""
        number = self.number(value)
        return func.nullif(func.quote(number), "NULL") if self._is_sqlite else cast(number, Text)

    def time(self, value: Sql) -> Sql:
        """Return a time as a text in UTC. The order of the texts is that of the times."""
        return type_coerce(value, Text) if self._is_sqlite else cast(func.timezone("UTC", value), Text)

    def listed(self, value: Any) -> Sql:
        """Return the values of all rows as a JSON list. SQLite writes numbers with 15 digits."""
        return func.json_group_array(value) if self._is_sqlite else cast(func.json_agg(value), Text)

    def metric(self, name: str, column: str, convert: Callable[[Sql], Sql] = lambda value: value) -> Sql:
        """Return a column of a run's metric."""
        return self._read(MetricSeries, name, lambda row: convert(getattr(row, column)))

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
            case nodes.Compare(operator, nodes.Setting() as setting, nodes.Constant(number)):
                return has_setting(setting, _COMPARE[operator](RunSetting.number, number))
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
                return has_setting(
                    setting, RunSetting.type == "boolean", RunSetting.text == ("true" if value else "false")
                )
        raise TypeError(node)

    def _one_of(self, name: Column | nodes.Setting, texts: tuple[str, ...]) -> Sql:
        if isinstance(name, nodes.Setting):
            return has_setting(name, RunSetting.type.in_(_TEXTS), RunSetting.text.in_(texts))
        if name.kind == "tags":
            return _has_tag(RunTag.tag.in_(texts))
        if name.kind == "study":
            return _in_study(Study.name.in_(texts))
        if name.name == "project":
            return and_(*in_projects(Run.project_id, texts))
        if name.name == "person" and ME in texts:
            return or_(Run.person_id == current().person_id, self.text(name).in_(texts))
        return self.text(name).in_(texts)

    def _contains(self, name: Column | nodes.Setting, text: str) -> Sql:
        if isinstance(name, nodes.Setting):
            contains = RunSetting.text.icontains(text, autoescape=True)
            return has_setting(name, RunSetting.type.in_(_TEXTS), contains)
        if name.kind == "tags":
            return _has_tag(RunTag.tag.icontains(text, autoescape=True))
        if name.kind == "study":
            return _in_study(Study.name.icontains(text, autoescape=True))
        return self.text(name).icontains(text, autoescape=True)

    def _missing(self, value: nodes.Value) -> ColumnElement[bool]:
        match value:
            case nodes.Setting():
                return not_(has_setting(value))
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
            case nodes.Setting():
                numbers = [self._read(RunSetting, name, lambda row: row.number) for name in value.names]
                return func.coalesce(*numbers) if len(numbers) > 1 else numbers[0]
            case nodes.MetricStatistic(name, statistic):
                return self.metric(name, _STATISTICS[statistic], stored_number)
            case Column():
                return self._column(value)
        if not self._is_sqlite:
            return self._combined(value)
        # See backend/arcadia_backend/database/calculation.py.
        values: list[Sql] = []
        program = json.dumps([*self._steps(value, values)])
        result: Sql = getattr(func, calculation.NAME)(program, *values, type_=Double())
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
        first = _larger(first, value) if function == "max" else func.float8smaller(first, value, type_=Double())
    return first


def _larger(left: Sql, right: Sql) -> Sql:
    """Return the larger number, or null if one is null. GREATEST would ignore a null."""
    return func.float8larger(left, right, type_=Double())


def stored_number(column: Any) -> Sql:
    """Return a stored number. NaN, which SQLite stores as text, and infinities are missing."""
    number = cast(column, Double) if not isinstance(column.type, Double) and column.type.python_type is int else column
    return case(
        (number.between(-SMALLEST_NUMBER, SMALLEST_NUMBER), literal(0.0, Double())),
        (number.between(-LARGEST_NUMBER, LARGEST_NUMBER), number),
        else_=None,
    )


def has_setting(setting: nodes.Setting, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return whether a run has a setting that fulfills the conditions."""
    # Without the sum, SQLite would look up each run of the subquery in the table, although an index has the runs.
    return (Run.id + 0).in_(select(RunSetting.run_id).where(RunSetting.name.in_(setting.names), *conditions))


def _in_study(condition: ColumnElement[bool]) -> Sql:
    query = select(StudyRun.run_id).join(Study, Study.id == StudyRun.study_id)
    return Run.id.in_(query.where(StudyRun.run_id.is_not(None), condition))


def _has_tag(condition: ColumnElement[bool]) -> Sql:
    # The database evaluates this query once, and a query that refers to the run once for each run.
    return Run.id.in_(select(RunTag.run_id).where(condition))
