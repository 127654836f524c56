"""Filters of lists of runs."""

from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from backend.database.tables import Run, RunTag, StudyRun
from backend.projects.lookup import in_projects
from backend.runs.expressions.requests import filter_sql

MAX_SEARCH_LENGTH = 200


@dataclass
class Filters:
    """Conditions on the listed runs."""

    states: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    algorithms: list[str] = field(default_factory=list)
    envs: list[str] = field(default_factory=list)
    text: str = ""
    archived: bool = False
    study: int | None = None
    numbers: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    projects: list[str] = field(default_factory=list)
    expression: str = ""


def filter_conditions(session: Session, filters: Filters) -> list[ColumnElement[bool]]:
    """Return the SQL conditions of the filters. Raise InvalidExpression if the expression is wrong."""
    conditions: list[ColumnElement[bool]] = [
        Run.archived_at.is_not(None) if filters.archived else Run.archived_at.is_(None),
        *in_projects(Run.project_id, filters.projects),
    ]
    for column, values in (
        (Run.state, filters.states),
        (Run.algorithm, filters.algorithms),
        (Run.env, filters.envs),
        (Run.origin, filters.origins),
    ):
        if values:
            conditions.append(column.in_(values))
    if filters.numbers:
        conditions.append(Run.id.in_(filters.numbers))
    if filters.names:
        conditions.append(Run.name.in_(filters.names))
    if filters.study is not None:
        conditions.append(Run.id.in_(select(StudyRun.run_id).where(StudyRun.study_id == filters.study)))
    conditions.extend(Run.tags.any(RunTag.tag == tag) for tag in filters.tags)
    if filters.text:
        conditions.append(_contains(filters.text))
    if filters.expression.strip():
        conditions.append(filter_sql(session, filters.expression))
    return conditions


def _contains(text: str) -> ColumnElement[bool]:
    columns = (Run.name, Run.notes, Run.project, Run.env, Run.algorithm, Run.failure_message)
    matches: list[ColumnElement[bool]] = [column.icontains(text, autoescape=True) for column in columns]
    matches.append(Run.tags.any(RunTag.tag.icontains(text, autoescape=True)))
    number = text.removeprefix("#")
    if number.isascii() and number.isdecimal() and len(number) < 16:
        matches.append(Run.id == int(number))
    return or_(*matches)
