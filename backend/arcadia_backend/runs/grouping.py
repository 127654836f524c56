"""Groups of runs with equal values, and statistics of each group."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from pydantic import BaseModel, Field
from pydantic_core import from_json
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Run, RunTag, Study, StudyRun, compact_json
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.metrics.points import Floats, Ints
from arcadia_backend.runs.expressions.completion import quoted, read_number, read_value
from arcadia_backend.runs.expressions.nodes import Column, Setting, Value
from arcadia_backend.runs.expressions.sql import Translator
from arcadia_backend.runs.filters import Filters, filter_conditions, setting_value, shown_number, value_key
from arcadia_backend.runs.list_query import split_list
from arcadia_backend.runs.names import format_value, name_part, short_title
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import env_title

MAX_KEYS = 5


@dataclass(frozen=True)
class GroupKey:
    """A name that groups are made by, with the column that has its value."""

    text: str
    name: Column | Setting
    column: ColumnElement[Any]

    @property
    def kind(self) -> str:
        """The kind of a column, or setting."""
        return self.name.kind if isinstance(self.name, Column) else "setting"

    def read(self, stored: Any) -> Any:
        """Return the value in the column."""
        if self.kind == "setting":
            return setting_value(stored)
        return float(stored) if self.kind == "number" and stored is not None else stored

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


def _group_key(session: Session, translator: Translator, text: str) -> GroupKey:
    name = read_value(session, text, "by")
    if not isinstance(name, Column | Setting) or (isinstance(name, Column) and name.kind == "time"):
        raise Invalid(FieldError(field="by", message=f"group by a column or a field, not by {text[:50]}"))
    return GroupKey(text, name, _column(translator, name))


def _column(translator: Translator, name: Column | Setting) -> ColumnElement[Any]:
    if isinstance(name, Setting):
        return translator.setting_value(name.name)
    if name.kind == "tags":
        return RunTag.tag  # type: ignore[return-value]
    if name.kind == "study":
        return StudyRun.study_id  # type: ignore[return-value]
    return translator.digits(name) if name.kind == "number" else translator.key(name)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return quoted(value if isinstance(value, str) else compact_json(value))


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
class _Groups:
    """Groups as columns: the first entry of each belongs to the first group, and so on."""

    values: list[tuple[Any, ...]]
    runs: list[int]
    # As texts in UTC.
    newest: list[str]
    statistics: dict[str, list[GroupStatistic]]
    # The rows of the runs by group, newest first, and the place of each group's first row.
    ids: Ints
    states: list[str]
    seeds: Floats
    starts: Ints

    def rows(self, group: int) -> slice:
        """Return the rows of a group."""
        return slice(int(self.starts[group]), int(self.starts[group]) + self.runs[group])

    def of_run(self, run_id: int | None) -> int | None:
        """Return the first group with a run."""
        places = np.flatnonzero(self.ids == run_id) if run_id is not None else ()
        return int(np.searchsorted(self.starts, min(places), "right")) - 1 if len(places) else None


def group_runs(session: Session, filters: Filters, request: GroupRequest) -> ListedGroupPage:
    """Return one page of groups, with a filter that selects the runs of each."""
    translator = Translator(session, joins=True)
    texts = list(dict.fromkeys(part.strip() for part in split_list(request.by)))
    if len(texts) > MAX_KEYS:
        raise Invalid(FieldError(field="by", message=f"group by at most {MAX_KEYS} names"))
    keys = [_group_key(session, translator, text) for text in texts]
    values = {text: read_number(session, text, "value") for text in dict.fromkeys(request.values)}
    groups = _collect(session, translator, filters, keys, values)
    labels = _labels(session, keys, groups)
    ordered = _sort(groups, labels, request, [key.text for key in keys])

    def listed(group: int) -> ListedGroup:
        return _to_schema(groups, group, labels[group], keys, filters.expression)

    baseline = groups.of_run(request.baseline)
    return ListedGroupPage(
        items=[listed(group) for group in ordered[request.offset : request.offset + request.limit]],
        total=len(groups.values),
        baseline=None if baseline is None else listed(baseline),
    )


def _collect(
    session: Session, translator: Translator, filters: Filters, keys: Sequence[GroupKey], values: dict[str, Value]
) -> _Groups:
    """Read the runs, and add each to its group."""
    newest = translator.time(func.coalesce(Run.finished_at, Run.started_at, Run.created_at))
    numbers = [translator.number(value) for value in (Setting("seed"), *values.values())]
    columns = [*(key.column for key in keys), Run.id, Run.state, newest, *numbers]
    source = translator.source()
    # A run with several tags is in several groups.
    if any(key.kind == "tags" for key in keys):
        source = source.outerjoin(RunTag, RunTag.run_id == Run.id)
    if any(key.kind == "study" for key in keys):
        source = source.outerjoin(StudyRun, StudyRun.run_id == Run.id)
    # Each column as one list of JSON takes two thirds of the time of rows.
    query = (
        select(*(translator.listed(column) for column in columns))
        .select_from(source)
        .where(*filter_conditions(session, filters))
    )
    lists = [from_json(found or "[]") for found in session.execute(query).one()]
    return _to_groups(keys, lists[: len(keys)], lists[len(keys) :], [*values])


def _to_groups(
    keys: Sequence[GroupKey], stored: Sequence[list[Any]], read: Sequence[list[Any]], names: Sequence[str]
) -> _Groups:
    """Group columns of runs by their stored keys."""
    values, of_row = _combine([_codes(key, column) for key, column in zip(keys, stored, strict=True)])
    ids = np.array(read[0], np.int64)
    order = np.lexsort((-ids, of_row))
    runs = np.bincount(of_row, minlength=len(values))
    starts = np.cumsum(runs) - runs
    states, times = ([column[row] for row in order.tolist()] for column in read[1:3])
    seeds, *numbers = (np.array(column, np.float64)[order] for column in read[3:])
    return _Groups(
        values=values,
        runs=runs.tolist(),
        newest=[max(times[start : start + count]) for start, count in zip(starts, runs, strict=True)],
        statistics={
            name: _statistics(column, of_row[order], len(values)) for name, column in zip(names, numbers, strict=True)
        },
        ids=ids[order],
        states=states,
        seeds=seeds,
        starts=starts,
    )


def _codes(key: GroupKey, column: Sequence[Any]) -> tuple[list[Any], Ints]:
    """Return the different values of a key, and the place of the value of each row."""
    # Different stored values may be equal, such as 1 and 1.0.
    values: list[Any] = []
    place_by_key: dict[tuple[str, str], int] = {}
    places: dict[Any, int] = {}
    for each in dict.fromkeys(column):
        value = key.read(each)
        places[each] = place_by_key.setdefault(value_key(value), len(values))
        if places[each] == len(values):
            values.append(value)
    return values, np.fromiter(map(places.__getitem__, column), np.int64, len(column))


def _combine(codes: Sequence[tuple[list[Any], Ints]]) -> tuple[list[tuple[Any, ...]], Ints]:
    """Return the different combinations of values, and the place of the combination of each row."""
    combined = np.zeros(len(codes[0][1]), np.int64)
    groups: list[tuple[Any, ...]] = [()]
    for values, places in codes:
        different, combined = np.unique(combined * len(values) + places, return_inverse=True)
        groups = [(*groups[each // len(values)], values[each % len(values)]) for each in different.tolist()]
    return groups, combined


def _statistics(numbers: Floats, of_row: Ints, groups: int) -> list[GroupStatistic]:
    """Return the statistics of each group. Numbers that are missing are NaN."""
    is_present = ~np.isnan(numbers)
    numbers, of_row = numbers[is_present], of_row[is_present]
    counts = np.bincount(of_row, minlength=groups)
    means = np.bincount(of_row, numbers, groups) / np.maximum(counts, 1)
    squares = np.bincount(of_row, (numbers - means[of_row]) ** 2, groups)
    deviations = np.sqrt(squares / np.maximum(counts - 1, 1))
    return [
        GroupStatistic(mean=mean if count else None, std=deviation if count > 1 else None, n=count)
        for mean, deviation, count in zip(means.tolist(), deviations.tolist(), counts.tolist(), strict=True)
    ]


def _labels(session: Session, keys: Sequence[GroupKey], groups: _Groups) -> list[str]:
    """Return the label of each group."""
    parts: dict[tuple[int, tuple[str, str]], str] = {}

    def part(place: int, value: Any) -> str:
        of_value = place, value_key(value)
        if of_value not in parts:
            parts[of_value] = keys[place].label(session, value)
        return parts[of_value]

    return [" · ".join(part(place, value) for place, value in enumerate(values)) for values in groups.values]


def _to_schema(groups: _Groups, group: int, label: str, keys: Sequence[GroupKey], expression: str) -> ListedGroup:
    values, rows = groups.values[group], groups.rows(group)
    conditions = [key.condition(value) for key, value in zip(keys, values, strict=True)]
    seeds = np.unique(groups.seeds[rows])
    return ListedGroup(
        label=label,
        values={key.text: value for key, value in zip(keys, values, strict=True)},
        filter=" and ".join([*([f"({expression})"] if expression.strip() else []), *conditions]),
        runs=groups.runs[group],
        run_ids=groups.ids[rows][:MAX_RUN_IDS].tolist(),
        states=dict(sorted(Counter(groups.states[rows]).items())),
        seeds=[shown_number(seed) for seed in seeds[~np.isnan(seeds)][:MAX_SEEDS].tolist()],
        newest=datetime.fromisoformat(groups.newest[group]).replace(tzinfo=UTC),
        statistics={name: found[group] for name, found in groups.statistics.items()},
    )


def _sort(groups: _Groups, labels: Sequence[str], request: GroupRequest, by: Sequence[str]) -> list[int]:
    """Sort groups by an aggregate, then by label. Groups without a value come last."""
    name, descending = request.sort.removeprefix("-").strip(), request.sort.startswith("-")
    labeled = sorted(range(len(labels)), key=lambda group: labels[group])
    found = _aggregates(groups, labels, name, by)
    present = [group for group in labeled if found[group] is not None]
    present.sort(key=lambda group: _comparable(found[group]), reverse=descending)
    return present + [group for group in labeled if found[group] is None]


def _aggregates(groups: _Groups, labels: Sequence[str], name: str, by: Sequence[str]) -> Sequence[Any]:
    """Return the aggregate of each group."""
    if name in ("runs", "newest", "label"):
        return labels if name == "label" else getattr(groups, name)
    if name in by:
        place = by.index(name)
        return [values[place] for values in groups.values]
    value, _, aggregate = name.rpartition(".")
    if value in groups.statistics and aggregate in ("mean", "std", "n"):
        return [getattr(statistic, aggregate) for statistic in groups.statistics[value]]
    message = "sort by runs, newest, label, a name in `by`, or VALUE.mean, VALUE.std or VALUE.n"
    raise Invalid(FieldError(field="sort", message=message))


def _comparable(value: Any) -> tuple[str, Any]:
    """Return a key that can be compared for values of all types: numbers first."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return ("number", value) if is_number else ("text", str(value))
