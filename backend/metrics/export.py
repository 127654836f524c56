"""Streaming export of all points of a run as CSV or JSON lines."""

import json
from collections.abc import Callable, Iterator

import numpy as np
from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from sqlalchemy import select

from backend.database.engine import Database, Db
from backend.metrics.models import MetricSeries
from backend.metrics.points import Array, Bools
from backend.metrics.reading import chunk_ranges, read_chunks
from backend.metrics.visibility import load_limits
from backend.web.csv_files import attachment
from backend.web.json_numbers import spelled
from backend.web.lookup import PathRun

router = APIRouter(tags=["export"])

COLUMNS = ("attempt", "superseded", "step", "frames", "time", "name", "value")
FormatPoints = Callable[[str, int, Array, Bools], str]


@router.get("/export/runs/{run_id}.csv", response_class=StreamingResponse)
def export_csv(db: Db, run: PathRun) -> StreamingResponse:
    """Export all points of a run as CSV, including superseded ones."""

    def content() -> Iterator[str]:
        yield ",".join(COLUMNS) + "\n"
        yield from export(db, run.id, to_csv)

    return attachment(content(), f"run-{run.id}.csv")


@router.get("/export/runs/{run_id}.jsonl", response_class=StreamingResponse)
def export_jsonl(db: Db, run: PathRun) -> StreamingResponse:
    """Export all points of a run as JSON lines, including superseded ones."""
    return attachment(export(db, run.id, to_json_lines), f"run-{run.id}.jsonl", "application/jsonl")


def export(database: Database, run_id: int, format_points: FormatPoints) -> Iterator[str]:
    """Yield the run's points, series by series.

    Each read opens its own session, so that a slow client does not keep one open.
    """
    with database.read() as session:
        limits = load_limits(session, [run_id])[run_id]
        found = select(MetricSeries).where(MetricSeries.run_id == run_id).order_by(MetricSeries.name)
        every = session.scalars(found).all()
    for series in every:
        for numbers in chunk_ranges(series):
            with database.read() as session:
                chunks = read_chunks(session, series, limits, numbers)
            for attempt, points, superseded in chunks:
                yield format_points(series.name, attempt, points, superseded)


def to_csv(name: str, attempt: int, points: Array, superseded: Bools) -> str:
    """Return points as CSV lines. Metric names never need quotes; NaN and Infinity are spelled out."""
    return "".join(
        f"{attempt},{'true' if hidden else 'false'},{step},{frames},{time!r},{name},{spelled(value)}\n"
        for (step, frames, time, value), hidden in zip(points.tolist(), superseded.tolist(), strict=True)
    )


def to_json_lines(name: str, attempt: int, points: Array, superseded: Bools) -> str:
    """Return points as one JSON object per line. NaN and Infinity are strings because JSON has no such numbers."""
    return "".join(
        json.dumps(
            {
                "attempt": attempt,
                "superseded": hidden,
                "step": step,
                "frames": frames,
                "time": time,
                "name": name,
                "value": value if np.isfinite(value) else spelled(value),
            }
        )
        + "\n"
        for (step, frames, time, value), hidden in zip(points.tolist(), superseded.tolist(), strict=True)
    )
