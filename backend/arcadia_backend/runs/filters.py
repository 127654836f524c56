"""Filters of lists of runs, and what can be filtered: facets, settings that differ, and kinds of failures."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field
from pydantic_core import from_json
from sqlalchemy import ColumnElement, Text, and_, cast, func, or_, select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Project, Run, RunTag, StudyRun, compact_json
from arcadia_backend.projects.service import in_projects
from arcadia_backend.runs.expressions.completion import filter_sql, written_setting
from arcadia_backend.runs.expressions.nodes import COLUMN_BY_NAME, SETTING_ALIASES, setting_title
from arcadia_backend.runs.expressions.parsing import KEYWORDS
from arcadia_backend.runs.names import field_titles
from arcadia_workers.contract.practice import listed

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


MAX_EXACT_INTEGER = 2**53


def setting_value(stored: str | None) -> Any:
    """Return the value of a setting, given its type, a colon and its text."""
    if stored is None:
        return None
    kind, _, text = stored.partition(":")
    if kind == "number":
        return shown_number(float(text))
    if kind == "boolean":
        return text == "true"
    return json.loads(text) if kind == "json" else text


def shown_number(number: float) -> float:
    """Return a number, as an integer if it is one."""
    is_whole = math.isfinite(number) and number == int(number) and abs(number) < MAX_EXACT_INTEGER
    return int(number) if is_whole else number


def value_key(value: Any) -> tuple[str, str]:
    """Return a key that is equal for equal values. In Python 1 == True, but not in a configuration."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return ("number", repr(float(value))) if number else (type(value).__name__, repr(value))


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

    # One query evaluates the filter for all columns, which an expression can make slow. An index has these columns.
    columns = (Run.project_id, Run.state, Run.origin, Run.algorithm, Run.env)
    counts: dict[str, Counter[Any]] = {column.key: Counter() for column in columns}
    for *values, number in session.execute(select(*columns, func.count()).where(listed).group_by(*columns)):
        for name, value in zip(counts, values, strict=True):
            counts[name][value] += number
    names = {row.id: row.name for row in session.execute(select(Project.id, Project.name))}
    counts["project"] = Counter({names[number]: runs for number, runs in counts.pop("project_id").items()})
    tags = select(RunTag.tag, func.count()).where(RunTag.run_id.in_(select(Run.id).where(listed))).group_by(RunTag.tag)
    counts["tag"] = Counter({str(tag): int(number) for tag, number in session.execute(tags)})
    return Facets(**{name: _choices(counter) for name, counter in counts.items()})


def _choices(counts: Counter[str]) -> list[Choice]:
    # Sort here, because databases sort letters differently. Reported runs may have no method or environment.
    return [Choice(value=value, runs=number) for value, number in sorted(counts.items()) if value]


class FailureGroup(BaseModel):
    """A failure message with the number of runs that have it."""

    message: str = Field(description="First line of the message. Search the run list for this text to find the runs.")
    runs: int


def group_failures(session: Session, filters: Filters, min_runs: int) -> list[FailureGroup]:
    """Group failed runs by the first line of their message, and return the groups by size, largest first."""
    conditions = (*filter_conditions(session, filters), Run.state == "failed", Run.failure_message.is_not(None))
    query = select(Run.failure_message, func.count()).where(*conditions).group_by(Run.failure_message)
    counts: Counter[str] = Counter()
    for message, runs in session.execute(query):
        # Cut to the longest text that the list can search for.
        first_line = (message or "").strip().partition("\n")[0][:MAX_SEARCH_LENGTH].strip()
        counts[first_line] += runs
    shared = [(message, runs) for message, runs in counts.items() if message and runs >= min_runs]
    shared.sort(key=lambda group: (-group[1], group[0]))
    return [FailureGroup(message=message, runs=runs) for message, runs in shared]


# The newest runs, which are examined. The configurations of 2,000 runs take a tenth of a second.
MAX_EXAMINED, MAX_EXAMPLES = 2_000, 5
# They have separate columns.
_COLUMNS = ("algorithm", "env")


class RunSetting(BaseModel):
    """A configuration field of the listed runs."""

    field: str
    name: str = Field(description="The field as an expression names it.")
    title: str = Field(description="Title of the launch form, or the field itself.")
    distinct: int = Field(description="Number of different values.")
    runs: int = Field(description="Runs that have the field.")
    examples: list[Any] = Field(description="The most frequent values.")


class RunSettings(BaseModel):
    """The configuration fields of the listed runs."""

    examined: int = Field(description=f"Number of runs examined: the newest {MAX_EXAMINED:,} at most.")
    settings: list[RunSetting]


def read_settings(session: Session, filters: Filters, *, every: bool) -> RunSettings:
    """Return the fields with more than one value, or all fields, in the order of the launch form."""
    # Read the text of the JSON, because pydantic parses it in a fraction of the time.
    newest = select(cast(Run.config, Text)).where(*filter_conditions(session, filters)).order_by(Run.id.desc())
    configs = [*map(from_json, session.scalars(newest.limit(MAX_EXAMINED)))]
    columns: dict[str, list[Any]] = defaultdict(list)
    for config in configs:
        for name, value in listed(config).items():
            columns[name].append(value)
    counts: dict[str, dict[tuple[str, str], tuple[Any, int]]] = defaultdict(dict)
    for name in columns.keys() - _COLUMNS:
        for value, count in _distinct(columns[name]):
            key = value_key(value)
            counts[name][key] = (value, count + counts[name].get(key, (value, 0))[1])

    titles = {field: place for place, field in enumerate(field_titles())}
    order = sorted(counts, key=lambda field: (titles.get(field, len(titles)), field))
    fields = [_to_schema(field, counts[field]) for field in order if every or len(counts[field]) > 1]
    return RunSettings(examined=len(configs), settings=fields)


def _distinct(column: Sequence[Any]) -> Iterator[tuple[Any, int]]:
    """Yield the values of a field with their numbers of runs. Equal numbers may come several times."""
    types = [*map(type, column)]
    # In Python True is equal to 1, so count by type. Lists and objects cannot be counted.
    is_nested = not {list, dict}.isdisjoint(types)
    counts = Counter(zip(types, map(compact_json, column) if is_nested else column, strict=True))
    for (kind, stored), count in counts.items():
        value = json.loads(stored) if is_nested else stored
        if kind in (int, float):
            yield shown_number(float(repr(value))), count
        elif value is not None:
            yield value, count


def _to_schema(field: str, counts: dict[tuple[str, str], tuple[Any, int]]) -> RunSetting:
    ordered = [counts[key] for key in sorted(counts)]
    frequent = sorted(ordered, key=lambda pair: -pair[1])
    reserved = field.lower() in COLUMN_BY_NAME or field.lower() in KEYWORDS or field in SETTING_ALIASES
    return RunSetting(
        field=field,
        name=written_setting(field, reserved),
        title=setting_title(field),
        distinct=len(counts),
        runs=sum(count for _value, count in frequent),
        examples=[value for value, _count in frequent[:MAX_EXAMPLES]],
    )
