"""The list of runs: filters, sorting by any column or metric, and pages that stay in step while rows change."""

import base64
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.database.tables import Run, RunTag, StudyRun
from backend.errors import FieldError, Invalid
from backend.metrics.models import MetricSeries
from backend.runs.config_sort import config_key, config_kind
from workers.contract.values import LARGEST, MAX_ID, storable

SORTABLE = (
    "id name state desired algorithm env queue attempt priority created_at started_at finished_at archived_at worker "
    "step frames total_steps steps_per_second seconds_left last_return best_return episodes"
).split()
CONFIG = "config:"
# The longest text that runs are searched for.
LONGEST_TEXT = 200


@dataclass
class Filters:
    """Which runs are wanted."""

    states: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    algorithms: list[str] = field(default_factory=list)
    envs: list[str] = field(default_factory=list)
    text: str = ""
    archived: bool = False
    study: int | None = None
    numbers: list[int] = field(default_factory=list)


@dataclass
class Page:
    """Rows of one page, and where the next one begins."""

    runs: list[Run]
    next_cursor: str | None
    total: int


@dataclass
class _Order:
    key: ColumnElement[Any] | InstrumentedAttribute[Any]
    descending: bool
    metric: str | None = None


def list_runs(session: Session, filters: Filters, sort: str, limit: int, cursor: str | None) -> Page:
    """One page of runs."""
    order = _order(sort)
    wanted = filtered(filters)
    total = session.scalar(select(func.count()).select_from(Run).where(*wanted)) or 0
    query: Select[Any] = select(Run, order.key.label("sort_key")).where(*wanted)
    if order.metric is not None:
        same = and_(MetricSeries.run_id == Run.id, MetricSeries.name == order.metric)
        query = query.outerjoin(MetricSeries, same)
    if cursor is not None:
        query = query.where(_beyond(order, *_read_cursor(cursor, sort)))
    directed, last = (order.key.desc(), Run.id.desc()) if order.descending else (order.key.asc(), Run.id.asc())
    rows = session.execute(query.order_by(order.key.is_(None), directed, last).limit(limit + 1)).all()
    more = rows[limit - 1] if len(rows) > limit else None
    next_cursor = _write_cursor(sort, more.sort_key, more.Run.id) if more is not None else None
    return Page([row.Run for row in rows[:limit]], next_cursor, total)


def _order(sort: str) -> _Order:
    name, descending = sort.removeprefix("-"), sort.startswith("-")
    if name in SORTABLE:
        return _Order(getattr(Run, name), descending)
    if name.startswith("metric:") and name.count(":") == 2:
        _, metric, statistic = name.split(":")
        if statistic in ("last", "min", "max"):
            return _Order(getattr(MetricSeries, statistic), descending, metric)
    if name.startswith(CONFIG) and (kind := config_kind(name.removeprefix(CONFIG))):
        return _Order(config_key(name.removeprefix(CONFIG), kind), descending)
    others = "metric:NAME:last, :min or :max, or by config:FIELD"
    raise Invalid(FieldError(field="sort", message=f"sort by one of {', '.join(SORTABLE)}, or by {others}"))


def filtered(filters: Filters) -> list[ColumnElement[bool]]:
    """What the wanted runs are to be."""
    wanted: list[ColumnElement[bool]] = [
        Run.archived_at.is_not(None) if filters.archived else Run.archived_at.is_(None)
    ]
    for column, values in ((Run.state, filters.states), (Run.algorithm, filters.algorithms), (Run.env, filters.envs)):
        if values:
            wanted.append(column.in_(values))
    if filters.numbers:
        wanted.append(Run.id.in_(filters.numbers))
    if filters.study is not None:
        wanted.append(Run.id.in_(select(StudyRun.run_id).where(StudyRun.study_id == filters.study)))
    wanted.extend(Run.tags.any(RunTag.tag == tag) for tag in filters.tags)
    if filters.text:
        wanted.append(_contains(filters.text))
    return wanted


def _contains(text: str) -> ColumnElement[bool]:
    columns = (Run.name, Run.notes, Run.env, Run.algorithm, Run.failure_message)
    places: list[ColumnElement[bool]] = [column.icontains(text, autoescape=True) for column in columns]
    places.append(Run.tags.any(RunTag.tag.icontains(text, autoescape=True)))
    number = text.removeprefix("#")
    if number.isascii() and number.isdecimal() and len(number) < 16:
        places.append(Run.id == int(number))
    return or_(*places)


def _beyond(order: _Order, value: Any, run_id: int) -> ColumnElement[bool]:
    """Rows after the last page's last row; rows without a value come last."""
    beyond_id = Run.id < run_id if order.descending else Run.id > run_id
    if value is None:
        return and_(order.key.is_(None), beyond_id)
    beyond = order.key < value if order.descending else order.key > value
    return or_(beyond, and_(order.key == value, beyond_id), order.key.is_(None))


def _write_cursor(sort: str, value: Any, run_id: int) -> str:
    if isinstance(value, datetime):
        value = {"time": value.isoformat()}
    elif isinstance(value, float):
        # repr keeps NaN and the infinities, which JSON does not.
        value = {"number": repr(value)}
    return base64.urlsafe_b64encode(json.dumps([sort, value, run_id]).encode()).decode()


def _read_cursor(cursor: str, sort: str) -> tuple[Any, int]:
    try:
        sorted_by, value, run_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        if isinstance(value, dict):
            # Turned to UTC here, which fails for a moment at the end of the calendar.
            moment = "time" in value
            value = datetime.fromisoformat(value["time"]).astimezone(UTC) if moment else float(value["number"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        raise _not_a_cursor() from None
    fits = value is None or type(value) is _python_type(sort)
    fits = fits and not _is_beyond_databases(value)
    if sorted_by != sort or not fits or type(run_id) is not int or not 0 <= run_id < MAX_ID:
        raise _not_a_cursor()
    return value, run_id


def _is_beyond_databases(value: object) -> bool:
    return abs(value) > LARGEST if isinstance(value, int) else isinstance(value, str) and storable(value) != value


def _not_a_cursor() -> Invalid:
    message = "not a cursor of a list sorted like this; begin again without one"
    return Invalid(FieldError(field="cursor", message=message))


def _python_type(sort: str) -> type[Any]:
    name = sort.removeprefix("-")
    if name.startswith("metric:"):
        return float
    if name.startswith(CONFIG):
        return config_kind(name.removeprefix(CONFIG)) or str
    python_type: type[Any] = getattr(Run, name).type.python_type
    return python_type
