"""Media as wandb's scripts create them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arcadia.reporting import media
from arcadia.reporting.pixels import to_array


class Image:
    """An image: a path, an array, a tensor, a Pillow image or a matplotlib figure."""

    def __init__(self, data_or_path: Any, *_unused: Any, caption: str | None = None, **_others: Any) -> None:
        self._media = media.Image(data_or_path, caption)

    def to_arcadia(self) -> media.Media:
        """Return Arcadia's media."""
        return self._media


class Video:
    """A video: a path, or an array with the dimensions (time, channel, height, width)."""

    def __init__(
        self, data_or_path: Any, caption: str | None = None, fps: float | None = None, *_unused: Any, **_others: Any
    ) -> None:
        if hasattr(data_or_path, "detach"):
            data_or_path = to_array(data_or_path)
        if hasattr(data_or_path, "transpose"):
            data_or_path = data_or_path.transpose(0, 2, 3, 1)
        self._media = media.Video(data_or_path, fps or 4, caption)

    def to_arcadia(self) -> media.Media:
        """Return Arcadia's media."""
        return self._media


class Histogram:
    """A histogram of values, or NumPy's counts and edges."""

    def __init__(self, sequence: Any = None, np_histogram: Any = None, num_bins: int = 64) -> None:
        if np_histogram is None:
            self._media = media.Histogram(sequence, min(num_bins, media.MAX_BINS))
        else:
            counts, edges = np_histogram
            self._media = media.Histogram(edges=list(edges), counts=list(counts))

    def to_arcadia(self) -> media.Media:
        """Return Arcadia's media."""
        return self._media


class Table:
    """A table, to which rows are added until it is logged."""

    def __init__(
        self, columns: Sequence[Any] | None = None, data: Any = None, rows: Any = None, dataframe: Any = None, **_o: Any
    ) -> None:
        if dataframe is not None:
            columns, data = list(dataframe.columns), dataframe.values.tolist()
        self.data: list[Any] = [list(row) for row in (data if data is not None else rows or [])]
        self.columns = list(columns or ["Input", "Output", "Expected"])

    def add_data(self, *row: Any) -> None:
        """Add a row."""
        self.data.append(list(row))

    def add_column(self, name: str, data: Sequence[Any], *_unused: Any) -> None:
        """Add a column."""
        self.columns.append(name)
        for number, value in enumerate(data):
            if number == len(self.data):
                self.data.append([])
            self.data[number].append(value)

    def to_arcadia(self) -> media.Media:
        """Return Arcadia's media, with its first rows if there are too many."""
        rows = [[_cell(value) for value in row] for row in self.data]
        return media.Table(self.columns, rows[: media.MAX_CELLS // max(1, len(self.columns))])


def to_arcadia(value: Any) -> Any:
    """Return a logged value as Arcadia logs it."""
    if hasattr(value, "to_arcadia"):
        return value.to_arcadia()
    if isinstance(value, list | tuple) and value and all(hasattr(each, "to_arcadia") for each in value):
        return [each.to_arcadia() for each in value]
    if hasattr(value, "savefig"):
        return media.Image(value)
    return value


def _cell(value: Any) -> Any:
    return f"<{type(value).__name__}>" if hasattr(value, "to_arcadia") else value
