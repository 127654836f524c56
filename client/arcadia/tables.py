"""Metrics and comparisons of runs as tables of pandas and polars."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from arcadia.errors import MissingPackageError
from arcadia.records import parse_number

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars


def import_optional(module: str, purpose: str, package: str | None = None) -> Any:
    """Return a module. Raise MissingPackageError with the command that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = package or module.partition(".")[0]
        raise MissingPackageError(
            f"{purpose} needs the package {package}, which cannot be imported ({error}). "
            f"Install it: pip install {package}"
        ) from error


Kind = Literal["text", "float", "integer", "integers"]
"""The type of a column. `integers` is a list in each row."""
Columns = Mapping[str, tuple[Kind, Sequence[Any]]]
"""The values of each column, with their type. A missing float is None."""

_PANDAS_TYPES = {"text": "object", "float": "float64", "integer": "int64", "integers": "object"}


def to_pandas(columns: Columns, purpose: str) -> pandas.DataFrame:
    """Return a table of pandas. A missing float becomes NaN."""
    frame = import_optional("pandas", purpose).DataFrame({name: values for name, (_, values) in columns.items()})
    converted: pandas.DataFrame = frame.astype({name: _PANDAS_TYPES[kind] for name, (kind, _) in columns.items()})
    return converted


def to_polars(columns: Columns, purpose: str) -> polars.DataFrame:
    """Return a table of polars. A missing float becomes null."""
    module = import_optional("polars", purpose)
    kinds = {
        "text": module.String,
        "float": module.Float64,
        "integer": module.Int64,
        "integers": module.List(module.Int64),
    }
    converted: polars.DataFrame = module.DataFrame(
        {name: values for name, (_, values) in columns.items()},
        schema={name: kinds[kind] for name, (kind, _) in columns.items()},
    )
    return converted


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


class Comparison:
    """Groups of runs that differ only in their seeds, ranked by mean return, with the verdict on their differences."""

    def __init__(self, compared: Mapping[str, Any], judged: Mapping[str, Any]) -> None:
        self.data: dict[str, Any] = dict(compared)
        self.verdict_data: dict[str, Any] = dict(judged)

    @property
    def verdict(self) -> str:
        """The conclusion in sentences: which group is best, why that is undecided, or when a verdict follows."""
        sentences = [f"{pair['text']} {pair.get('warning', '')}".strip() for pair in self.verdict_data["pairs"]]
        return "\n".join(sentences) or str(self.verdict_data["message"])

    @property
    def quantity(self) -> str:
        """Sentence about the compared quantity."""
        return str(self.verdict_data["quantity"])

    @property
    def is_significant(self) -> bool:
        """True if the best group differs from every other group."""
        pairs = self.verdict_data["pairs"]
        return bool(pairs) and all(pair["significant"] for pair in pairs)

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each group, the best first: group, runs, n, failed, mean, low, high, no_interval."""
        return [
            {
                "group": standing["name"],
                "runs": standing["run_ids"],
                "n": standing["n"],
                "failed": standing["failed"],
                **{part: parse_number((standing["mean"] or {}).get(key)) for part, key in _ESTIMATE},
                "no_interval": standing.get("no_interval", ""),
            }
            for standing in self.verdict_data["standings"]
        ]

    @property
    def differences(self) -> dict[str, dict[int, Any]]:
        """Settings that differ, each with its value by run."""
        return {
            each["field"]: {int(run_id): value for run_id, value in each["values"].items()}
            for each in self.data["differences"]
            if not each["same"]
        }

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table of groups."""
        return to_pandas(self._columns(), "Comparison.to_pandas")

    def to_polars(self) -> polars.DataFrame:
        """Return the table of groups."""
        return to_polars(self._columns(), "Comparison.to_polars")

    def _columns(self) -> Columns:
        return {name: (kind, [row[name] for row in self.table]) for name, kind in _COLUMNS.items()}

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.table)} groups: {self.verdict}>"

    def _repr_html_(self) -> str:
        """Return the table and the verdict for a notebook."""
        columns = ("group", "n", "failed", "mean", "low", "high", "no_interval")
        head = "".join(f"<th>{column}</th>" for column in columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{_cell(row[column])}</td>' for column in columns)}</tr>" for row in self.table
        )
        verdict = "<br>".join(html.escape(sentence) for sentence in self.verdict.splitlines())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{verdict}</p>"


_COLUMNS: dict[str, Kind] = {
    "group": "text",
    "runs": "integers",
    "n": "integer",
    "failed": "integer",
    "mean": "float",
    "low": "float",
    "high": "float",
    "no_interval": "text",
}
_ESTIMATE = (("mean", "value"), ("low", "low"), ("high", "high"))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))
