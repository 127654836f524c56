"""The run list: filters, sorting, stable pages, and its rows."""

import base64
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Row, Select, and_, false, func, literal, or_, select
from sqlalchemy.orm import Session, defer

from arcadia_backend.checkpoints.availability import NO_CHECKPOINTS, count_checkpoints
from arcadia_backend.database import tables
from arcadia_backend.database.tables import Run
from arcadia_backend.errors import FieldError, Invalid, Problem
from arcadia_backend.metrics.points import MetricSeries, training_seconds
from arcadia_backend.runs import schemas
from arcadia_backend.runs.expressions.completion import read_number, read_value
from arcadia_backend.runs.expressions.nodes import COLUMN_BY_NAME, Column, Setting, Value, setting_kinds
from arcadia_backend.runs.expressions.sql import Translator
from arcadia_backend.runs.filters import Filters, filter_conditions
from arcadia_backend.runs.queries import find_studies, shown_fields, state_reasons
from arcadia_backend.runs.states import to_actions
from arcadia_backend.web.lookup import hidden_runs
from arcadia_workers.contract.values import LARGEST, MAX_ID, storable

SORTABLE = (
    "id name state desired origin project algorithm env queue attempt priority created_at started_at finished_at "
    "archived_at worker step frames total_steps steps_per_second seconds_left last_return best_return episodes"
).split()
CONFIG_PREFIX = "config:"
MAX_KEYS = 5
# A part of a list without a comma outside of quotes.
_PIECE = re.compile(r'(?:[^,()"]|"[^"]*")+|[,()"]')
_METRIC = re.compile(r"metric:(.+):(last|min|max)")


@dataclass(frozen=True)
class SortKey:
    """A column of the order, with the type of its values."""

    key: ColumnElement[Any]
    type: type[Any]
    descending: bool

    @property
    def can_be_null(self) -> bool:
        """False for a column of each run."""
        return getattr(self.key, "nullable", True)


class SortReader:
    """Reads orders. Settings and metrics in their keys are joined to the runs by the translator."""

    def __init__(self, session: Session, translator: Translator, computed: Mapping[str, Value]) -> None:
        self._session, self._translator, self._computed = session, translator, computed

    def keys(self, sort: str) -> list[SortKey]:
        """Return the keys of an order such as `-best_return,created_at`. Raise Invalid if one is wrong."""
        parts = split_list(sort)
        try:
            if len(parts) > MAX_KEYS:
                raise Invalid(FieldError(field="sort", message=f"sort by at most {MAX_KEYS} columns"))
            return [self._key(part.strip()) for part in parts]
        except Problem:
            # The name of a metric or a field may contain a comma.
            if stored := self._stored_key(sort.removeprefix("-")):
                return [SortKey(*stored, sort.startswith("-"))]
            raise

    def _key(self, part: str) -> SortKey:
        name, descending = part.removeprefix("-"), part.startswith("-")
        if name in self._computed:
            return SortKey(self._translator.number(self._computed[name]), float, descending)
        if stored := self._stored_key(name):
            return SortKey(*stored, descending)
        if ":" in name:
            raise _unknown()
        return SortKey(*self._value_key(read_value(self._session, name, "sort")), descending)

    def _stored_key(self, name: str) -> tuple[ColumnElement[Any], type[Any]] | None:
        if name in SORTABLE:
            column = getattr(Run, name)
            return column, column.type.python_type
        if metric := _METRIC.fullmatch(name):
            return self._translator.metric(str(storable(metric[1])), metric[2]), float
        if field := name.removeprefix(CONFIG_PREFIX) if name.startswith(CONFIG_PREFIX) else "":
            return self._value_key(Setting(str(storable(field))))
        return None

    def _value_key(self, value: Value) -> tuple[ColumnElement[Any], type[Any]]:
        if isinstance(value, Setting) and setting_kinds().get(value.name) in ("text", "boolean"):
            return self._translator.setting_text(value.name), str
        if isinstance(value, Column) and value.kind in ("tags", "study"):
            raise Invalid(FieldError(field="sort", message=f"a run can have several values of {value.name}"))
        key = self._translator.key(value)
        is_column = isinstance(value, Column) and value.kind != "number"
        return key, key.type.python_type if is_column else float


def split_list(text: str) -> list[str]:
    """Split at commas outside of quotes and parentheses."""
    parts, depth = [""], 0
    for piece in _PIECE.findall(text):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _unknown() -> Invalid:
    others = "metric:NAME:last, :min or :max, by config:FIELD, or by an expression"
    return Invalid(FieldError(field="sort", message=f"sort by one of {', '.join(SORTABLE)}, or by {others}"))


@dataclass(frozen=True)
class Cursor:
    """The values of the sort keys of a run, and its id."""

    values: list[Any]
    run_id: int


def write_cursor(order: str, cursor: Cursor) -> str:
    """Return a cursor as text. It fits only the list with this order."""
    content = [order, [_to_json(value) for value in cursor.values], cursor.run_id]
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode()


def read_cursor(text: str, order: str, keys: Sequence[SortKey]) -> Cursor:
    """Read a cursor. Raise Invalid if it is of another list."""
    try:
        ordered_by, written, run_id = json.loads(base64.urlsafe_b64decode(text.encode()))
        values = [_from_json(value) for value in written]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        raise _invalid_cursor() from None
    fits = len(values) == len(keys) and all(_fits(value, key.type) for value, key in zip(values, keys, strict=False))
    if ordered_by != order or not fits or type(run_id) is not int or not 0 <= run_id < MAX_ID:
        raise _invalid_cursor()
    return Cursor(values, run_id)


def after(cursor: Cursor, columns: Sequence[ColumnElement[Any]], keys: Sequence[SortKey], run_id: Any) -> Any:
    """Return the condition for runs after the cursor. Runs without a value come last."""
    condition: ColumnElement[bool] = run_id < cursor.run_id if keys[-1].descending else run_id > cursor.run_id
    for column, key, value in reversed([*zip(columns, keys, cursor.values, strict=True)]):
        beyond: ColumnElement[bool] = false()
        same = column.is_(None)
        if value is not None:
            beyond = column < value if key.descending else column > value
            beyond = or_(beyond, column.is_(None)) if key.can_be_null else beyond
            same = column == value
        condition = or_(beyond, and_(same, condition))
    first, value = columns[0], cursor.values[0]
    if not keys[0].can_be_null and value is not None:
        # A database finds the start of the page in an index by this condition.
        return and_(first <= value if keys[0].descending else first >= value, condition)
    return condition


def _to_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"time": value.isoformat()}
    # Use repr, because JSON cannot hold NaN and infinities.
    return {"number": repr(value)} if isinstance(value, float) else value


def _from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    # Convert to UTC here, to catch the OverflowError of dates at the end of the calendar.
    return datetime.fromisoformat(value["time"]).astimezone(UTC) if "time" in value else float(value["number"])


def _fits(value: Any, type_: type[Any]) -> bool:
    if isinstance(value, int) and abs(value) > LARGEST:
        return False
    return value is None or (type(value) is type_ and not (isinstance(value, str) and storable(value) != value))


def _invalid_cursor() -> Invalid:
    message = "this cursor is not of a list in this order; start again without a cursor"
    return Invalid(FieldError(field="cursor", message=message))


# Columns that most lists do not show.
LONG_COLUMNS = ("config", "notes", "versions", "command", "failure_traceback")


@dataclass(frozen=True)
class PageRequest:
    """The order and the place of a page. Its order may contain computed columns. The place is a cursor or an offset."""

    sort: str
    limit: int
    cursor: str | None = None
    offset: int = 0


@dataclass
class RunRows:
    """Rows of one page, with the cursor of the next page."""

    runs: list[Run]
    next_cursor: str | None
    total: int


def list_runs(
    session: Session,
    filters: Filters,
    page: PageRequest,
    computed: Mapping[str, Value],
    long_columns: Collection[str] = (),
) -> RunRows:
    """Return one page of runs. Reading a column of LONG_COLUMNS that is not in `long_columns` raises an error."""
    if page.cursor is not None and page.offset:
        raise Invalid(FieldError(field="offset", message="use a cursor or an offset, not both"))
    translator = Translator(session, joins=True)
    keys = SortReader(session, translator, computed).keys(page.sort)
    # Another definition of a computed column is another order.
    order = repr([page.sort, *(item for item in computed.items() if item[0] in page.sort)])
    cursor = read_cursor(page.cursor, order, keys) if page.cursor is not None else None
    conditions = filter_conditions(session, filters)
    if _is_indexed(keys) and not (filters.text or filters.expression):
        # The database reads only the page from an index, and counts all runs in another one.
        query = _ordered(select(Run.id, literal(None), *(key.key for key in keys)).where(*conditions), cursor, keys)
        counted = session.scalar(select(func.count()).select_from(Run).where(*conditions))
    else:
        query, counted = _matched_query(translator.source(), conditions, keys, cursor), None
    rows = session.execute(query.limit(page.limit + 1).offset(page.offset or None)).all()
    last = rows[page.limit - 1] if len(rows) > page.limit else None
    next_cursor = write_cursor(order, Cursor([*last[2:]], last.id)) if last is not None else None
    if counted is None:
        total = select(func.count()).select_from(Run).where(*conditions)
        counted = rows[0].total if rows else session.scalar(total)
    return RunRows(_load(session, rows[: page.limit], long_columns), next_cursor, counted or 0)


def _is_indexed(keys: Sequence[SortKey]) -> bool:
    """Return True if an index has the runs in this order."""
    indexed: tuple[object, ...] = (Run.id, Run.created_at)
    return len(keys) == 1 and any(keys[0].key is column for column in indexed)


def _matched_query(
    source: FromClause, conditions: Collection[Any], keys: list[SortKey], cursor: Cursor | None
) -> Select[Any]:
    """Return the query of ids, their number and sort keys. Filters and keys are evaluated once, also for the total."""
    labeled = [key.key.label(f"key_{place}") for place, key in enumerate(keys)]
    matched = select(Run.id, *labeled).select_from(source).where(*conditions).cte("matched")
    total = select(func.count()).select_from(matched).scalar_subquery().label("total")
    columns = [matched.c[column.name] for column in labeled]
    return _ordered(select(matched.c.id, total, *columns), cursor, keys)


def _ordered(query: Select[Any], cursor: Cursor | None, keys: list[SortKey]) -> Select[Any]:
    """Order a query of ids, the total and the keys. Leave out the runs up to the cursor."""
    run_id, _total, *columns = query.selected_columns
    if cursor is not None:
        query = query.where(after(cursor, columns, keys, run_id))
    order: list[Any] = []
    for column, key in zip(columns, keys, strict=True):
        ordered = column.desc() if key.descending else column.asc()
        order.append(ordered.nulls_last() if key.can_be_null else ordered)
    return query.order_by(*order, run_id.desc() if keys[-1].descending else run_id.asc())


def _load(session: Session, rows: Collection[Row[Any]], long_columns: Collection[str]) -> list[Run]:
    unread = [defer(getattr(Run, name), raiseload=True) for name in LONG_COLUMNS if name not in long_columns]
    ids = [row.id for row in rows]
    runs_by_id = {run.id: run for run in session.scalars(select(Run).where(Run.id.in_(ids)).options(*unread))}
    # Another request may have purged a run since.
    return [runs_by_id[run_id] for run_id in ids if run_id in runs_by_id]


DETAILS = ("config", "notes", "study", "trained_seconds", "versions", "command", "reported_key")
SETTING_PREFIX = "config."


@dataclass(frozen=True)
class Details:
    """The fields to include for each run. `settings` are single fields of the configuration."""

    fields: frozenset[str]
    settings: frozenset[str]


def parse_details(names: Sequence[str]) -> Details:
    """Return the details that these names select. Raise Invalid if there is no such field."""
    settings = frozenset(name.removeprefix(SETTING_PREFIX) for name in names if name.startswith(SETTING_PREFIX))
    fields = frozenset(name for name in names if not name.startswith(SETTING_PREFIX))
    if unknown := sorted(fields.difference(DETAILS)):
        message = f"{unknown[0]!r} cannot be included; use config.FIELD or one of {', '.join(DETAILS)}"
        raise Invalid(FieldError(field="include", message=message))
    return Details(fields | {"config"} if settings else fields, frozenset() if "config" in fields else settings)


MAX_COMPUTED = 10
_COMPUTED = re.compile(r"\s*([^\W\d]\w{0,49})\s*=", re.ASCII)


def read_computed(session: Session, columns: Sequence[str]) -> dict[str, Value]:
    """Parse definitions such as `efficiency = best_return / hours`. Raise a problem if one is wrong."""
    values: dict[str, Value] = {}
    for column in columns:
        name = _COMPUTED.match(column)
        if name is None or name[1].lower() in COLUMN_BY_NAME or name[1] in values:
            message = "write NAME = EXPRESSION, with a name that has no other meaning"
            raise Invalid(FieldError(field="compute", message=message))
        values[name[1]] = read_number(session, column[name.end() :], "compute", name.end())
    return values


def computed_values(
    session: Session, run_ids: Sequence[int], computed: Mapping[str, Value]
) -> dict[int, dict[str, float | None]]:
    """Return the computed columns of each run."""
    translator = Translator(session)
    columns = [translator.number(value) for value in computed.values()]
    rows = session.execute(select(Run.id, *columns).where(Run.id.in_(run_ids)))
    return {run_id: dict(zip(computed, values, strict=True)) for run_id, *values in rows}


def to_page(
    session: Session, rows: RunRows, metrics: Sequence[str], details: Details, columns: Mapping[str, Value]
) -> schemas.RunPage:
    """Return one page of the list, with these metrics, details and computed columns of each run."""
    reasons = state_reasons(session, rows.runs)
    extents = _extents(session, [run.id for run in rows.runs], metrics) if metrics else {}
    included = _read_details(session, rows.runs, details)
    if columns:
        for run_id, values in computed_values(session, [run.id for run in rows.runs], columns).items():
            included[run_id]["computed"] = values
    counts = count_checkpoints(session, [run.id for run in rows.runs])
    hidden = hidden_runs(session, (run.parent_run_id for run in rows.runs))
    actions: dict[schemas.RunActions, int] = {}
    items = []
    for run in rows.runs:
        fields = shown_fields(run, reasons[run.id], hidden)
        if run.failure_message is not None:
            fields["failure"] = schemas.FailureMessage(message=run.failure_message)
        fields["actions"] = actions.setdefault(to_actions(run, counts.get(run.id, NO_CHECKPOINTS)), len(actions))
        fields["metrics"] = extents.get(run.id)
        shown = {name: value for name, value in fields.items() if value is not None and value != []}
        items.append(schemas.ListedRun(**shown, **included[run.id]))
    return schemas.RunPage(items=items, actions=list(actions), next_cursor=rows.next_cursor, total=rows.total)


def _read_details(session: Session, runs: Sequence[tables.Run], details: Details) -> dict[int, dict[str, Any]]:
    """Return the included fields of each run. They are present even if they are empty."""
    ids = [run.id for run in runs]
    columns = details.fields.intersection(("notes", "versions", "command", "reported_key"))
    read = {run.id: {name: getattr(run, name) for name in columns} for run in runs}
    if "config" in details.fields:
        for run in runs:
            read[run.id]["config"] = {
                name: value for name, value in run.config.items() if name in details.settings or not details.settings
            }
    if "study" in details.fields:
        studies = find_studies(session, ids)
        for run_id in ids:
            read[run_id]["study"] = studies.get(run_id)
    if "trained_seconds" in details.fields:
        for run_id, seconds in training_seconds(session, ids).items():
            read[run_id]["trained_seconds"] = seconds
    return read


def _extents(
    session: Session, run_ids: Sequence[int], metrics: Sequence[str]
) -> dict[int, dict[str, schemas.MetricExtent]]:
    """Return the last, min and max value of each metric, by run and metric."""
    columns = (MetricSeries.run_id, MetricSeries.name, MetricSeries.last, MetricSeries.min, MetricSeries.max)
    wanted = select(*columns).where(MetricSeries.run_id.in_(run_ids), MetricSeries.name.in_(metrics))
    extents: dict[int, dict[str, schemas.MetricExtent]] = {}
    for row in session.execute(wanted):
        extents.setdefault(row.run_id, {})[row.name] = schemas.MetricExtent.model_validate(row)
    return extents
