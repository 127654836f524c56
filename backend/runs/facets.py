"""Filter choices for the list of runs, counted over all runs."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Row, Select, and_, func, select
from sqlalchemy.orm import Session

from backend.database.tables import Project, Run, RunTag
from backend.runs.filters import Filters, filter_conditions


class Choice(BaseModel):
    """A filter value, with the number of runs that have it."""

    value: str
    runs: int


class Facets(BaseModel):
    """The choices of each filter, in alphabetical order."""

    state: list[Choice]
    origin: list[Choice]
    project: list[Choice]
    algorithm: list[Choice]
    env: list[Choice]
    tag: list[Choice]


def count_facets(session: Session, *, archived: bool, projects: Sequence[str] = (), expression: str = "") -> Facets:
    """Count the filter values of all runs that are archived, or of all that are not.

    Count only those in these projects, if any, and those that match the expression.
    """
    filters = Filters(archived=archived, projects=list(projects), expression=expression)
    listed = and_(*filter_conditions(session, filters))

    def counted(query: Select[*tuple[Any, ...]]) -> list[Choice]:
        rows: Sequence[Row[Any]] = session.execute(query).all()
        # Sort here, because databases sort letters differently.
        # Reported runs may have no method or environment.
        return [Choice(value=value, runs=number) for value, number in sorted(tuple(row) for row in rows if row[0])]

    def of_runs(column: Any) -> list[Choice]:
        return counted(select(column, func.count()).where(listed).group_by(column))

    tags = select(RunTag.tag, func.count()).join(Run, Run.id == RunTag.run_id).where(listed).group_by(RunTag.tag)
    named = select(Project.name, func.count()).join(Run, Run.project_id == Project.id).where(listed)
    columns = {name: of_runs(getattr(Run, name)) for name in ("state", "origin", "algorithm", "env")}
    return Facets(**columns, tag=counted(tags), project=counted(named.group_by(Project.name)))
