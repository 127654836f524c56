"""Pixels of arrays: of NumPy, torch, JAX, or nested lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arcadia.errors import ArcadiaError
from arcadia.optional import import_optional

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
