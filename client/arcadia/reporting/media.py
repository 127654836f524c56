"""Media that a script logs: images, videos, histograms and tables."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arcadia.errors import ArcadiaError
from arcadia.reporting.pixels import read_frames, read_image, to_array
from arcadia.reporting.png import encode_png
from arcadia.reporting.values import storable
from arcadia.reporting.video_files import encode_video

# A file is recognized by its first bytes, as on the server.
_PNG, _JPEG, _GIF = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8"
IMAGE_FORMATS = "PNG, JPEG, GIF or WebP"
VIDEO_FORMATS = "MP4, WebM, GIF or animated WebP"
MAX_BINS = 512
MAX_COLUMNS, MAX_CELLS = 50, 10_000


class Media:
    """A value that is logged like a metric, and shown at its step."""

    kind = ""

    def __init__(self, caption: str | None = None) -> None:
        self.caption = caption

    def content(self) -> bytes | None:
        """Return the file, if the media is one."""
        return None

    def data(self) -> dict[str, Any] | None:
        """Return the data of the event, if the media is not a file."""
        return None


class Image(Media):
    """An image: a path, an array, a Pillow image, a matplotlib figure, or the bytes of a file.

    An array is (height, width) or (height, width, channels), with 0 to 255, or with 0.0 to 1.0.
    """

    kind = "image"

    def __init__(self, image: Any, caption: str | None = None) -> None:
        super().__init__(caption)
        self._content = _read_image(image)

    def content(self) -> bytes:
        """Return the file."""
        return self._content


class Video(Media):
    """A video: a path, the bytes of a file, or an array (time, height, width, channels) with its frames per second."""

    kind = "video"

    def __init__(self, video: Any, fps: float | None = None, caption: str | None = None) -> None:
        super().__init__(caption)
        if isinstance(video, str | os.PathLike | bytes):
            self._content = video if isinstance(video, bytes) else Path(video).read_bytes()
            if not _is_video(self._content):
                raise ArcadiaError(f"{_describe(video)} is not a video that browsers play. Use {VIDEO_FORMATS}.")
        else:
            if fps is None or not 0 < fps <= 1_000:
                raise ArcadiaError("A video of an array needs its frames per second: arcadia.Video(frames, fps=30).")
            self._content = encode_video(read_frames(video), fps)

    def content(self) -> bytes:
        """Return the file."""
        return self._content


class Histogram(Media):
    """A histogram of values, or of counts between edges. Values that are not finite are left out."""

    kind = "histogram"

    def __init__(
        self,
        values: Any = None,
        bins: int = 64,
        *,
        edges: Sequence[float] | None = None,
        counts: Sequence[float] | None = None,
        caption: str | None = None,
    ) -> None:
        super().__init__(caption)
        if (edges is None) != (counts is None) or (values is None) == (edges is None):
            raise ArcadiaError("A histogram takes values, or edges and counts: arcadia.Histogram(edges=…, counts=…).")
        if not 1 <= bins <= MAX_BINS:
            raise ArcadiaError(f"A histogram has 1 to {MAX_BINS} bins, not {bins}.")
        if edges is not None and counts is not None:
            self._edges, self._counts = [float(each) for each in edges], [float(each) for each in counts]
            if not 1 <= len(self._counts) == len(self._edges) - 1 <= MAX_BINS:
                raise ArcadiaError(f"A histogram has one edge more than counts, and at most {MAX_BINS} counts.")
        else:
            self._edges, self._counts = _count(values, bins)

    def data(self) -> dict[str, Any]:
        """Return the edges and the counts."""
        return {"edges": self._edges, "counts": self._counts}


class Table(Media):
    """A table: names of columns, and rows of numbers and texts. A pandas or polars table needs no rows."""

    kind = "table"

    def __init__(self, columns: Any, rows: Iterable[Sequence[Any]] | None = None, caption: str | None = None) -> None:
        super().__init__(caption)
        if rows is None:
            if not hasattr(columns, "columns"):
                raise ArcadiaError("A table takes columns and rows: arcadia.Table(['step', 'loss'], [[1, 0.5]]).")
            frame, columns = columns, list(columns.columns)
            rows = frame.values.tolist() if hasattr(frame, "values") else frame.rows()
        self._columns = [str(column) for column in columns]
        self._rows = [[_cell(value) for value in row] for row in rows]
        if any(len(row) != len(self._columns) for row in self._rows):
            raise ArcadiaError(f"Each row needs {len(self._columns)} values, one per column.")
        if len(self._columns) > MAX_COLUMNS or len(self._rows) * len(self._columns) > MAX_CELLS:
            raise ArcadiaError(f"A table has at most {MAX_COLUMNS} columns and {MAX_CELLS:,} cells. Log a part of it.")

    def data(self) -> dict[str, Any]:
        """Return the columns and the rows."""
        return {"columns": self._columns, "rows": self._rows}


def _read_image(image: Any) -> bytes:
    if isinstance(image, str | os.PathLike | bytes):
        content = image if isinstance(image, bytes) else Path(image).read_bytes()
        if not content.startswith((_PNG, _JPEG, _GIF)) and not _is_webp(content):
            raise ArcadiaError(f"{_describe(image)} is not an image that browsers show. Use {IMAGE_FORMATS}.")
        return content
    file = io.BytesIO()
    if hasattr(image, "savefig"):
        image.savefig(file, format="png")
        return file.getvalue()
    if hasattr(image, "get_figure"):  # the axes of a figure
        return _read_image(image.get_figure())
    if hasattr(image, "save") and hasattr(image, "getbands"):
        image.save(file, format="PNG")
        return file.getvalue()
    pixels = read_image(image)
    return encode_png(pixels.data, pixels.width, pixels.height, pixels.channels)


def _is_webp(content: bytes) -> bool:
    return content[:4] == b"RIFF" and content[8:12] == b"WEBP"


def _is_video(content: bytes) -> bool:
    is_mp4, is_webm = content[4:8] == b"ftyp", content.startswith(b"\x1a\x45\xdf\xa3")
    return is_mp4 or is_webm or content.startswith(_GIF) or _is_webp(content)


def _describe(given: object) -> str:
    return "The file" if isinstance(given, bytes) else str(given)


def _count(values: Any, bins: int) -> tuple[list[float], list[float]]:
    """Count values in bins of equal width, with NumPy where the values have it."""
    if hasattr(values, "__array__"):
        import numpy as np

        flat = to_array(values).astype(float).ravel()
        counts, edges = np.histogram(flat[np.isfinite(flat)], bins)
        return edges.tolist(), counts.astype(float).tolist()
    finite = [number for number in map(float, values) if math.isfinite(number)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    width = (high - low) / bins
    numbers = [0.0] * bins
    for number in finite:
        numbers[min(bins - 1, int((number - low) / width))] += 1
    return [low + each * width for each in range(bins)] + [high], numbers


def _cell(value: Any) -> Any:
    """Return a cell as JSON: a number, a text, a boolean or null."""
    found = storable(value)
    return str(found) if isinstance(found, Mapping | list) else found
