"""Encoding of the pictures that are sent."""

import io

from PIL import Image

from workers.trainer.games.video import Frame

# Fast, and small for pictures with few colors.
PNG_LEVEL = 1


def png(picture: Frame) -> bytes:
    """Return a picture as PNG."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", compress_level=PNG_LEVEL)
    return file.getvalue()
