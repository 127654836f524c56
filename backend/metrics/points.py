"""Points and summaries as packed arrays: how a series lies in the database (docs/decisions/0011-metric-store.md)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workers.contract.events import Metrics
from workers.contract.metrics import EPISODE_LENGTH, EPISODE_RETURN

# Points in a full chunk; a chunk is the unit that is summarised, read and rewritten.
CHUNK = 256
# Summaries in a full page.
PAGE = 64

POINT = np.dtype([("step", "<i8"), ("frames", "<i8"), ("time", "<f8"), ("value", "<f8")])

# What is known of a run of points without reading them; a single point is a summary of one.
SUMMARY = np.dtype(
    [
        ("attempt", "<i8"),
        ("count", "<i8"),
        ("first_step", "<i8"),
        ("last_step", "<i8"),
        ("first_frames", "<i8"),
        ("last_frames", "<i8"),
        ("first_time", "<f8"),
        ("last_time", "<f8"),
        ("min", "<f8"),
        ("max", "<f8"),
        ("sum", "<f8"),
        ("last", "<f8"),
    ]
)

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool]

NO_POINTS: Array = np.empty(0, POINT)
NO_SUMMARIES: Array = np.empty(0, SUMMARY)


def gather(metrics: Sequence[Metrics]) -> dict[str, Array]:
    """Every value and every episode of the events as points by series name, in order of steps."""
    rows: dict[str, list[tuple[int, int, float, float]]] = {}
    for event in metrics:
        for name, value in event.values.items():
            rows.setdefault(name, []).append((event.step, event.frames, event.time, value))
        for episode in event.episodes:
            returned = (episode.step, episode.frames, event.time, episode.episode_return)
            rows.setdefault(EPISODE_RETURN, []).append(returned)
            lasted = (episode.step, episode.frames, event.time, float(episode.length))
            rows.setdefault(EPISODE_LENGTH, []).append(lasted)
    return {name: _in_order(np.array(points, POINT)) for name, points in rows.items()}


def _in_order(points: Array) -> Array:
    steps = points["step"]
    if (steps[1:] >= steps[:-1]).all():
        return points
    return points[np.argsort(steps, kind="stable")]


def summarise(points: Array, starts: Ints, attempts: int | Ints) -> Array:
    """One summary for the points from each start to the next; `attempts` is by start.

    Minimum and maximum pass over NaN; the count and the sum do not.
    """
    summaries = np.empty(len(starts), SUMMARY)
    if not len(starts):
        return summaries
    summaries["attempt"] = attempts
    summaries["count"] = np.diff(starts, append=len(points))
    for axis in ("step", "frames", "time"):
        summaries[f"first_{axis}"] = np.minimum.reduceat(points[axis], starts)
        summaries[f"last_{axis}"] = np.maximum.reduceat(points[axis], starts)
    values = points["value"]
    summaries["min"] = np.fmin.reduceat(values, starts)
    summaries["max"] = np.fmax.reduceat(values, starts)
    with np.errstate(invalid="ignore"):
        summaries["sum"] = np.add.reduceat(values, starts)
    summaries["last"] = values[np.append(starts[1:], len(points)) - 1]
    return summaries


def unpack(data: bytes, dtype: np.dtype[Any]) -> Array:
    """The array that was packed into the bytes; read-only."""
    return np.frombuffer(data, dtype)
