"""The query of the run list: filters, sorting and stable pages."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, func, select
from sqlalchemy.orm import Session, defer

from backend.database.tables import Run
from backend.runs.cursors import Cursor, after, read_cursor, write_cursor
from backend.runs.expressions.nodes import Value
from backend.runs.filters import Filters, filter_conditions
from backend.runs.sorting import SortKey, sort_keys

# Columns that most lists do not show.
LONG_COLUMNS = ("config", "notes", "versions", "command", "failure_traceback")


@dataclass(frozen=True)
class PageRequest:
    """The order and the place of a page. Its order may contain computed columns."""

    sort: str
    limit: int
    cursor: str | None = None


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
    keys = sort_keys(session, page.sort, computed)
    # Another definition of a computed column is another order.
    order = repr([page.sort, *(item for item in computed.items() if item[0] in page.sort)])
    cursor = read_cursor(page.cursor, order, keys) if page.cursor is not None else None
    conditions = filter_conditions(session, filters)
    rows = session.execute(_page_query(conditions, keys, cursor, page.limit + 1)).all()
    last = rows[page.limit - 1] if len(rows) > page.limit else None
    next_cursor = write_cursor(order, Cursor([*last[2:]], last.id)) if last is not None else None
    total = rows[0].total if rows else session.scalar(select(func.count()).select_from(Run).where(*conditions))
    return RunRows(_load(session, rows[: page.limit], long_columns), next_cursor, total or 0)


def _page_query(conditions: Collection[Any], keys: list[SortKey], cursor: Cursor | None, limit: int) -> Select[Any]:
    """Return the query of ids and sort keys. Filters and keys are evaluated once, also for the total."""
    labeled = [key.key.label(f"key_{place}") for place, key in enumerate(keys)]
    matched = select(Run.id, *labeled).where(*conditions).cte("matched")
    columns = [matched.c[column.name] for column in labeled]
    total = select(func.count()).select_from(matched).scalar_subquery().label("total")
    query: Select[Any] = select(matched.c.id, total, *columns)
    if cursor is not None:
        query = query.where(after(cursor, columns, keys, matched.c.id))
    order: list[Any] = []
    for column, key in zip([*columns, matched.c.id], [*keys, keys[-1]], strict=True):
        order += [column.is_(None), column.desc() if key.descending else column.asc()]
    return query.order_by(*order).limit(limit)


def _load(session: Session, rows: Collection[Row[Any]], long_columns: Collection[str]) -> list[Run]:
    unread = [defer(getattr(Run, name), raiseload=True) for name in LONG_COLUMNS if name not in long_columns]
    ids = [row.id for row in rows]
    found = {run.id: run for run in session.scalars(select(Run).where(Run.id.in_(ids)).options(*unread))}
    # Another request may have purged a run since.
    return [found[run_id] for run_id in ids if run_id in found]
