"""Points of a batch of events, by metric. This runs for every value that a script logs."""

import math
from typing import Any

import numpy as np

from backend.metrics.points import POINT, Array, sort_by_step
from backend.reported.events import MAX_NAME
from backend.reported.problems import Omissions
from backend.reported.values import quote
from workers.contract.values import LARGEST

SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

SYSTEM_METRICS = "system/"

Row = tuple[int, int, float, float]


class PointBuffer:
    """Points that are not stored yet."""

    def __init__(self, frames_per_step: int, omissions: Omissions) -> None:
        self.frames_per_step, self._omissions = frames_per_step, omissions
        self._rows: dict[str, list[Row]] = {}
        # The name to store for each name that a script uses, or None if it cannot be stored.
        self._names: dict[str, str | None] = {}
        self.first_time, self.last_time, self.last_step = math.inf, -math.inf, -LARGEST

    def add(self, step: int, time: float, values: dict[str, Any]) -> None:
        """Add the values of one event. Leave out those that cannot be stored."""
        frames = max(-LARGEST, min(LARGEST, step * self.frames_per_step))
        self.first_time = min(self.first_time, time)
        # A process beside the script measures the system, also while the script hangs. That is no progress.
        if not all(name.startswith(SYSTEM_METRICS) for name in values):
            self.last_time = max(self.last_time, time)
        self.last_step = max(self.last_step, step)
        rows = self._rows
        for given, value in values.items():
            number = value if type(value) is float else self._to_number(given, value)
            if number is None:
                continue
            if given in rows:
                rows[given].append((step, frames, time, number))
            elif (name := self._stored_name(given)) is not None:
                rows.setdefault(name, []).append((step, frames, time, number))

    def take(self) -> dict[str, Array]:
        """Return the points by metric, ordered by step, and forget them."""
        arrays = {name: np.array(rows, POINT) for name, rows in self._rows.items()}
        self._rows = {}
        return {name: sort_by_step(points) for name, points in arrays.items()}

    def _to_number(self, name: str, value: object) -> float | None:
        if isinstance(value, int):
            try:
                return float(value)
            except OverflowError:
                return math.inf if value > 0 else -math.inf
        if isinstance(value, str) and value in SPECIAL:
            return SPECIAL[value]
        self._omissions.add("metric value", f"Left out {quote(value)} of the metric {quote(name)}: it is not a number.")
        return None

    def _stored_name(self, given: str) -> str | None:
        if given not in self._names:
            name = given.strip()
            self._names[given] = name if 0 < len(name) <= MAX_NAME and name.isprintable() else None
            if self._names[given] is None:
                reason = f"use 1 to {MAX_NAME} printable characters."
                self._omissions.add("metric name", f"Left out the metric {quote(given)}: {reason}")
        return self._names[given]
