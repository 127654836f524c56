"""The data of watched runs: their states, the curve of a metric, and new lines of their logs."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from arcadia._sync.client import Client
from arcadia._sync.runs import Run
from arcadia.errors import NotFoundError
from arcadia.names import joined_ids
from arcadia.records.log_line import LogLine

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
    log: dict[int, list[LogLine]]
    new_log: dict[int, list[LogLine]]

    @property
    def all_ended(self) -> bool:
        """Return True if every run is finished, failed or stopped."""
        return all(run.has_ended for run in self.runs)


class Watcher:
    """Reader of watched runs."""

    def __init__(self, client: Client, runs: Sequence[Run], metric: str, *, curves: bool) -> None:
        self.metric = metric
        self._client, self._ids, self._reads_curves = client, [run.id for run in runs], curves
        self._last_line: dict[int, int] = {}
        self._log: dict[int, deque[LogLine]] = {run_id: deque(maxlen=KEPT_LINES) for run_id in self._ids}

    def read(self) -> Snapshot:
        """Return the current state. The log is read after it, so that the last snapshot has the last lines."""
        runs = self._read_runs()
        curves = {run.id: self._read_curve(run) for run in runs} if self._reads_curves else {}
        new = {run.id: self._read_log(run) for run in runs}
        for run_id, lines in new.items():
            self._log[run_id].extend(lines)
        return Snapshot(runs, curves, {run_id: list(lines) for run_id, lines in self._log.items()}, new)

    def _read_runs(self) -> list[Run]:
        """Return the runs with few requests. Raise NotFoundError if one was deleted."""
        if len(self._ids) == 1:
            return [self._client.run(self._ids[0])]
        found = {run.id: run for run in self._client.runs(joined_ids(self._ids))}
        return [found.get(run_id) or self._client.run(run_id) for run_id in self._ids]

    def _read_curve(self, run: Run) -> Curve:
        try:
            series = run.metrics(self.metric, buckets=CURVE_BUCKETS).to_lists()
        except NotFoundError:  # a run may end before it reports the metric
            return Curve()
        return Curve(*series.get(self.metric, ([], [])))

    def _read_log(self, run: Run) -> list[LogLine]:
        after = self._last_line.get(run.id)
        lines = list(run.log(last=FIRST_LINES) if after is None else run.log(after=after))
        self._last_line[run.id] = lines[-1].id if lines else after or 0
        return lines
