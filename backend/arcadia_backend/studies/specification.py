"""Specification of a study, and labels of its points. The API and the command line use the same model."""

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, StringConstraints

from arcadia_backend.marks.signals import RuleName
from arcadia_backend.runs.job_options import JobOptions
from arcadia_backend.runs.names import field_titles, format_field, format_value
from arcadia_backend.runs.needs import RunNeeds
from arcadia_workers.contract.values import NO_BOOLEAN, STORABLE, Id
from arcadia_workers.contract.worker_api import ExecutorName

Sampler = Literal["grid", "random", "tpe"]
Pruner = Literal["none", "median", "halving"]
Until = Literal["certain"]

MAX_SEED = 2**31 - 1
MAX_SEEDS = 1_000
# With fewer seeds no difference is certain.
MIN_SEED_LIMIT = 5
_SEED_TEXT = re.compile(r"\s*\d{1,10}(\s*-\s*\d{1,10})?(\s*,\s*\d{1,10}(\s*-\s*\d{1,10})?)*\s*")

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), STORABLE]
FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z_0-9]{1,60}$")]
Bound = Annotated[float, Field(ge=-1e15, le=1e15), NO_BOOLEAN]


def _parse_seeds(given: object) -> object:
    """Parse 5 as the seeds 1 to 5, and "1-3, 7" as 1, 2, 3 and 7."""
    if isinstance(given, int) and not isinstance(given, bool):
        if not 1 <= given <= MAX_SEEDS:
            raise ValueError(f"use 1 to {MAX_SEEDS:,} seeds")
        return list(range(1, given + 1))
    return _parse_seed_text(given) if isinstance(given, str) else given


def _parse_seed_text(given: str) -> list[int]:
    if not _SEED_TEXT.fullmatch(given):
        raise ValueError("use a number of seeds, a list, or a text such as 1-5 or 1-3, 7")
    seeds: list[int] = []
    for part in given.split(","):
        first, _, last = part.partition("-")
        low, high = int(first), int(last or first)
        if not 0 <= high - low < MAX_SEEDS:
            raise ValueError(f"{part.strip()} is not a range of at most {MAX_SEEDS:,} seeds")
        seeds += range(low, high + 1)
        if len(seeds) > MAX_SEEDS:
            raise ValueError(f"use 1 to {MAX_SEEDS:,} seeds")
    return seeds


Seed = Annotated[int, Field(ge=0, le=MAX_SEED), NO_BOOLEAN]
Seeds = Annotated[
    list[Seed],
    BeforeValidator(_parse_seeds, json_schema_input_type=int | str | list[int]),
    Field(
        min_length=1,
        max_length=MAX_SEEDS,
        description="Number of seeds (5 means 1 to 5), ranges (1-3, 7), or a list.",
    ),
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Axis(_Strict):
    """A field to vary, or several that vary together, with its values or range."""

    field: FieldName | Annotated[list[FieldName], Field(min_length=1, max_length=20)] = Field(
        description="A configuration field, `preset`, or a list of fields that vary together."
    )
    values: Annotated[list[JsonValue], Field(min_length=1, max_length=1_000)] | None = Field(
        default=None, description="Values to try. If several fields vary together, each value is a list."
    )
    uniform: tuple[Bound, Bound] | None = Field(default=None, description="Range to draw numbers from.")
    log_uniform: tuple[Bound, Bound] | None = Field(
        default=None, description="Range to draw numbers from, uniformly on a logarithmic scale."
    )

    @property
    def fields(self) -> list[str]:
        """Return the fields that the axis varies."""
        return [self.field] if isinstance(self.field, str) else self.field

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the range of the axis, or of the indices of its values."""
        return self.uniform or self.log_uniform or (0, len(self.values or []))

    @property
    def log(self) -> bool:
        """Return True if a logarithmic scale suits the axis."""
        if self.values is None:
            return self.log_uniform is not None
        numbers = [value for value in self.values if isinstance(value, int | float) and not isinstance(value, bool)]
        return len(numbers) == len(self.values) > 1 and min(numbers) > 0 and max(numbers) / min(numbers) >= 9

    @property
    def numeric(self) -> bool:
        """Return True if all values are numbers."""
        kinds = {isinstance(value, int | float) and not isinstance(value, bool) for value in self.values or [0.0]}
        return kinds == {True}


class DiagnosedRun(_Strict):
    """A finding of a run's diagnosis."""

    run_id: Id
    rule: RuleName


class Specification(_Strict):
    """A question, with the configurations, seeds and budget of the runs that answer it."""

    name: Name
    question: Annotated[str, Field(max_length=20_000, description="The question, as Markdown."), STORABLE] = ""
    preset: Annotated[str, Field(max_length=100, description="Base preset for all runs.")] | None = None
    config: (
        Annotated[
            dict[str, Any], Field(max_length=200, description="Complete base configuration, instead of a preset.")
        ]
        | None
    ) = None
    changes: Annotated[dict[str, Any], Field(max_length=200, description="Fields to change in all runs.")] = {}
    axes: Annotated[
        list[Axis], Field(max_length=20, description="Fields that vary between runs, besides the seed.")
    ] = []
    seeds: Seeds = [1]
    until: Until | None = Field(
        default=None,
        description="certain: add a seed to each undecided point until a test that allows repeated checks decides.",
    )
    max_seeds: Annotated[
        int, Field(ge=MIN_SEED_LIMIT, le=MAX_SEEDS, description="Limit of seeds per point with `until`."), NO_BOOLEAN
    ] = 20
    total_steps: Annotated[int, Field(ge=1, le=10_000_000_000, description="Steps of each run."), NO_BOOLEAN] | None = (
        None
    )
    sampler: Sampler = Field(
        default="grid",
        description="grid: all combinations; random; tpe: Optuna's sampler, which learns from finished runs.",
    )
    points: (
        Annotated[int, Field(ge=1, le=100_000, description="Number of points for random or tpe."), NO_BOOLEAN] | None
    ) = None
    pruner: Pruner = Field(
        default="none",
        description="Rule that stops runs early by mean return: median, or successive halving, which keeps a third.",
    )
    max_concurrent_runs: Annotated[
        int,
        Field(ge=1, le=1_000, description="Maximum number of runs that train concurrently."),
        NO_BOOLEAN,
    ] = 2
    priority: Annotated[
        int, Field(ge=-1_000, le=-1, description="Priority of the runs. Single runs have 0."), NO_BOOLEAN
    ] = -10
    executor: ExecutorName | None = Field(
        default=None,
        description="Where the runs train. Default: that of the project. A scheduler gets all planned runs at once.",
    )
    job_options: JobOptions = []
    needs: RunNeeds = Field(default=RunNeeds(), description="What each run needs of a worker's host.")
    interruptible: bool = Field(default=False, description="Whether runs with a higher priority may take their place.")
    diagnosis: DiagnosedRun | None = Field(default=None, description="Finding of a run whose fix the study tests.")

    @property
    def point_count(self) -> int:
        """Return the number of points."""
        return self.points or 1 if self.sampler != "grid" else math.prod(len(axis.values or [0]) for axis in self.axes)

    @property
    def seed_limit(self) -> int:
        """Return the largest number of seeds per point before any extension."""
        return len(self.seeds) if self.until is None else self.max_seeds

    @property
    def run_count(self) -> int:
        """Return the largest number of runs before any extension."""
        return self.point_count * self.seed_limit


def find_errors(spec: Specification) -> list[tuple[str, str]]:
    """Return errors between fields as pairs of field and message."""
    errors = [
        (f"axes.{number}.{field}", message)
        for number, axis in enumerate(spec.axes)
        for field, message in _axis_errors(axis)
    ]
    varied = [field for axis in spec.axes for field in axis.fields]
    if (spec.preset is None) == (spec.config is None) and not (spec.preset is None and "preset" in varied):
        errors.append(("preset", "use either a preset or a complete config"))
    errors += [("axes", f"{field} is in more than one axis") for field in {f for f in varied if varied.count(f) > 1}]
    if "seed" in varied or "seed" in spec.changes:
        errors.append(("seeds", "seeds belong here, not in an axis or in changes"))
    twice = [field for field in spec.changes if field in varied]
    errors += [(f"changes.{field}", "an axis varies this field: omit it here") for field in twice]
    if spec.total_steps is not None and ("total_steps" in varied or "total_steps" in spec.changes):
        errors.append(("total_steps", "this is already in an axis or in changes: omit it here"))
    if len(set(spec.seeds)) < len(spec.seeds):
        errors.append(("seeds", "use each seed once: a repeated seed trains the same run again"))
    return [*errors, *_until_errors(spec), *_sampler_errors(spec)]


def _until_errors(spec: Specification) -> list[tuple[str, str]]:
    """Return why seeds cannot be added until certain. The test compares a fixed set of points by unpruned runs."""
    if spec.until is None:
        return []
    errors = []
    if spec.point_count < 2:
        errors.append(("until", "this requires at least two points to compare"))
    if spec.sampler == "tpe":
        errors.append(("until", "this requires the sampler grid or random, because tpe adds points during the study"))
    if spec.pruner != "none":
        errors.append(("until", "this requires the pruner none, because stopped runs have no score"))
    if spec.max_seeds < len(spec.seeds):
        errors.append(("max_seeds", f"the study starts with {len(spec.seeds)} seeds: use at least as many"))
    if max(spec.seeds) + spec.max_seeds > MAX_SEED:
        errors.append(("seeds", f"the largest seed is {MAX_SEED:,}, and seeds are added"))
    return errors


def _axis_errors(axis: Axis) -> list[tuple[str, str]]:
    given = [kind for kind in (axis.values, axis.uniform, axis.log_uniform) if kind is not None]
    if len(given) != 1:
        return [("values", "use exactly one of values, uniform and log_uniform")]
    if axis.values is None:
        return _range_errors(axis, *axis.bounds)
    together = not isinstance(axis.field, str)
    for value in axis.values or []:
        if together and not (isinstance(value, list) and len(value) == len(axis.fields)):
            return [("values", f"each value must be a list of {len(axis.fields)}: {', '.join(axis.fields)}")]
    texts = [repr(value) for value in axis.values or []]
    return [("values", "use each value once")] if len(set(texts)) < len(texts) else []


def _range_errors(axis: Axis, low: float, high: float) -> list[tuple[str, str]]:
    kind = "log_uniform" if axis.log_uniform is not None else "uniform"
    if not isinstance(axis.field, str):
        return [(kind, "fields that vary together require values")]
    if low >= high:
        return [(kind, f"the lower end {low:g} must be below {high:g}")]
    return [(kind, "the lower end must be above 0")] if kind == "log_uniform" and low <= 0 else []


def _sampler_errors(spec: Specification) -> list[tuple[str, str]]:
    has_range = any(axis.values is None for axis in spec.axes)
    if spec.sampler == "grid":
        if has_range:
            return [("sampler", "a grid requires values; use random or tpe for axes with a range")]
        return [("points", "the values of a grid determine its points; omit this")] if spec.points else []
    if not spec.axes:
        return [("axes", f"{spec.sampler} requires an axis; use grid to vary only the seed")]
    return [("points", f"give the number of points for {spec.sampler}")] if spec.points is None else []


def axis_title(axis: Axis) -> str:
    """Return the titles of the fields of an axis."""
    return ", ".join(_title(field) for field in axis.fields)


def point_label(values: Mapping[str, Any]) -> str:
    """Return the label of a point: its fields with their values."""
    return " · ".join(_field_label(field, value) for field, value in values.items()) or "base configuration"


def axis_value_label(axis: Axis, place: float) -> str:
    """Format the value of an axis at a position."""
    value = place if axis.values is None else axis.values[int(place)]
    return ", ".join(map(format_value, value)) if isinstance(value, list) else format_value(value)


def _title(field: str) -> str:
    return "Preset" if field == "preset" else field_titles().get(field, field)


def _field_label(field: str, value: Any) -> str:
    return format_value(value) if field == "preset" else f"{_title(field)} {format_field(field, value)}"
