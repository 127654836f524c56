"""Media that a script logs: images, videos, histograms and tables."""

from __future__ import annotations

import io
import math
import os
import struct
import tempfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arcadia.errors import ArcadiaError, MissingPackageError
from arcadia.reporting.values import storable
from arcadia.tables import import_optional

CHANNELS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Pixels:
    """Frames with 8 bits per channel, in one block."""

    data: bytes
    frames: int
    height: int
    width: int
    channels: int


def read_image(value: Any) -> Pixels:
    """Return the pixels of one image: height × width, with channels last or first."""
    array = to_array(value)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3:
        raise ArcadiaError(f"An image has the shape (height, width) or (height, width, channels), not {array.shape}.")
    return _to_pixels(_channels_last(array)[None], "image")


def read_frames(value: Any) -> Pixels:
    """Return the pixels of a video: time × height × width, with channels last or first."""
    array = to_array(value)
    if array.ndim == 3:
        array = array[:, :, :, None]
    if array.ndim != 4 or not len(array):
        raise ArcadiaError(f"A video has the shape (time, height, width, channels), not {array.shape}.")
    return _to_pixels(_channels_last(array), "video")


def to_array(value: Any) -> Any:
    """Return a NumPy array. The value may also be a tensor on a GPU or in a graph."""
    numpy = import_optional("numpy", "An image, a video or a histogram of an array")
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.numpy() if str(value.dtype) != "torch.bfloat16" else value.float().numpy()
    try:
        return numpy.asarray(value)
    except ValueError as error:
        raise ArcadiaError(f"The rows of an image must have the same length ({error}).") from None


def _channels_last(array: Any) -> Any:
    """Move the channels to the end. The last three dimensions are those of one image."""
    if array.shape[-1] not in CHANNELS and array.shape[-3] in CHANNELS:
        numpy = import_optional("numpy", "An image of an array")
        return numpy.moveaxis(array, -3, -1)
    return array


def _to_pixels(array: Any, noun: str) -> Pixels:
    """Return 8-bit pixels. Booleans and floats are 0 to 1; floats beyond 1 are 0 to 255."""
    numpy = import_optional("numpy", f"A {noun} of an array")
    frames, height, width, channels = array.shape
    if channels not in CHANNELS or not height or not width:
        raise ArcadiaError(f"A {noun} has 1 to 4 channels and at least one pixel, not the shape {array.shape}.")
    if array.dtype == bool:
        array = array * numpy.uint8(255)
    elif array.dtype.kind == "f":
        array = numpy.nan_to_num(array, nan=0.0, posinf=255.0, neginf=0.0)
        array = (array * 255.0 if array.max() <= 1.0 else array).clip(0, 255).round()
    elif array.dtype.kind in "iu":
        array = array.clip(0, 255)
    else:
        raise ArcadiaError(f"A {noun} has numbers as pixels, not {array.dtype}.")
    data = numpy.ascontiguousarray(array.astype(numpy.uint8)).tobytes()
    return Pixels(data, frames, height, width, channels)


# Fast, because the script waits for it.
COMPRESSION_LEVEL = 2
_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def encode_png(pixels: bytes, width: int, height: int, channels: int) -> bytes:
    """Return a PNG file of 8-bit pixels in rows: gray, gray with alpha, RGB or RGBA."""
    stride = width * channels
    view = memoryview(pixels)
    # Each row begins with the number of its filter: 0 is none.
    rows = b"".join(b"\0" + view[start : start + stride] for start in range(0, height * stride, stride))
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, COMPRESSION_LEVEL)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


CODEC = "libx264"


def encode_video(pixels: Pixels, fps: float) -> bytes:
    """Return the frames as MP4, or as an animated WebP or GIF if only Pillow is installed."""
    if find_spec("av"):
        return _encode_mp4(pixels, fps)
    if find_spec("PIL"):
        return _encode_animation(pixels, fps)
    raise MissingPackageError(
        "A video of an array needs the package av (MP4) or pillow (animated WebP). Install one: pip install av. "
        "A video file needs neither: arcadia.Video(path)."
    )


def _encode_mp4(pixels: Pixels, fps: float) -> bytes:
    av: Any = import_optional("av", "An MP4 of an array")
    numpy = import_optional("numpy", "An MP4 of an array")
    shape = (pixels.frames, pixels.height, pixels.width, pixels.channels)
    frames = numpy.frombuffer(pixels.data, numpy.uint8).reshape(shape)
    frames = frames[..., :3] if pixels.channels >= 3 else numpy.repeat(frames[..., :1], 3, axis=-1)
    # The codec halves the resolution of colors, so both sides must be even.
    frames = numpy.pad(frames, ((0, 0), (0, pixels.height % 2), (0, pixels.width % 2), (0, 0)), mode="edge")
    frames = numpy.ascontiguousarray(frames)
    # Browsers start sooner if the index is at the front. To move it there, the encoder reads the file again.
    with tempfile.NamedTemporaryFile(suffix=".mp4") as file:
        _write_mp4(av, file.name, frames, fps)
        return Path(file.name).read_bytes()


def _write_mp4(av: Any, path: str, frames: Any, fps: float) -> None:
    with av.open(path, "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream(CODEC, rate=Fraction(fps).limit_denominator(1_000))
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuv420p"
        stream.options = {"crf": "20", "preset": "veryfast"}
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())


def _encode_animation(pixels: Pixels, fps: float) -> bytes:
    image: Any = import_optional("PIL.Image", "An animation of an array", "pillow")
    features: Any = import_optional("PIL.features", "An animation of an array", "pillow")
    mode = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[pixels.channels]
    size = pixels.height * pixels.width * pixels.channels
    first, *others = (
        image.frombytes(mode, (pixels.width, pixels.height), pixels.data[start : start + size])
        for start in range(0, pixels.frames * size, size)
    )
    kind = {"format": "WEBP", "quality": 90} if features.check("webp") else {"format": "GIF"}
    file = io.BytesIO()
    first.save(file, save_all=True, append_images=others, duration=round(1_000 / fps), loop=0, **kind)
    return file.getvalue()


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
    stored = storable(value)
    return str(stored) if isinstance(stored, Mapping | list) else stored
