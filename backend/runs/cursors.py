"""Cursors: the position after the last run of a page, in any order."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, false, or_

from backend.errors import FieldError, Invalid
from backend.runs.sorting import SortKey
from workers.contract.values import LARGEST, MAX_ID, storable


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
            beyond = or_(column < value if key.descending else column > value, column.is_(None))
            same = column == value
        condition = or_(beyond, and_(same, condition))
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
