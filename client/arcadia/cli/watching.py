"""The data of watched runs: their states, the curve of a metric, and new lines of their logs."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from arcadia._sync.client import Client
from arcadia.cli.formats import to_float
from arcadia.cli.selection import Run
from arcadia.cli.waiting import ENDED, read_runs

EPISODE_RETURN = "episode/return"
CURVE_BUCKETS = 200
# Lines of a log to begin with, and lines to keep for the screen.
FIRST_LINES, KEPT_LINES = 10, 50


@dataclass(frozen=True)
class Curve:
    """Points of a metric."""

    xs: list[float] = field(default_factory=list)
    ys: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Snapshot:
    """Watched runs at one moment. `new_log` has the lines since the last snapshot, `log` the newest ones."""

    runs: list[Run]
    curves: dict[int, Curve]
    log: dict[int, list[dict[str, Any]]]
    new_log: dict[int, list[dict[str, Any]]]

    @property
    def all_ended(self) -> bool:
        """Return True if every run is finished, failed or stopped."""
        return all(run["state"] in ENDED for run in self.runs)


class Watcher:
    """Reader of watched runs."""

    def __init__(self, client: Client, ids: Sequence[int], metric: str, *, curves: bool) -> None:
        self.metric = metric
        self._client, self._ids, self._reads_curves = client, list(ids), curves
        self._last_line: dict[int, int] = {}
        self._log: dict[int, deque[dict[str, Any]]] = {run_id: deque(maxlen=KEPT_LINES) for run_id in ids}

    def read(self) -> Snapshot:
        """Return the current state. The log is read after it, so that the last snapshot has the last lines."""
        runs = read_runs(self._client, self._ids)
        curves = {run_id: self._read_curve(run_id) for run_id in self._ids} if self._reads_curves else {}
        new = {run_id: self._read_log(run_id) for run_id in self._ids}
        for run_id, lines in new.items():
            self._log[run_id].extend(lines)
        return Snapshot(runs, curves, {run_id: list(lines) for run_id, lines in self._log.items()}, new)

    def _read_curve(self, run_id: int) -> Curve:
        found = self._client.transport.get(f"/runs/{run_id}/metrics", names=self.metric, buckets=CURVE_BUCKETS)
        points = found["series"].get(self.metric)
        if points is None:
            return Curve()
        return Curve(points["x"], [float("nan") if y is None else to_float(y) or 0.0 for y in points["mean"]])

    def _read_log(self, run_id: int) -> list[dict[str, Any]]:
        after = self._last_line.get(run_id)
        page = self._client.transport.get(
            f"/runs/{run_id}/log", after=after, limit=FIRST_LINES if after is None else 1_000
        )
        lines: list[dict[str, Any]] = page["items"]
        self._last_line[run_id] = lines[-1]["id"] if lines else after or 0
        return lines
