"""Rows of a member of an archive, validated by the types of their columns."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from backend.archives.opening import GUARDS, Archive, BadArchive
from backend.archives.rows import ArchivedRow, RowTable, row_model

Line = TypeVar("Line", bound=BaseModel)


def read_rows(archive: Archive, table: RowTable, path: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a member as columns. A missing member has no rows."""
    model: type[ArchivedRow] = row_model(table)
    return (dict(row) for row in read_lines(archive, model, path))


def read_lines(archive: Archive, model: type[Line], path: str) -> Iterator[Line]:
    """Yield the lines of a member as a model. Raise BadArchive for the first invalid one."""
    for number, line in enumerate(archive.lines(path), 1):
        try:
            yield model.model_validate(line)
        except ValidationError as error:
            raise GUARDS.invalid(f"Line {number} of {path}", error) from None


def read_row(archive: Archive, table: RowTable, path: str) -> dict[str, Any]:
    """Return the only row of a member as columns."""
    rows = list(islice(read_rows(archive, table, path), 2))
    if len(rows) != 1:
        raise BadArchive(f"{path} must have exactly one line.")
    return rows[0]
