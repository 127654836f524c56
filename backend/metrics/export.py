"""Every raw point of a run as CSV or JSON lines, written out as it is read."""

import json
from collections.abc import Callable, Iterator

import numpy as np
from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from sqlalchemy import select

from backend.database.engine import Database, Db
from backend.metrics.models import MetricSeries
from backend.metrics.points import Array, Bools
from backend.metrics.reading import portions, stored_chunks, visible_limits
from backend.web.csv_files import attached
from backend.web.json_numbers import spelled
from backend.web.lookup import PathRun

router = APIRouter(tags=["export"])

COLUMNS = ("attempt", "superseded", "step", "frames", "time", "name", "value")
Write = Callable[[str, int, Array, Bools], str]


@router.get("/export/runs/{run_id}.csv", response_class=StreamingResponse)
def export_csv(db: Db, run: PathRun) -> StreamingResponse:
    """Every point of a run as CSV, superseded ones too."""

    def lines() -> Iterator[str]:
        yield ",".join(COLUMNS) + "\n"
        yield from export(db, run.id, csv_lines)

    return attached(lines(), f"run-{run.id}.csv")


@router.get("/export/runs/{run_id}.jsonl", response_class=StreamingResponse)
def export_jsonl(db: Db, run: PathRun) -> StreamingResponse:
    """Every point of a run as JSON lines, superseded ones too."""
    return attached(export(db, run.id, json_lines), f"run-{run.id}.jsonl", "application/jsonl")


def export(database: Database, run_id: int, write: Write) -> Iterator[str]:
    """The run's points, series after series; each portion has its session, so that slow clients hold none."""
    with database.read() as session:
        limits = visible_limits(session, [run_id])[run_id]
        found = select(MetricSeries).where(MetricSeries.run_id == run_id).order_by(MetricSeries.name)
        every = session.scalars(found).all()
    for series in every:
        for numbers in portions(series):
            with database.read() as session:
                chunks = stored_chunks(session, series, limits, numbers)
            for attempt, points, superseded in chunks:
                yield write(series.name, attempt, points, superseded)


def csv_lines(name: str, attempt: int, points: Array, superseded: Bools) -> str:
    """Points as lines of CSV; no name of a metric needs quotes, and NaN and Infinity are written out."""
    return "".join(
        f"{attempt},{'true' if hidden else 'false'},{step},{frames},{time!r},{name},{spelled(value)}\n"
        for (step, frames, time, value), hidden in zip(points.tolist(), superseded.tolist(), strict=True)
    )


def json_lines(name: str, attempt: int, points: Array, superseded: Bools) -> str:
    """Points as one JSON object a line; NaN and Infinity are strings, since JSON has none."""
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
