"""Serving of the built frontend, or of a page that says how to build it."""

import logging
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

# An installed wheel contains the pages. In the repository they are in frontend/dist.
_BUNDLED = Path(__file__).parents[1] / "pages"
DIST = _BUNDLED if _BUNDLED.is_dir() else Path(__file__).parents[2] / "frontend" / "dist"
# File names below this path contain a hash of the content.
HASHED_FILES = "/assets/"

_NOT_BUILT = """<!doctype html><html lang="en"><title>Arcadia</title>
<h1>Arcadia is running, but its frontend is not built</h1>
<p>Run <code>make setup</code> in the project folder, then restart Arcadia.
A wheel contains the frontend if <code>make wheel</code> built it.
The API is available at <code>/api/v1</code>.</p>
</html>"""


def serve_frontend(app: FastAPI, dist: Path = DIST) -> None:
    """Serve the frontend for every path without a route. The page reads the path itself."""
    if (dist / "index.html").is_file():
        app.frontend("/", directory=dist, fallback="index.html")
        app.add_middleware(CacheHeaders)
        return

    log.warning("The frontend is not built. Run make setup in the project folder.")

    @app.get("/{path:path}", include_in_schema=False)
    def not_built(path: str) -> HTMLResponse:  # noqa: ARG001 - part of the route
        return HTMLResponse(_NOT_BUILT, status_code=503)


class CacheHeaders:
    """Middleware that sets Cache-Control: hashed files are immutable, and the page must be revalidated."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the header to successful responses."""
        if scope["type"] != "http" or scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        hashed = scope["path"].startswith(HASHED_FILES)

        async def send_with_header(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (200, 206, 304):
                policy = "public, max-age=31536000, immutable" if hashed else "no-cache"
                MutableHeaders(scope=message).setdefault("Cache-Control", policy)
            await send(message)

        await self._app(scope, receive, send_with_header)
