"""Computed columns: numbers that a list calculates for each run."""

import re
from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.errors import FieldError, Invalid
from backend.runs.expressions.names import COLUMN_BY_NAME
from backend.runs.expressions.nodes import Value
from backend.runs.expressions.requests import read_number
from backend.runs.expressions.sql import Translator

MAX_COMPUTED = 10
_COMPUTED = re.compile(r"\s*([^\W\d]\w{0,49})\s*=", re.ASCII)


def read_computed(session: Session, columns: Sequence[str]) -> dict[str, Value]:
    """Parse definitions such as `efficiency = best_return / hours`. Raise a problem if one is wrong."""
    found: dict[str, Value] = {}
    for column in columns:
        name = _COMPUTED.match(column)
        if name is None or name[1].lower() in COLUMN_BY_NAME or name[1] in found:
            message = "write NAME = EXPRESSION, with a name that has no other meaning"
            raise Invalid(FieldError(field="compute", message=message))
        found[name[1]] = read_number(session, column[name.end() :], "compute", name.end())
    return found


def computed_values(
    session: Session, run_ids: Sequence[int], computed: Mapping[str, Value]
) -> dict[int, dict[str, float | None]]:
    """Return the computed columns of each run."""
    translator = Translator(session)
    columns = [translator.number(value) for value in computed.values()]
    rows = session.execute(select(Run.id, *columns).where(Run.id.in_(run_ids)))
    return {run_id: dict(zip(computed, values, strict=True)) for run_id, *values in rows}
