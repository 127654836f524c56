"""API schemas of metrics."""

import csv
import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from backend.errors import FieldError, Invalid
from backend.web.json_numbers import JsonNumber

MAX_BUCKETS = 5_000
# Any text of one line. The server stores only printable names, without spaces around them.
NAME_PATTERN = r"^[^\x00-\x1f\x7f]{1,200}$"
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")

Axis = Literal["step", "frames", "time", "epoch"]


def split_names(text: str, field: str = "names") -> list[str]:
    """Return the metric names of a query parameter, which are separated by commas.

    A name with a comma is in double quotes, as in CSV: "loss, mean",accuracy. Raise Invalid for control characters.
    """
    if _CONTROL_CHARACTER.search(text):
        message = "list names such as ga3c/agents,ga3c/trainers, without line breaks or other control characters"
        raise Invalid(FieldError(field=field, message=message))
    return [name for row in csv.reader([text]) for name in row if name]


class SeriesPoints(BaseModel):
    """One series. Each place is a point, or all points of a bucket. NaN and the infinities are strings."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    resolution: Literal["raw", "buckets"]
    total: int
    x: list[float]
    mean: list[JsonNumber]
    min: list[JsonNumber]
    max: list[JsonNumber]
    last: list[JsonNumber]
    count: list[int]


class Sparkline(BaseModel):
    """A small curve: the means of a metric in equal parts of the steps so far, null for a part without points."""

    run_id: int
    values: list[float | None]


class RunMetrics(BaseModel):
    """Series of one run.

    `complete` is true if the response has every point of the range: none is merged into a bucket, and none is left out
    because an earlier response had it.
    """

    run_id: int
    x: Axis
    cursor: str
    complete: bool
    continues: bool = Field(
        description="True if the points follow those of the earlier response, false if they replace it."
    )
    series: dict[str, SeriesPoints]
