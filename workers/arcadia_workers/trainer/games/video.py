"""Writers of frames: H.264 in mp4, which every browser can play and seek, and PNG."""

import struct
import zlib
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

import av
import numpy as np
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc, Interpolation
from numpy.typing import NDArray

from arcadia_workers.trainer.run import durable_files

Frame = NDArray[np.uint8]

KEYFRAME_SECONDS = 2
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class VideoWriter:
    """Encoder of RGB frames with each pixel enlarged to scale × scale. The file appears only when complete."""

    def __init__(self, path: Path, frames_per_second: int, scale: int) -> None:
        self.path = path
        self.frames = 0
        self.frames_per_second = frames_per_second
        self._scale = scale
        path.parent.mkdir(parents=True, exist_ok=True)
        self._unfinished = durable_files.temporary(path)
        self._container = av.open(str(self._unfinished), "w", format="mp4", options={"movflags": "+faststart"})
        self._stream = self._container.add_stream(
            "libx264", rate=frames_per_second, options={"preset": "veryfast", "crf": "18"}
        )
        context = self._stream.codec_context
        context.pix_fmt = "yuv420p"
        context.thread_count = 1
        context.gop_size = KEYFRAME_SECONDS * frames_per_second
        # Without a tag, video players guess the color space from the size, wrongly.
        context.colorspace = Colorspace.ITU709
        context.color_range = ColorRange.MPEG
        context.color_primaries = ColorPrimaries.BT709
        context.color_trc = ColorTrc.BT709

    @property
    def seconds(self) -> float:
        """The length of the video so far."""
        return self.frames / self.frames_per_second

    def add(self, frame: Frame) -> None:
        """Encode one frame."""
        # H.264 halves the color planes, so the sides must be even.
        height, width = (side * self._scale // 2 * 2 for side in frame.shape[:2])
        if self.frames == 0:
            self._stream.width, self._stream.height = width, height
        picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24").reformat(
            width=width,
            height=height,
            format="yuv420p",
            dst_colorspace=Colorspace.ITU709,
            dst_color_range=ColorRange.MPEG,
            # Point interpolation keeps every pixel a crisp square.
            interpolation=Interpolation.POINT if self._scale > 1 else Interpolation.AREA,
        )
        picture.pts = self.frames
        self._container.mux(self._stream.encode(picture))
        self.frames += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._container.mux(self._stream.encode(None))
            self._container.close()
            if error is None:
                durable_files.publish(self._unfinished, self.path)
        finally:
            self._unfinished.unlink(missing_ok=True)


def drop(_frame: Frame) -> None:
    """Drop a frame that nobody watches."""


def write_png(path: Path, frame: Frame, scale: int) -> None:
    """Write one frame as PNG."""
    pixels = frame.repeat(scale, axis=0).repeat(scale, axis=1)
    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)  # 0: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits, RGB
    content = PNG_SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 9)) + _chunk(b"IEND", b"")
    durable_files.write(path, content)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


Screen = NDArray[np.uint8]
Rows = NDArray[np.float32]

SIDE = 84


def shrunk(screen: Screen) -> Screen:
    """Resize a screen, first horizontally, then vertically."""
    across = _shortened(screen.T.astype(np.float32, order="C")).T
    seen: Screen = np.rint(_shortened(across)).astype(np.uint8)
    return seen


def _shortened(rows: Rows) -> Rows:
    """Average the rows that map to each of SIDE rows. The order of the sums decides how halves are rounded."""
    (row, share), *others = _taps(len(rows))
    sums: Rows = rows[row] * share
    for row, share in others:
        sums += rows[row] * share
    return sums


@cache
def _taps(rows: int) -> tuple[tuple[NDArray[np.int64], Rows], ...]:
    """Return for each tap the row that contributes to each of SIDE rows, with its share of the area."""
    size = rows / SIDE
    first = np.floor(np.arange(SIDE) * size + 1e-9).astype(np.int64)
    under = first + np.arange(int(np.ceil(size)) + 1)[:, None]
    begin, end = np.arange(SIDE) * size, (np.arange(SIDE) + 1) * size
    shares = (np.minimum(under + 1, end) - np.maximum(under, begin)) / size
    shares = np.where(shares > 1e-6, shares, 0).astype(np.float32)
    under = np.minimum(under, rows - 1)
    return tuple((row, share[:, None]) for row, share in zip(under, shares, strict=True) if share.any())
