"""What a study is to be, as a file or a request says it; the API and the command line read the same model."""

import math
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, StringConstraints

from workers.contract.values import NO_BOOLEAN, STORABLE

Sampler = Literal["grid", "random", "tpe"]
Pruner = Literal["none", "median", "halving"]

MAX_SEED = 2**31 - 1
MAX_SEEDS = 1_000
_SEEDS = re.compile(r"\s*\d{1,10}(\s*-\s*\d{1,10})?(\s*,\s*\d{1,10}(\s*-\s*\d{1,10})?)*\s*")

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), STORABLE]
FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z_0-9]{1,60}$")]
Bound = Annotated[float, Field(ge=-1e15, le=1e15), NO_BOOLEAN]


def _seeds(given: object) -> object:
    """Read 5 as the seeds 1 to 5, and "1-3, 7" as 1, 2, 3 and 7."""
    if isinstance(given, int) and not isinstance(given, bool):
        if not 1 <= given <= MAX_SEEDS:
            raise ValueError(f"give 1 to {MAX_SEEDS:,} seeds")
        return list(range(1, given + 1))
    return _written_seeds(given) if isinstance(given, str) else given


def _written_seeds(given: str) -> list[int]:
    if not _SEEDS.fullmatch(given):
        raise ValueError("write seeds as a number of them, as a list, or as 1-5 or 1-3, 7")
    found: list[int] = []
    for part in given.split(","):
        first, _, last = part.partition("-")
        low, high = int(first), int(last or first)
        if not 0 <= high - low < MAX_SEEDS:
            raise ValueError(f"{part.strip()} is no range of at most {MAX_SEEDS:,} seeds")
        found += range(low, high + 1)
        if len(found) > MAX_SEEDS:
            raise ValueError(f"give 1 to {MAX_SEEDS:,} seeds")
    return found


Seed = Annotated[int, Field(ge=0, le=MAX_SEED), NO_BOOLEAN]
Seeds = Annotated[
    list[Seed],
    BeforeValidator(_seeds, json_schema_input_type=int | str | list[int]),
    Field(min_length=1, max_length=MAX_SEEDS, description="How many (5: 1 to 5), which (1-3, 7), or a list."),
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Axis(_Strict):
    """A direction of the space: a field, or several that move together, and the values to try."""

    field: FieldName | Annotated[list[FieldName], Field(min_length=1, max_length=20)] = Field(
        description="A field of the configuration, `preset` for another method, or a list of fields that move together."
    )
    values: Annotated[list[JsonValue], Field(min_length=1, max_length=1_000)] | None = Field(
        default=None, description="The values to try; where several fields move together, a list of them each."
    )
    uniform: tuple[Bound, Bound] | None = Field(default=None, description="From where to where to draw numbers.")
    log_uniform: tuple[Bound, Bound] | None = Field(
        default=None, description="The same, with each order of magnitude as likely as another."
    )

    @property
    def fields(self) -> list[str]:
        """The fields that it moves."""
        return [self.field] if isinstance(self.field, str) else self.field

    @property
    def bounds(self) -> tuple[float, float]:
        """From where to where it draws numbers; of one with values, their places."""
        return self.uniform or self.log_uniform or (0, len(self.values or []))

    @property
    def log(self) -> bool:
        """Whether it is drawn, or best shown, by orders of magnitude."""
        if self.values is None:
            return self.log_uniform is not None
        numbers = [value for value in self.values if isinstance(value, int | float) and not isinstance(value, bool)]
        return len(numbers) == len(self.values) > 1 and min(numbers) > 0 and max(numbers) / min(numbers) >= 9

    @property
    def numeric(self) -> bool:
        """Whether its places are numbers."""
        kinds = {isinstance(value, int | float) and not isinstance(value, bool) for value in self.values or [0.0]}
        return kinds == {True}


class Specification(_Strict):
    """A question, the configurations and seeds that answer it, and a budget."""

    name: Name
    question: Annotated[str, Field(max_length=20_000, description="What it is to answer, as Markdown."), STORABLE] = ""
    preset: Annotated[str, Field(max_length=100, description="The preset that all runs begin from.")] | None = None
    config: Annotated[dict[str, Any], Field(max_length=200, description="Or a whole configuration.")] | None = None
    changes: Annotated[dict[str, Any], Field(max_length=200, description="Fields to change in all runs.")] = {}
    axes: Annotated[list[Axis], Field(max_length=20, description="What the runs differ in, besides their seeds.")] = []
    seeds: Seeds = [1]
    total_steps: (
        Annotated[int, Field(ge=1, le=10_000_000_000, description="The budget of each run."), NO_BOOLEAN] | None
    ) = None
    sampler: Sampler = Field(
        default="grid",
        description="grid: each value with each other; random; tpe, which learns from the runs where to look (Optuna).",
    )
    points: (
        Annotated[int, Field(ge=1, le=100_000, description="How many points random or tpe draws."), NO_BOOLEAN] | None
    ) = None
    pruner: Pruner = Field(
        default="none",
        description="Rule that ends runs early by mean return: median, or successive halving, which keeps a third.",
    )
    at_once: Annotated[
        int, Field(ge=1, le=1_000, description="How many of its runs are queued or training concurrently."), NO_BOOLEAN
    ] = 2
    priority: Annotated[
        int, Field(ge=-1_000, le=-1, description="Of its runs; that of single runs is 0."), NO_BOOLEAN
    ] = -10

    @property
    def point_count(self) -> int:
        """How many points it has, whatever draws them."""
        return self.points or 1 if self.sampler != "grid" else math.prod(len(axis.values or [0]) for axis in self.axes)

    @property
    def run_count(self) -> int:
        """How many runs it has, as it was first asked for."""
        return self.point_count * len(self.seeds)


def problems(asked: Specification) -> list[tuple[str, str]]:
    """What is wrong between fields, by the field's name."""
    found = [(f"axes.{number}.{field}", told) for number, axis in enumerate(asked.axes) for field, told in _of(axis)]
    if (asked.preset is None) == (asked.config is None) and not (asked.preset is None and _moves(asked, "preset")):
        found.append(("preset", "name a preset, or give a whole config: one of the two"))
    moved = [field for axis in asked.axes for field in axis.fields]
    found += [("axes", f"{field} is moved by more than one axis") for field in {f for f in moved if moved.count(f) > 1}]
    if "seed" in moved or "seed" in asked.changes:
        found.append(("seeds", "the seeds of the runs belong here, and in no axis or change"))
    twice = [field for field in asked.changes if field in moved]
    found += [(f"changes.{field}", "an axis moves it: leave it out here") for field in twice]
    if asked.total_steps is not None and ("total_steps" in moved or "total_steps" in asked.changes):
        found.append(("total_steps", "it is in an axis or in changes already: leave it out here"))
    if len(set(asked.seeds)) < len(asked.seeds):
        found.append(("seeds", "each seed once: the same seed would train the same run again"))
    return [*found, *_of_sampler(asked)]


def _moves(asked: Specification, field: str) -> bool:
    return any(field in axis.fields for axis in asked.axes)


def _of(axis: Axis) -> list[tuple[str, str]]:
    given = [way for way in (axis.values, axis.uniform, axis.log_uniform) if way is not None]
    if len(given) != 1:
        return [("values", "give values, uniform or log_uniform: one of the three")]
    if axis.values is None:
        return _of_bounds(axis, *axis.bounds)
    together = not isinstance(axis.field, str)
    for value in axis.values or []:
        if together and not (isinstance(value, list) and len(value) == len(axis.fields)):
            return [("values", f"each has to be a list of {len(axis.fields)}: {', '.join(axis.fields)}")]
    told = [repr(value) for value in axis.values or []]
    return [("values", "each value once")] if len(set(told)) < len(told) else []


def _of_bounds(axis: Axis, low: float, high: float) -> list[tuple[str, str]]:
    way = "log_uniform" if axis.log_uniform is not None else "uniform"
    if not isinstance(axis.field, str):
        return [(way, "fields that move together take values")]
    if low >= high:
        return [(way, f"begins at {low:g}, which is not below {high:g}")]
    return [(way, "has to begin above 0")] if way == "log_uniform" and low <= 0 else []


def _of_sampler(asked: Specification) -> list[tuple[str, str]]:
    drawn = any(axis.values is None for axis in asked.axes)
    if asked.sampler == "grid":
        if drawn:
            return [("sampler", "a grid takes values; choose random or tpe where an axis is drawn from a range")]
        return [("points", "a grid has as many points as its values make; leave it out")] if asked.points else []
    if not asked.axes:
        return [("axes", f"{asked.sampler} draws along axes: give one, or choose grid for seeds alone")]
    return [("points", f"say how many points {asked.sampler} is to draw")] if asked.points is None else []
