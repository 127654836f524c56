"""Serves the built pages; before they are built, a page that says how."""

import logging
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

# Part of an installed wheel; in the repository they are beside the packages.
_BUNDLED = Path(__file__).parents[1] / "pages"
DIST = _BUNDLED if _BUNDLED.is_dir() else Path(__file__).parents[2] / "frontend" / "dist"
# The build puts a hash of the content into the name of everything in here.
HASHED = "/assets/"

_NOT_BUILT = """<!doctype html><html lang="en"><title>Arcadia</title>
<h1>Arcadia is running, but its pages are not built</h1>
<p>Run <code>make setup</code> in the project's folder, then start it again.
A wheel has the pages only if they were built before it: <code>make frontend</code>, then <code>pip wheel .</code>.
The API answers at <code>/api/v1</code>.</p>
</html>"""


def serve_frontend(app: FastAPI, dist: Path = DIST) -> None:
    """Answer every path without a route with the application's page, which reads the address itself."""
    if (dist / "index.html").is_file():
        app.frontend("/", directory=dist, fallback="index.html")
        app.add_middleware(Keeping)
        return

    log.warning("The pages are not built. Run make setup in the project's folder.")

    @app.get("/{path:path}", include_in_schema=False)
    def not_built(path: str) -> HTMLResponse:  # noqa: ARG001 - part of the route
        return HTMLResponse(_NOT_BUILT, status_code=503)


class Keeping:
    """Middleware that says which files a browser may keep: hashed ones for ever, the page only while it is the same."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the header to what is found."""
        if scope["type"] != "http" or scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        hashed = scope["path"].startswith(HASHED)

        async def send_with_age(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (200, 206, 304):
                keep = "public, max-age=31536000, immutable" if hashed else "no-cache"
                MutableHeaders(scope=message)["Cache-Control"] = keep
            await send(message)

        await self._app(scope, receive, send_with_age)
