"""A comparison of runs as clients see it."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from backend.runs.schemas import Run


class Difference(BaseModel):
    """A field of the configuration and its value in each run that has it."""

    field: str
    title: str
    values: dict[int, Any]
    same: bool


class MetricSummary(BaseModel):
    """What a metric came to; NaN and the infinities are strings."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    last: float | None
    max: float | None
    mean_last_100: float | None


class RunSummary(BaseModel):
    """What one run came to."""

    run_id: int
    metrics: dict[str, MetricSummary]
    episodes: int
    wall_seconds: float


class Comparison(BaseModel):
    """Runs side by side."""

    runs: list[Run]
    differences: list[Difference]
    summary: list[RunSummary]
