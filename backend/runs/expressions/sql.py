"""Translation of expressions to SQL for SQLite and PostgreSQL.

Conditions are true or false, never null. Values are null if they are missing.
"""

from collections.abc import Callable
from operator import add, eq, ge, gt, le, lt, mul, sub, truediv
from typing import Any

from sqlalchemy import ColumnElement, Double, and_, case, cast, false, func, literal, not_, or_, select, true
from sqlalchemy.orm import Session

from backend.database.tables import Run, RunTag, Study, StudyRun
from backend.metrics.models import MetricClock, MetricSeries
from backend.projects.lookup import in_projects
from backend.runs.expressions import nodes
from backend.runs.expressions.literals import LARGEST_NUMBER, SMALLEST_NUMBER
from backend.runs.expressions.names import Column
from backend.runs.expressions.settings_sql import PostgresqlSettings, SettingsSql, SqliteSettings

Sql = ColumnElement[Any]
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
            case nodes.Negative(inner):
                return -self.number(inner)
            case nodes.Setting(name):
                return self.settings.number(name)
            case nodes.MetricStatistic(name, statistic):
                found = stored_number(_STATISTICS[statistic])
                wanted = select(found).where(MetricSeries.run_id == Run.id, MetricSeries.name == name)
                return wanted.correlate(Run).scalar_subquery()
            case nodes.Arithmetic(operator, left, right):
                return self._arithmetic(operator, self.number(left), self.number(right))
            case nodes.Call(function, values):
                return self._call(function, [self.number(each) for each in values])
            case Column():
                return self._column(value)
        raise TypeError(value)

    def _column(self, column: Column) -> Sql:
        if column.attribute is not None:
            return stored_number(getattr(Run, column.attribute))
        # A run without a clock has not trained.
        seconds = func.coalesce(func.sum(MetricClock.last - MetricClock.first), 0.0)
        hours = stored_number(seconds / 3600.0)
        return select(hours).where(MetricClock.run_id == Run.id).correlate(Run).scalar_subquery()

    def _arithmetic(self, operator: str, left: Sql, right: Sql) -> Sql:
        if operator == "/":
            right = func.nullif(right, literal(0.0, Double()), type_=Double())
        result: Sql = _ARITHMETIC[operator](left, right)
        return result

    def _call(self, function: str, values: list[Sql]) -> Sql:
        first = values[0]
        if function == "abs":
            return func.abs(first, type_=Double())
        if function == "log":
            # Zero and negative numbers become null, without repeating the value.
            positive = func.nullif(self._larger(first, literal(0.0, Double())), literal(0.0, Double()))
            return func.ln(positive, type_=Double())
        if function == "sqrt":
            # No value is between zero and this one.
            below: Sql = literal(-1e-305, Double())
            return func.sqrt(func.nullif(self._larger(first, below), below), type_=Double())
        for value in values[1:]:
            first = self._larger(first, value) if function == "max" else self._smaller(first, value)
        return first

    def _larger(self, left: Sql, right: Sql) -> Sql:
        """Return the larger number, or null if one is null. GREATEST of PostgreSQL would ignore a null."""
        larger = func.max if self._is_sqlite else func.float8larger
        return larger(left, right, type_=Double())

    def _smaller(self, left: Sql, right: Sql) -> Sql:
        smaller = func.min if self._is_sqlite else func.float8smaller
        return smaller(left, right, type_=Double())


def stored_number(column: Any) -> Sql:
    """Return a stored number. NaN, which SQLite stores as text, and infinities are missing."""
    number = cast(column, Double) if not isinstance(column.type, Double) and column.type.python_type is int else column
    return case(
        (number.between(-SMALLEST_NUMBER, SMALLEST_NUMBER), literal(0.0, Double())),
        (number.between(-LARGEST_NUMBER, LARGEST_NUMBER), number),
        else_=None,
    )


def _in_study(condition: ColumnElement[bool]) -> Sql:
    found = select(StudyRun.run_id).join(Study, Study.id == StudyRun.study_id)
    return Run.id.in_(found.where(StudyRun.run_id.is_not(None), condition))


def _has_tag(condition: ColumnElement[bool]) -> Sql:
    # The database evaluates this query once, and a query that refers to the run once for each run.
    return Run.id.in_(select(RunTag.run_id).where(condition))
