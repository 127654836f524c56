"""Schemas of comparisons, and the settings in which runs differ."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from arcadia_backend.colors import Dash
from arcadia_backend.provenance import TITLES, StoredProvenance, comparable_values, fill_gaps, listing_order, title_of
from arcadia_backend.runs.schemas import Run
from arcadia_backend.web.formats import JsonNumber

MissingRuns = Annotated[list[int], Field(description="Ids of requested runs that do not exist.")]


class FieldDifference(BaseModel):
    """A field with its value in each run that has it."""

    field: str
    title: str
    values: dict[int, Any]
    same: bool = Field(description="True if all runs that have the field agree. Methods without it do not count.")
    marked: list[int] = Field(description="Runs whose value is not the most common one; empty if all agree.")


class MetricSummary(BaseModel):
    """Last value, maximum and recent mean of a metric; NaN and infinities are strings."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    last: JsonNumber | None
    max: JsonNumber | None
    mean_last_100: JsonNumber | None


class RunSummary(BaseModel):
    """The results of one run."""

    run_id: int
    metrics: dict[str, MetricSummary]
    episodes: int
    wall_seconds: float


class ComparedRun(Run):
    """A run in a comparison, with its label and its line style in figures of the same runs."""

    label: str
    dash: Dash


class Comparison(BaseModel):
    """Runs side by side."""

    runs: list[ComparedRun]
    differences: list[FieldDifference]
    provenance: list[FieldDifference] = Field(
        description="Code, packages, hosts and GPUs of the runs' latest attempts, where they differ."
    )
    groups: list[list[int]] = Field(
        description="Run ids by group. Curves with the same `group_by` draw each group as one line."
    )
    summary: list[RunSummary]
    missing: MissingRuns = []


class Estimate(BaseModel):
    """A value with its 95 % interval."""

    value: float
    low: float | None = Field(description="Null if there is no interval.")
    high: float | None


class GroupStanding(BaseModel):
    """The mean return of a group of runs at the step."""

    name: str
    run_ids: list[int] = Field(description="All runs of the group, including those that have not reached the step.")
    n: int = Field(description="Number of runs that have reached the step.")
    failed: int = Field(description="Number of failed runs that have not reached the step. The mean leaves them out.")
    stopped: int = Field(description="Number of stopped runs that have not reached the step. The mean leaves them out.")
    scores: list[float] = Field(description="The scores of the n runs.")
    mean: Estimate | None = Field(
        description="With Student's t-interval, which assumes scores without rare failures and without a long tail."
    )
    no_interval: str = Field(
        description="Why the mean has no interval, as a sentence: too few runs, equal runs, or runs near a bound of "
        "the score. Empty otherwise."
    )
    seeds_missing: int = Field(description="Number of additional seeds that a verdict requires.")
    color: str = Field(description="The group's color in figures of the same runs.")
    dash: Dash


class PairVerdict(BaseModel):
    """The best group compared with another group."""

    best: int = Field(description="Index of the best group in `standings`.")
    other: int = Field(description="Index of the other group in `standings`.")
    text: str = Field(description="The verdict as a sentence.")
    warning: str = Field(
        description="Why the chance of a false verdict is above 5 %: the compared step differs from what was first "
        "planned, or seeds were added after a verdict was possible, and a test that allows for repeated looks does "
        "not confirm the difference. Empty otherwise."
    )
    significant: bool = Field(description="True if the interval of the difference excludes zero.")
    difference: Estimate | None = Field(
        description="Difference of the means, with Welch's interval, or that of the pooled variance if it is wider. "
        "The intervals of all pairs of groups are right together with 95 %. Null if there is none."
    )
    probability: Estimate | None = Field(
        description="Probability that a run of the best group scores more than one of the other. A tie counts half. "
        "Below ten runs it has no interval."
    )


class Verdict(BaseModel):
    """Groups of runs ranked by mean return at a step, and the best compared with each other group.

    While runs train, there are standings but no pairs, and the message says when the verdict follows.
    """

    at: int | None = Field(description="The step; null if there is nothing to compare.")
    standings: list[GroupStanding] = Field(description="The best group first, groups without a score last.")
    pairs: list[PairVerdict]
    quantity: str = Field(description="The compared quantity as a sentence; empty if there is nothing to compare.")
    message: str = Field(description="Why there is no verdict, or none yet; empty otherwise.")
    missing: MissingRuns = []


class TimeToScore(BaseModel):
    """Training until a score was first reached."""

    steps: float
    frames: float
    seconds: float | None = Field(description="Null for a fork: its steps include its parent's, its time does not.")


class RunTime(BaseModel):
    """Training of one run until it reached the score."""

    run_id: int
    reached: TimeToScore | None = Field(description="Null if the run has not reached the score.")


class GroupTime(BaseModel):
    """Training of a group of runs until they reached the score."""

    name: str
    run_ids: list[int]
    n: int
    reached: int = Field(description="Number of runs that reached the score.")
    median: TimeToScore | None = Field(
        description="Over all runs; those that did not reach the score count as slowest. Null unless most reached it."
    )
    untimed_reason: str | None = Field(description="Why the group has no time, and therefore no speed-up.")
    speed_up: float | None = Field(description="Training time of the baseline group divided by that of this group.")
    data_efficiency: float | None = Field(description="Steps of the baseline group divided by those of this group.")
    color: str = Field(description="The group's color in figures of the same runs.")
    dash: Dash
    runs: list[RunTime]


class Thresholds(BaseModel):
    """Training of each group until it reached a score. A run's score is its mean over 100 consecutive episodes."""

    score: float | None = Field(description="Null if none was requested and the groups have none in common.")
    common: float | None = Field(
        description="The best score that most runs of every group reached, rounded down to three digits."
    )
    compared_with: int = Field(description="Index in `groups` of the baseline group.")
    groups: list[GroupTime]
    message: str = Field(description="Why there is nothing to compare; empty otherwise.")
    missing: MissingRuns = []


def field_differences(configs: Mapping[int, Mapping[str, Any]], titles: Mapping[str, str]) -> list[FieldDifference]:
    """Return every field of these configurations, in the order of the titles."""
    present = dict.fromkeys(field for config in configs.values() for field in config)
    fields = dict.fromkeys([*(field for field in titles if field in present), *present])
    return [
        _compare_field(field, titles.get(field, field), {i: c[field] for i, c in configs.items() if field in c})
        for field in fields
    ]


def provenance_differences(provenances: Mapping[int, StoredProvenance]) -> list[FieldDifference]:
    """Return the facts in which the provenances of these runs differ, those that can change results first."""
    values = {run_id: comparable_values(provenance) for run_id, provenance in provenances.items()}
    fill_gaps(values)
    fields = dict.fromkeys([*TITLES, *(field for each in values.values() for field in each)])
    differences = field_differences(values, {field: title_of(field) for field in sorted(fields, key=listing_order)})
    return [difference for difference in differences if not difference.same]


def group_identical(configs: Mapping[int, Mapping[str, Any]], ignored: Collection[str] = ("seed",)) -> list[list[int]]:
    """Group run ids by identical configuration, in order of first appearance."""
    groups: dict[tuple[tuple[str, Any], ...], list[int]] = {}
    for run_id, config in configs.items():
        key = tuple(sorted((field, normalize_value(value)) for field, value in config.items() if field not in ignored))
        groups.setdefault(key, []).append(run_id)
    return list(groups.values())


def _compare_field(field: str, title: str, values: dict[int, Any]) -> FieldDifference:
    usual, _count = Counter(map(normalize_value, values.values())).most_common(1)[0]
    marked = [run_id for run_id, value in values.items() if normalize_value(value) != usual]
    return FieldDifference(field=field, title=title, values=values, same=not marked, marked=marked)


def normalize_value(value: Any) -> Any:
    """Return a hashable key that is equal for equal values. In Python 1 == True, but not in a configuration."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(map(normalize_value, value))
    return repr(value) if value is None or isinstance(value, bool | str) else f"{value!r}".removesuffix(".0")
