"""Encoders of videos. They use PyAV, or Pillow if PyAV is not installed."""

from __future__ import annotations

import io
import tempfile
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arcadia.errors import MissingPackageError
from arcadia.optional import import_optional
from arcadia.reporting.pixels import Pixels

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
