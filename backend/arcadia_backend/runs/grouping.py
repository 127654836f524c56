"""Groups of runs with equal values, and statistics of each group."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, String, func, select, type_coerce
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Run, RunTag, Study, StudyRun
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.runs.expressions.completion import quoted, read_number, read_value
from arcadia_backend.runs.expressions.nodes import Column, Setting, Value
from arcadia_backend.runs.expressions.sql import Translator
from arcadia_backend.runs.filters import Filters, filter_conditions, setting_value, value_key
from arcadia_backend.runs.list_query import split_list
from arcadia_backend.runs.names import format_value, name_part, short_title
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import env_title

MAX_KEYS = 5


@dataclass(frozen=True)
class GroupKey:
    """A name that groups are made by, with the columns that have its value."""

    text: str
    name: Column | Setting
    columns: tuple[ColumnElement[Any], ...]

    @property
    def kind(self) -> str:
        """The kind of a column, or setting."""
        return self.name.kind if isinstance(self.name, Column) else "setting"

    def read(self, *stored: Any) -> Any:
        """Return the value in the columns."""
        return setting_value(*stored) if self.kind == "setting" else stored[0]

    def condition(self, value: Any) -> str:
        """Return the expression that selects the runs with this value, and no others."""
        if value is None:
            return f"{self.text} is missing"
        return f"{self.text} = {_written(value)}"

    def label(self, session: Session, value: Any) -> str:
        """Return the value as part of the name of a group."""
        title = short_title(self.name.name) if isinstance(self.name, Setting) else self.name.title.lower()
        if value is None:
            return f"no {title}"
        if self.kind == "study":
            return str(session.scalar(select(Study.name).where(Study.id == value)))
        if isinstance(self.name, Column) and self.kind in ("text", "tags"):
            return {"method": title_of, "env": env_title}.get(self.name.name, str)(value)
        if isinstance(self.name, Setting):
            return name_part(self.name.name, value)
        return f"{title} {format_value(value)}"


def group_keys(session: Session, by: str) -> list[GroupKey]:
    """Return the keys of a list such as `method, env, learning_rate`. Raise a problem if one is wrong."""
    texts = list(dict.fromkeys(part.strip() for part in split_list(by)))
    if len(texts) > MAX_KEYS:
        raise Invalid(FieldError(field="by", message=f"group by at most {MAX_KEYS} names"))
    return [_group_key(session, text) for text in texts]


def read_values(keys: Sequence[GroupKey], stored: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values of the keys in a row with all their columns."""
    columns = iter(stored)
    return tuple(key.read(*(next(columns) for _ in key.columns)) for key in keys)


def _group_key(session: Session, text: str) -> GroupKey:
    name = read_value(session, text, "by")
    if not isinstance(name, Column | Setting) or (isinstance(name, Column) and name.kind == "time"):
        raise Invalid(FieldError(field="by", message=f"group by a column or a field, not by {text[:50]}"))
    return GroupKey(text, name, _columns(Translator(session), name))


def _columns(translator: Translator, name: Column | Setting) -> tuple[ColumnElement[Any], ...]:
    if isinstance(name, Setting):
        return translator.settings.kind(name.name), translator.settings.raw(name.name)
    if name.kind == "tags":
        return (RunTag.tag,)  # type: ignore[return-value]
    if name.kind == "study":
        return (StudyRun.study_id,)  # type: ignore[return-value]
    return (translator.key(name),)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return quoted(value if isinstance(value, str) else compact_json(json.dumps(value)))


def compact_json(text: str) -> str:
    """Return JSON without spaces after its separators, as expressions compare lists."""
    return text.replace(", ", ",").replace(": ", ":")


MAX_VALUES, MAX_SEEDS, MAX_RUN_IDS = 10, 20, 20


class GroupStatistic(BaseModel):
    """Statistics of a value over the runs of a group that have it."""

    mean: float | None
    std: float | None = Field(description="Sample standard deviation. Null for fewer than two runs.")
    n: int


class ListedGroup(BaseModel):
    """Runs with equal values."""

    label: str = Field(description="Readable name, such as A3C · Pong · lr 7e-4.")
    values: dict[str, Any] = Field(description="The value of each name in `by`. Null if it is missing.")
    filter: str = Field(description="Filter that selects the runs of the group, with the other parameters unchanged.")
    runs: int
    run_ids: list[int] = Field(description=f"Ids of its newest runs, {MAX_RUN_IDS} at most, newest first.")
    states: dict[str, int] = Field(description="Number of runs in each state.")
    seeds: list[Any] = Field(description=f"Different seeds that are numbers, {MAX_SEEDS} at most.")
    newest: datetime = Field(description="When the newest run was created, started or finished.")
    statistics: dict[str, GroupStatistic] = Field(title="Group statistics", description="By requested value.")


class ListedGroupPage(BaseModel):
    """One page of groups."""

    items: list[ListedGroup]
    total: int = Field(description="Number of groups.")
    baseline: ListedGroup | None = Field(description="The group of the baseline, also if it is on another page.")


@dataclass(frozen=True)
class GroupRequest:
    """The names that groups are made by, the values to average, the page, and a run to find the group of."""

    by: str
    values: Sequence[str]
    sort: str
    limit: int
    offset: int
    baseline: int | None = None


@dataclass
class _Group:
    values: tuple[Any, ...]
    runs: set[int] = field(default_factory=set)
    states: Counter[str] = field(default_factory=Counter)
    seeds: set[float | None] = field(default_factory=set)
    newest: Any = None
    numbers: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, row: Sequence[Any], names: Sequence[str]) -> None:
        """Add a run."""
        run_id, state, time, seed = row[:4]
        self.runs.add(run_id)
        self.states[state] += 1
        self.seeds.add(seed)
        self.newest = time if self.newest is None else max(self.newest, time)
        for name, number in zip(names, row[len(row) - len(names) :], strict=True):
            if number is not None:
                self.numbers[name].append(number)


def group_runs(session: Session, filters: Filters, request: GroupRequest) -> ListedGroupPage:
    """Return one page of groups, with a filter that selects the runs of each."""
    keys = group_keys(session, request.by)
    values = {text: read_number(session, text, "value") for text in dict.fromkeys(request.values)}
    groups = _collect(session, filters, keys, values)
    shown = [_to_schema(session, group, keys, list(values), filters.expression) for group in groups]
    ordered = _sort(shown, request.sort, request, [key.text for key in keys])
    pairs = zip(groups, shown, strict=True)
    return ListedGroupPage(
        items=ordered[request.offset : request.offset + request.limit],
        total=len(shown),
        baseline=next((listed for group, listed in pairs if request.baseline in group.runs), None),
    )


def _collect(
    session: Session, filters: Filters, keys: Sequence[GroupKey], values: dict[str, Value]
) -> Sequence[_Group]:
    """Read the runs, and add each to its group."""
    translator = Translator(session)
    columns = [column for key in keys for column in key.columns]
    numbers = [translator.number(value) for value in values.values()]
    seed = translator.settings.number("seed")
    # The text of a time is converted once for each group.
    newest = type_coerce(func.coalesce(Run.finished_at, Run.started_at, Run.created_at), String)
    query: Any = select(Run.id, Run.state, newest, seed, *columns, *numbers).where(*filter_conditions(session, filters))
    # A run with several tags is in several groups.
    if any(key.kind == "tags" for key in keys):
        query = query.outerjoin(RunTag, RunTag.run_id == Run.id)
    if any(key.kind == "study" for key in keys):
        query = query.outerjoin(StudyRun, StudyRun.run_id == Run.id)
    # Different stored values may be equal, such as 1 and 1.0.
    groups: dict[tuple[Any, ...], _Group] = {}
    by_stored: dict[tuple[Any, ...], _Group] = {}
    for row in session.connection().execute(query):
        stored = row[4 : 4 + len(columns)]
        if stored not in by_stored:
            read = read_values(keys, stored)
            by_stored[stored] = groups.setdefault(tuple(map(value_key, read)), _Group(read))
        by_stored[stored].add(row, list(values))
    return list(groups.values())


def _to_schema(
    session: Session, group: _Group, keys: Sequence[GroupKey], names: Sequence[str], expression: str
) -> ListedGroup:
    values = group.values
    conditions = [key.condition(value) for key, value in zip(keys, values, strict=True)]
    seeds = sorted(seed for seed in group.seeds if seed is not None)[:MAX_SEEDS]
    newest = datetime.fromisoformat(group.newest) if isinstance(group.newest, str) else group.newest
    return ListedGroup(
        label=" · ".join(key.label(session, value) for key, value in zip(keys, values, strict=True)),
        values={key.text: value for key, value in zip(keys, values, strict=True)},
        filter=" and ".join([*([f"({expression})"] if expression.strip() else []), *conditions]),
        runs=len(group.runs),
        run_ids=sorted(group.runs, reverse=True)[:MAX_RUN_IDS],
        states=dict(sorted(group.states.items())),
        seeds=[setting_value("number", seed) for seed in seeds],
        newest=newest if newest.tzinfo else newest.replace(tzinfo=UTC),
        statistics={name: _statistic(group.numbers[name]) for name in names},
    )


def _statistic(numbers: Sequence[float]) -> GroupStatistic:
    mean = float(np.mean(numbers)) if numbers else None
    std = float(np.std(numbers, ddof=1)) if len(numbers) > 1 else None
    return GroupStatistic(mean=mean, std=std, n=len(numbers))


def _sort(groups: Sequence[ListedGroup], sort: str, request: GroupRequest, by: Sequence[str]) -> list[ListedGroup]:
    """Sort groups by an aggregate, then by label. Groups without a value come last."""
    name, descending = sort.removeprefix("-").strip(), sort.startswith("-")
    labeled = sorted(groups, key=lambda group: group.label)
    pairs = [(_aggregate(group, name, request, by), group) for group in labeled]
    present = [pair for pair in pairs if pair[0] is not None]
    present.sort(key=lambda pair: _comparable(pair[0]), reverse=descending)
    return [group for _value, group in present] + [group for value, group in pairs if value is None]


def _aggregate(group: ListedGroup, name: str, request: GroupRequest, by: Sequence[str]) -> Any:
    if name in ("runs", "newest", "label"):
        return getattr(group, name)
    if name in by:
        return group.values[name]
    value, _, aggregate = name.rpartition(".")
    if value in request.values and aggregate in ("mean", "std", "n"):
        return getattr(group.statistics[value], aggregate)
    message = "sort by runs, newest, label, a name in `by`, or VALUE.mean, VALUE.std or VALUE.n"
    raise Invalid(FieldError(field="sort", message=message))


def _comparable(value: Any) -> tuple[str, Any]:
    """Return a key that can be compared for values of all types: numbers first."""
    if isinstance(value, datetime):
        return "time", value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return ("number", value) if is_number else ("text", str(value))
