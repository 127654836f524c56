"""API schemas of metrics."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from backend.web.json_numbers import JsonNumber

MAX_BUCKETS = 5_000
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_./-]{0,119}$"

Axis = Literal["step", "frames", "time", "epoch"]


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
