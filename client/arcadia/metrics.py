"""Points of a run's metrics, as lists, arrays and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arcadia.optional import import_optional
from arcadia.records.record import parse_number
from arcadia.tables import Columns, to_pandas, to_polars

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars


@dataclass(frozen=True)
class Series:
    """Points of one metric. In a thinned series, each place is a bucket, and `values` are means."""

    name: str
    x: list[float]
    values: list[float]
    min: list[float]
    max: list[float]
    count: list[int]
    total: int
    thinned: bool

    def __len__(self) -> int:
        return len(self.x)

    def __repr__(self) -> str:
        kept = f"{len(self):,} of {self.total:,} points" if self.thinned else f"{len(self):,} points"
        return f"<Series {self.name!r}: {kept}>"


class Metrics:
    """Series of a run by name. `x` is step, frames, time (seconds of training) or epoch."""

    def __init__(self, run_id: int, x: str, series: Mapping[str, Series]) -> None:
        self.run_id, self.x, self._series = run_id, x, dict(series)

    @property
    def names(self) -> list[str]:
        """Names of the metrics."""
        return list(self._series)

    @property
    def thinned(self) -> bool:
        """True if any series has buckets instead of all points."""
        return any(series.thinned for series in self._series.values())

    def __getitem__(self, name: str) -> Series:
        return self._series[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def to_lists(self) -> dict[str, tuple[list[float], list[float]]]:
        """Return the x values and the values of each metric as lists."""
        return {name: (list(series.x), list(series.values)) for name, series in self._series.items()}

    def to_rows(self) -> Iterator[tuple[str, float, float, float, float, int]]:
        """Yield a row for each point: metric, x, value, min, max and count."""
        for name, each in self._series.items():
            for point in zip(each.x, each.values, each.min, each.max, each.count, strict=True):
                yield (name, *point)

    def to_numpy(self) -> dict[str, tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]]:
        """Return the x values and the values of each metric as NumPy arrays."""
        np = import_optional("numpy", "Metrics.to_numpy")
        return {name: (np.asarray(each.x), np.asarray(each.values)) for name, each in self._series.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a table with a row for each point."""
        return to_pandas(self._columns(), "Metrics.to_pandas")

    def to_polars(self) -> polars.DataFrame:
        """Return a table with a row for each point."""
        return to_polars(self._columns(), "Metrics.to_polars")

    def _columns(self) -> Columns:
        every = self._series.values()
        return {
            "metric": ("text", [each.name for each in every for _ in each.x]),
            self.x: ("float", [x for each in every for x in each.x]),
            "value": ("float", [value for each in every for value in each.values]),
            "min": ("float", [value for each in every for value in each.min]),
            "max": ("float", [value for each in every for value in each.max]),
            "count": ("integer", [count for each in every for count in each.count]),
        }

    def __repr__(self) -> str:
        said = ", ".join(f"{name} ({len(series):,})" for name, series in self._series.items())
        return f"<Metrics of run {self.run_id} by {self.x}{', thinned' if self.thinned else ''}: {said or 'no points'}>"


def parse_series(name: str, data: Mapping[str, Any]) -> Series:
    """Return a series of the API."""
    return Series(
        name=name,
        x=[float(x) for x in data["x"]],
        values=_numbers(data["mean"]),
        min=_numbers(data["min"]),
        max=_numbers(data["max"]),
        count=[int(count) for count in data["count"]],
        total=int(data["total"]),
        thinned=data["resolution"] != "raw",
    )


def join_series(parts: Sequence[Series]) -> Series:
    """Return one series from successive parts of it."""
    return Series(
        name=parts[0].name,
        x=[x for part in parts for x in part.x],
        values=[value for part in parts for value in part.values],
        min=[value for part in parts for value in part.min],
        max=[value for part in parts for value in part.max],
        count=[count for part in parts for count in part.count],
        total=sum(part.total for part in parts),
        thinned=any(part.thinned for part in parts),
    )


def _numbers(values: list[Any]) -> list[float]:
    return [float("nan") if (number := parse_number(value)) is None else number for value in values]
