"""Response compression. Event streams and stored files are not compressed."""

from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.types import ASGIApp

# Higher levels cost a live figure more time on the server than they save on the network.
COMPRESSION_LEVEL = 4
# Checkpoints do not shrink, and compressed downloads have no Content-Length to show progress with.
UNCOMPRESSED_TYPES = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/octet-stream")


class Compression(GZipMiddleware):
    """Middleware that compresses responses for clients that accept it."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            app, minimum_size=1_000, compresslevel=COMPRESSION_LEVEL, exclude_content_types=UNCOMPRESSED_TYPES
        )
