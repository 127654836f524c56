"""Packed arrays of points and summaries, as the database stores a series (docs/decisions/0011-metric-store.md)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workers.contract.events import Metrics
from workers.contract.metrics import EPISODE_LENGTH, EPISODE_RETURN

# Points in a full chunk. A chunk is summarized, read and rewritten as a whole.
CHUNK = 256
# Summaries in a full page.
PAGE = 64

POINT = np.dtype([("step", "<i8"), ("frames", "<i8"), ("time", "<f8"), ("value", "<f8")])

# Statistics of consecutive points of one attempt. A summary of a single point has all that the point has.
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


def pack_events(metrics: Sequence[Metrics]) -> dict[str, Array]:
    """Return the values and episodes of the events as points by series name, ordered by step."""
    rows: dict[str, list[tuple[int, int, float, float]]] = {}
    for event in metrics:
        for name, value in event.values.items():
            rows.setdefault(name, []).append((event.step, event.frames, event.time, value))
        for episode in event.episodes:
            returned = (episode.step, episode.frames, event.time, episode.episode_return)
            rows.setdefault(EPISODE_RETURN, []).append(returned)
            lasted = (episode.step, episode.frames, event.time, float(episode.length))
            rows.setdefault(EPISODE_LENGTH, []).append(lasted)
    return {name: sort_by_step(np.array(points, POINT)) for name, points in rows.items()}


def sort_by_step(points: Array) -> Array:
    """Return the points ordered by step. Points of one step keep their order."""
    steps = points["step"]
    if (steps[1:] >= steps[:-1]).all():
        return points
    return points[np.argsort(steps, kind="stable")]


def summarize(points: Array, starts: Ints, attempts: int | Ints) -> Array:
    """Return one summary for the points from each start to the next. `attempts` has the attempt of each start.

    The minimum and maximum ignore NaN. The count and the sum do not.
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
