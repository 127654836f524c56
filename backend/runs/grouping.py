"""Groups of runs with equal values, and statistics of each group."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from pydantic import BaseModel, Field
from sqlalchemy import String, func, select, type_coerce
from sqlalchemy.orm import Session

from backend.database.tables import Run, RunTag, StudyRun
from backend.errors import FieldError, Invalid
from backend.runs.expressions.nodes import Value
from backend.runs.expressions.requests import read_number
from backend.runs.expressions.sql import Translator
from backend.runs.filters import Filters, filter_conditions
from backend.runs.group_keys import GroupKey, group_keys, read_values
from backend.runs.setting_values import setting_value, value_key

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
