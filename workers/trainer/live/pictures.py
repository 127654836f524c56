"""Pictures as they are sent."""

import io

from PIL import Image

from workers.trainer.games.video import Frame

# Fast, and small where a picture has few colours.
PNG_LEVEL = 1


def png(picture: Frame) -> bytes:
    """Return a picture as a file that every browser shows, without loss."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", compress_level=PNG_LEVEL)
    return file.getvalue()
