"""Filter choices for the list of runs, counted over all runs."""

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel
from sqlalchemy import and_, func, select
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

    # One query evaluates the filter for all columns, which an expression can make slow.
    columns = (Run.state, Run.origin, Run.algorithm, Run.env, Project.name)
    combined = select(*columns, func.count()).join(Project, Project.id == Run.project_id)
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("state", "origin", "algorithm", "env", "project")}
    for *values, number in session.execute(combined.where(listed).group_by(*columns)):
        for name, value in zip(counts, values, strict=True):
            counts[name][value] += number
    tags = select(RunTag.tag, func.count()).join(Run, Run.id == RunTag.run_id).where(listed).group_by(RunTag.tag)
    counts["tag"] = Counter({str(tag): int(number) for tag, number in session.execute(tags)})
    return Facets(**{name: _choices(counter) for name, counter in counts.items()})


def _choices(counts: Counter[str]) -> list[Choice]:
    # Sort here, because databases sort letters differently. Reported runs may have no method or environment.
    return [Choice(value=value, runs=number) for value, number in sorted(counts.items()) if value]
