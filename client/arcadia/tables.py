"""Tables of pandas and polars. Their columns have the same types even without rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from arcadia.optional import import_optional

if TYPE_CHECKING:
    import pandas
    import polars

Kind = Literal["text", "float", "integer", "integers"]
"""The type of a column. `integers` is a list in each row."""
Columns = Mapping[str, tuple[Kind, Sequence[Any]]]
"""The values of each column, with their type. A missing float is None."""

_PANDAS_TYPES = {"text": "object", "float": "float64", "integer": "int64", "integers": "object"}


def to_pandas(columns: Columns, purpose: str) -> pandas.DataFrame:
    """Return a table of pandas. A missing float becomes NaN."""
    frame = import_optional("pandas", purpose).DataFrame({name: values for name, (_, values) in columns.items()})
    found: pandas.DataFrame = frame.astype({name: _PANDAS_TYPES[kind] for name, (kind, _) in columns.items()})
    return found


def to_polars(columns: Columns, purpose: str) -> polars.DataFrame:
    """Return a table of polars. A missing float becomes null."""
    module = import_optional("polars", purpose)
    kinds = {
        "text": module.String,
        "float": module.Float64,
        "integer": module.Int64,
        "integers": module.List(module.Int64),
    }
    found: polars.DataFrame = module.DataFrame(
        {name: values for name, (_, values) in columns.items()},
        schema={name: kinds[kind] for name, (kind, _) in columns.items()},
    )
    return found
