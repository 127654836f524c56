"""Text of numbers and of table cells."""

import statistics
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from arcadia_workers.contract.inference.means import HIGH, UNBOUNDED, Bounds, student_quantile, t_interval
from bench.tables.data import Cell, Lines, Row, Rows

NONE = "–"

Column = str | Callable[[Row], str]


def number(value: Cell) -> float:
    """Return a cell as a number."""
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number.")
    return float(value)


def numbers(rows: Rows, field: str) -> list[float]:
    """Return the numbers of a column without its empty cells."""
    return [number(row[field]) for row in rows if row[field] is not None]


def values(cell: Cell) -> list[float]:
    """Return the numbers of a cell with many values."""
    return [float(each) for each in str(cell).split()]


def signed(text: str) -> str:
    """Replace the hyphen of negative numbers by a minus sign."""
    return text.replace("-", "−") if text[:1] == "-" and text[1:2].isdigit() else text


def show(value: float | None, digits: int = 0, unit: str = "") -> str:
    """Return a number with separators of thousands, or a dash."""
    if value is None:
        return NONE
    # Without the sign of a zero.
    return signed(f"{round(value, digits) + 0.0:,.{digits}f}{unit}")


def mean_interval(scores: Sequence[float], digits: int = 1, bounds: Bounds = UNBOUNDED) -> str:
    """Return a mean with the half width of its 95 % t-interval, or the mean alone if it has none.

    An interval that ends at a bound of the score has its ends instead of the half width.
    """
    if not scores:
        return NONE
    mean = show(statistics.fmean(scores), digits)
    ends = t_interval(scores, bounds)
    if ends is None:
        return mean
    if set(ends) & set(bounds):
        return f"{mean} ({show(ends[0], digits)} to {show(ends[1], digits)})"
    return f"{mean} ± {show((ends[1] - ends[0]) / 2, digits)}"


def with_interval(mean: Cell, error: Cell, count: int, digits: int = 1) -> str:
    """Return the mean of some episodes with half of its 95 % t-interval, from its standard error if that is known.

    Equal scores have no interval.
    """
    if mean is None:
        return NONE
    shown = show(number(mean), digits)
    return f"{shown} ± {show(student_quantile(HIGH, count - 1) * number(error), digits)}" if error else shown


def with_deviation(mean: Cell, deviation: Cell, digits: int = 0) -> str:
    """Return a mean with the standard deviation of what it is over."""
    return f"{show(number(mean), digits)} (SD {show(number(deviation), digits)})"


def percentile(sample: Sequence[float], share: float) -> float:
    """Return a percentile by linear interpolation."""
    return float(np.percentile(sample, 100 * share))


def listing(rows: Rows, columns: Mapping[str, Column]) -> Lines:
    """Return a table with one line per row. A column is a format of fields, such as "{steps:,}", or a function."""
    return [[*columns], *([_fill(column, row) for column in columns.values()] for row in rows)]


def _fill(column: Column, row: Row) -> str:
    if callable(column):
        return column(row)
    field = column.partition("{")[2].partition("}")[0].partition(":")[0]
    return NONE if field and row[field] is None else signed(column.format(**row))


def ratio(above: str, below: str, digits: int = 2) -> Callable[[Row], str]:
    """Return a column with the ratio of two fields."""
    return lambda row: show(number(row[above]) / number(row[below]), digits)


def group(rows: Rows, *fields: str) -> dict[tuple[Cell, ...], Rows]:
    """Return the rows by the values of fields, in their order."""
    found: dict[tuple[Cell, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[field] for field in fields), []).append(row)
    return {**found}
