"""Route class that accepts request bodies compressed with gzip."""

import zlib
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from backend.config import Settings
from backend.errors import FieldError, Invalid
from backend.files.storage import TooLarge

_GZIP = 16 + zlib.MAX_WBITS


class GzipRoute(APIRoute):
    """A route whose request bodies may have the header `Content-Encoding: gzip`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of the route, which gets the decompressed body."""
        handle = super().get_route_handler()

        async def handle_decompressed(request: Request) -> Response:
            if request.headers.get("content-encoding", "").lower() == "gzip":
                settings: Settings = request.app.state.settings
                body = await run_in_threadpool(decompress, await request.body(), settings.max_body_bytes)
                request = _DecompressedRequest(request, body)
            return await handle(request)

        return handle_decompressed


class _DecompressedRequest(Request):
    """A request with another body."""

    def __init__(self, request: Request, body: bytes) -> None:
        super().__init__(request.scope, request.receive)
        self._body = body


def decompress(body: bytes, limit: int) -> bytes:
    """Return a gzip body decompressed. Raise TooLarge beyond the limit, and Invalid if it is damaged."""
    stream = zlib.decompressobj(_GZIP)
    try:
        content = stream.decompress(body, limit + 1)
    except zlib.error:
        raise Invalid(FieldError(field="body", message="not gzip, although Content-Encoding says so")) from None
    if len(content) > limit:
        raise TooLarge(f"The decompressed body is larger than the {limit:,} bytes allowed. Send fewer events.")
    if not stream.eof:
        raise Invalid(FieldError(field="body", message="the gzip stream is cut off"))
    return content
