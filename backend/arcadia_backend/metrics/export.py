"""Points of a run as CSV, JSON lines or columns, and whole series for archives."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import Database, Db
from arcadia_backend.database.tables import Run
from arcadia_backend.metrics.points import (
    CHUNK,
    PAGE,
    POINT,
    Array,
    Bools,
    Ints,
    MetricChunk,
    MetricSeries,
    load_limits,
)
from arcadia_backend.metrics.reading import StoredChunk, at_attempt, chunk_ranges, read_chunks, split_names
from arcadia_backend.metrics.service import add_series, append_points, update_statistics
from arcadia_backend.web.formats import JsonNumber, attachment, csv_line, spelled
from arcadia_backend.web.lookup import PathRun

router = APIRouter(tags=["export"])

POINT_FIELDS = ("step", "frames", "time", "value")
COLUMNS = ("attempt", "superseded", "step", "frames", "time", "name", "value")
FormatPoints = Callable[[str, int, Array, Bools], str]
Names = Annotated[
    str, Query(description="Names separated by commas. Quote a name with a comma. All if empty.", max_length=10_000)
]
Superseded = Annotated[
    bool, Query(description="Include points of lost attempts that a later attempt trained again, marked as superseded.")
]


class RunPointColumns(BaseModel):
    """All points of a metric as columns of equal length."""

    attempt: list[int]
    step: list[int]
    frames: list[int]
    time: list[float] = Field(description="Unix time in seconds.")
    value: list[JsonNumber]


class RunPoints(BaseModel):
    """All points of some metrics of a run, without superseded ones."""

    run_id: int
    series: dict[str, RunPointColumns] = Field(title="Point columns")


class JsonStream(StreamingResponse):
    """A JSON document that is sent while it is read."""

    media_type = "application/json"


@router.get("/export/runs/{run_id}.csv", response_class=StreamingResponse)
def export_csv(db: Db, run: PathRun, names: Names = "", superseded: Superseded = True) -> StreamingResponse:
    """Export all points of a run as CSV, by default including superseded ones."""
    wanted = split_names(names)

    def content() -> Iterator[str]:
        yield ",".join(COLUMNS) + "\n"
        yield from export(db, run.id, to_csv, wanted, superseded=superseded)

    return attachment(content(), f"run-{run.id}.csv")


@router.get("/export/runs/{run_id}.jsonl", response_class=StreamingResponse)
def export_jsonl(db: Db, run: PathRun, names: Names = "", superseded: Superseded = True) -> StreamingResponse:
    """Export all points of a run as JSON lines, by default including superseded ones."""
    lines = export(db, run.id, to_json_lines, split_names(names), superseded=superseded)
    return attachment(lines, f"run-{run.id}.jsonl", "application/jsonl")


@router.get("/runs/{run_id}/points", response_model=RunPoints)
def read_points(db: Db, run: PathRun, names: Names = "") -> StreamingResponse:
    """Return every point of some metrics as columns, in the order of training.

    Superseded points are not included. Metrics that the run has not reported are left out.
    """
    return JsonStream(stream_columns(db, run.id, split_names(names)))


def export(
    database: Database, run_id: int, format_points: FormatPoints, names: Sequence[str] = (), *, superseded: bool = True
) -> Iterator[str]:
    """Yield the points of these metrics, or of all, series by series."""
    all_series, limits = _load_series(database, run_id, names)
    for series in all_series:
        for attempt, points, hidden in _chunks(database, series, limits):
            shown = slice(None) if superseded else ~hidden
            yield format_points(series.name, attempt, points[shown], hidden[shown])


def stream_columns(database: Database, run_id: int, names: Sequence[str]) -> Iterator[str]:
    """Yield a RunPoints document.

    The chunks of a series are read once per column, so that a long series is never in memory as a whole.
    """
    all_series, limits = _load_series(database, run_id, names)
    yield f'{{"run_id":{run_id},"series":{{'
    for place, series in enumerate(all_series):
        yield f"{',' if place else ''}{json.dumps(series.name)}:{{"
        for column, field in enumerate(("attempt", *POINT_FIELDS)):
            yield f'{"," if column else ""}"{field}":['
            separator = ""
            for attempt, points, hidden in _chunks(database, series, limits):
                visible = points[~hidden]
                if len(visible):
                    yield separator + _to_items(attempt, visible, field)
                    separator = ","
            yield "]"
        yield "}"
    yield "}}"


def _to_items(attempt: int, points: Array, field: str) -> str:
    """Return one column of points as the items of a JSON list."""
    if field == "attempt":
        return ",".join([str(attempt)] * len(points))
    values = points[field]
    items = values.tolist()
    if field == "value" and not np.isfinite(values).all():
        items = [value if np.isfinite(value) else spelled(value) for value in items]
    return json.dumps(items, separators=(",", ":"))[1:-1]


def _load_series(database: Database, run_id: int, names: Sequence[str]) -> tuple[Sequence[MetricSeries], Ints]:
    """Return the series of a run with these names, or all, and the limits of its attempts."""
    query = select(MetricSeries).where(MetricSeries.run_id == run_id).order_by(MetricSeries.name)
    if names:
        query = query.where(MetricSeries.name.in_(names))
    with database.read() as session:
        return session.scalars(query).all(), load_limits(session, [run_id])[run_id]


def _chunks(database: Database, series: MetricSeries, limits: Ints) -> Iterator[StoredChunk]:
    """Yield the chunks of a series. Each read has its own session, so that a slow client does not keep one open."""
    for numbers in chunk_ranges(series):
        with database.read() as session:
            chunks = read_chunks(session, series, limits, numbers)
        yield from chunks


def to_csv(name: str, attempt: int, points: Array, superseded: Bools) -> str:
    """Return points as CSV lines. NaN and Infinity are spelled out."""
    cell = csv_line([name]).removesuffix("\n")
    return "".join(
        f"{attempt},{'true' if hidden else 'false'},{step},{frames},{time!r},{cell},{spelled(value)}\n"
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


# An attempt, and how many consecutive points are its own.
Segment = tuple[int, int]
# One page of chunks: 512 kB.
POINTS_PER_BLOCK = CHUNK * PAGE


def list_series(session: Session, run_id: int) -> Sequence[MetricSeries]:
    """Return the series of a run in order of their names."""
    all_series = session.scalars(select(MetricSeries).where(MetricSeries.run_id == run_id))
    # Sort here, because databases sort letters differently.
    return sorted(all_series, key=lambda series: series.name)


def list_segments(session: Session, series: MetricSeries) -> list[Segment]:
    """Return the attempts of a series' points."""
    chunk = MetricChunk
    query = select(chunk.attempt, func.length(chunk.data)).where(chunk.series_id == series.id).order_by(chunk.number)
    rows = [(attempt, size // POINT.itemsize) for attempt, size in session.execute(query)]
    grouped = groupby(rows, key=lambda row: row[0])
    return [(attempt, sum(count for _attempt, count in some)) for attempt, some in grouped]


def iterate_points(session: Session, series: MetricSeries) -> Iterator[bytes]:
    """Yield the packed points of a series, chunk by chunk."""
    query = select(MetricChunk.data).where(MetricChunk.series_id == series.id).order_by(MetricChunk.number)
    yield from session.scalars(query.execution_options(yield_per=PAGE))


class SeriesRestorer:
    """Stores the points of the series of a new run, and computes their statistics."""

    def __init__(self, session: Session, run: Run, names: Sequence[str]) -> None:
        self._session = session
        self._series = add_series(session, run.id, names)
        self._limits = load_limits(session, [run.id])[run.id]
        # Points that are not written yet.
        self._pending = 0

    def restore(self, name: str, segments: Sequence[Segment], read: Callable[[int], bytes]) -> None:
        """Store the points of a series. `read` returns that many of the next bytes."""
        series = self._series[name]
        for attempt, count in segments:
            for start in range(0, count, POINTS_PER_BLOCK):
                size = min(POINTS_PER_BLOCK, count - start)
                points: Array = np.frombuffer(read(size * POINT.itemsize), POINT)
                append_points(self._session, attempt, {name: series}, {name: points})
                visible = points["value"][points["step"] <= at_attempt(self._limits, attempt)]
                if len(visible):
                    update_statistics(series, visible)
                self._flush(size)

    def _flush(self, size: int) -> None:
        """Write the chunks of many points, which are then dropped from memory."""
        self._pending += size
        if self._pending >= POINTS_PER_BLOCK:
            self._session.flush()
            self._pending = 0
