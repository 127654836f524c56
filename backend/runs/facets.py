"""Filter choices for the list of runs, counted over all runs."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Row, Select, func, select
from sqlalchemy.orm import Session

from backend.database.tables import Run, RunTag


class Choice(BaseModel):
    """A filter value, with the number of runs that have it."""

    value: str
    runs: int


class Facets(BaseModel):
    """The choices of each filter, in alphabetical order."""

    state: list[Choice]
    algorithm: list[Choice]
    env: list[Choice]
    tag: list[Choice]


def count_facets(session: Session, *, archived: bool) -> Facets:
    """Count the filter values of all runs that are archived, or of all that are not."""
    listed = Run.archived_at.is_not(None) if archived else Run.archived_at.is_(None)

    def counted(query: Select[*tuple[Any, ...]]) -> list[Choice]:
        rows: Sequence[Row[Any]] = session.execute(query).all()
        # Sort here, because databases sort letters differently.
        return [Choice(value=value, runs=number) for value, number in sorted(map(tuple, rows))]

    def of_runs(column: Any) -> list[Choice]:
        return counted(select(column, func.count()).where(listed).group_by(column))

    tags = select(RunTag.tag, func.count()).join(Run, Run.id == RunTag.run_id).where(listed).group_by(RunTag.tag)
    return Facets(state=of_runs(Run.state), algorithm=of_runs(Run.algorithm), env=of_runs(Run.env), tag=counted(tags))
