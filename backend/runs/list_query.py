"""The query of the run list: filters, sorting by any column, field or metric, and stable pages."""

import base64
import json
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session, defer

from backend.database.tables import Run, RunTag, StudyRun
from backend.errors import FieldError, Invalid
from backend.metrics.models import MetricSeries
from backend.projects.lookup import in_projects
from backend.runs.config_sort import field_sort_key, field_type
from backend.runs.expressions.requests import filter_sql
from workers.contract.values import LARGEST, MAX_ID, storable

SORTABLE = (
    "id name state desired origin project algorithm env queue attempt priority created_at started_at finished_at "
    "archived_at worker step frames total_steps steps_per_second seconds_left last_return best_return episodes"
).split()
# Columns that most lists do not show.
LONG_COLUMNS = ("config", "notes", "versions", "command", "failure_traceback")
CONFIG_PREFIX = "config:"
MAX_SEARCH_LENGTH = 200


@dataclass
class Filters:
    """Conditions on the listed runs."""

    states: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    algorithms: list[str] = field(default_factory=list)
    envs: list[str] = field(default_factory=list)
    text: str = ""
    archived: bool = False
    study: int | None = None
    numbers: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    projects: list[str] = field(default_factory=list)
    expression: str = ""


@dataclass
class RunRows:
    """Rows of one page, with the cursor of the next page."""

    runs: list[Run]
    next_cursor: str | None
    total: int


@dataclass
class _Order:
    key: ColumnElement[Any] | InstrumentedAttribute[Any]
    descending: bool
    metric: str | None = None


def list_runs(
    session: Session, filters: Filters, sort: str, limit: int, cursor: str | None, long_columns: Collection[str] = ()
) -> RunRows:
    """Return one page of runs. Reading a column of LONG_COLUMNS that is not in `long_columns` raises an error."""
    order = _order(sort)
    conditions = filter_conditions(session, filters)
    total = session.scalar(select(func.count()).select_from(Run).where(*conditions)) or 0
    unread = [defer(getattr(Run, name), raiseload=True) for name in LONG_COLUMNS if name not in long_columns]
    query: Select[Any] = select(Run, order.key.label("sort_key")).where(*conditions).options(*unread)
    if order.metric is not None:
        same = and_(MetricSeries.run_id == Run.id, MetricSeries.name == order.metric)
        query = query.outerjoin(MetricSeries, same)
    if cursor is not None:
        query = query.where(_after_cursor(order, *_read_cursor(cursor, sort)))
    direction, tie_break = (order.key.desc(), Run.id.desc()) if order.descending else (order.key.asc(), Run.id.asc())
    rows = session.execute(query.order_by(order.key.is_(None), direction, tie_break).limit(limit + 1)).all()
    more = rows[limit - 1] if len(rows) > limit else None
    next_cursor = _write_cursor(sort, more.sort_key, more.Run.id) if more is not None else None
    return RunRows([row.Run for row in rows[:limit]], next_cursor, total)


def _order(sort: str) -> _Order:
    name, descending = sort.removeprefix("-"), sort.startswith("-")
    if name in SORTABLE:
        return _Order(getattr(Run, name), descending)
    if name.startswith("metric:") and name.count(":") >= 2:
        # Names of metrics may contain colons.
        metric, _, statistic = name.removeprefix("metric:").rpartition(":")
        if metric and statistic in ("last", "min", "max"):
            return _Order(getattr(MetricSeries, statistic), descending, metric)
    if name.startswith(CONFIG_PREFIX) and (type_ := field_type(name.removeprefix(CONFIG_PREFIX))):
        return _Order(field_sort_key(name.removeprefix(CONFIG_PREFIX), type_), descending)
    others = "metric:NAME:last, :min or :max, or by config:FIELD"
    raise Invalid(FieldError(field="sort", message=f"sort by one of {', '.join(SORTABLE)}, or by {others}"))


def filter_conditions(session: Session, filters: Filters) -> list[ColumnElement[bool]]:
    """Return the SQL conditions of the filters. Raise InvalidExpression if the expression is wrong."""
    conditions: list[ColumnElement[bool]] = [
        Run.archived_at.is_not(None) if filters.archived else Run.archived_at.is_(None),
        *in_projects(Run.project_id, filters.projects),
    ]
    for column, values in (
        (Run.state, filters.states),
        (Run.algorithm, filters.algorithms),
        (Run.env, filters.envs),
        (Run.origin, filters.origins),
    ):
        if values:
            conditions.append(column.in_(values))
    if filters.numbers:
        conditions.append(Run.id.in_(filters.numbers))
    if filters.names:
        conditions.append(Run.name.in_(filters.names))
    if filters.study is not None:
        conditions.append(Run.id.in_(select(StudyRun.run_id).where(StudyRun.study_id == filters.study)))
    conditions.extend(Run.tags.any(RunTag.tag == tag) for tag in filters.tags)
    if filters.text:
        conditions.append(_contains(filters.text))
    if filters.expression.strip():
        conditions.append(filter_sql(session, filters.expression))
    return conditions


def _contains(text: str) -> ColumnElement[bool]:
    columns = (Run.name, Run.notes, Run.project, Run.env, Run.algorithm, Run.failure_message)
    matches: list[ColumnElement[bool]] = [column.icontains(text, autoescape=True) for column in columns]
    matches.append(Run.tags.any(RunTag.tag.icontains(text, autoescape=True)))
    number = text.removeprefix("#")
    if number.isascii() and number.isdecimal() and len(number) < 16:
        matches.append(Run.id == int(number))
    return or_(*matches)


def _after_cursor(order: _Order, value: Any, run_id: int) -> ColumnElement[bool]:
    """Return the condition for rows after the cursor. Rows without a value come last."""
    beyond_id = Run.id < run_id if order.descending else Run.id > run_id
    if value is None:
        return and_(order.key.is_(None), beyond_id)
    beyond = order.key < value if order.descending else order.key > value
    return or_(beyond, and_(order.key == value, beyond_id), order.key.is_(None))


def _write_cursor(sort: str, value: Any, run_id: int) -> str:
    if isinstance(value, datetime):
        value = {"time": value.isoformat()}
    elif isinstance(value, float):
        # Use repr, because JSON cannot hold NaN and infinities.
        value = {"number": repr(value)}
    return base64.urlsafe_b64encode(json.dumps([sort, value, run_id]).encode()).decode()


def _read_cursor(cursor: str, sort: str) -> tuple[Any, int]:
    try:
        sorted_by, value, run_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        if isinstance(value, dict):
            # Convert to UTC here, to catch the OverflowError of dates at the end of the calendar.
            is_time = "time" in value
            value = datetime.fromisoformat(value["time"]).astimezone(UTC) if is_time else float(value["number"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        raise _invalid_cursor() from None
    fits = value is None or type(value) is _python_type(sort)
    fits = fits and not _is_unstorable(value)
    if sorted_by != sort or not fits or type(run_id) is not int or not 0 <= run_id < MAX_ID:
        raise _invalid_cursor()
    return value, run_id


def _is_unstorable(value: object) -> bool:
    return abs(value) > LARGEST if isinstance(value, int) else isinstance(value, str) and storable(value) != value


def _invalid_cursor() -> Invalid:
    message = "this cursor is not of a list in this order; start again without a cursor"
    return Invalid(FieldError(field="cursor", message=message))


def _python_type(sort: str) -> type[Any]:
    name = sort.removeprefix("-")
    if name.startswith("metric:"):
        return float
    if name.startswith(CONFIG_PREFIX):
        return field_type(name.removeprefix(CONFIG_PREFIX)) or str
    python_type: type[Any] = getattr(Run, name).type.python_type
    return python_type
