"""Compressed answers: text shrinks to a fifth; streams of events and stored files go out as they are."""

from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.types import ASGIApp

# Beyond this level a live figure costs more time on the server than it saves on the way.
LEVEL = 4
# Checkpoints do not shrink, and a download that tells no length shows no progress.
AS_THEY_ARE = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/octet-stream")


class Compression(GZipMiddleware):
    """Middleware that compresses what a client takes compressed and what becomes smaller by it."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, minimum_size=1_000, compresslevel=LEVEL, exclude_content_types=AS_THEY_ARE)
