"""Serves the built pages; before they are built, a page that says how."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

DIST = Path(__file__).parent.parent / "frontend" / "dist"

_NOT_BUILT = """<!doctype html><html lang="en"><title>Arcadia</title>
<h1>Arcadia is running, but its pages are not built</h1>
<p>Run <code>make setup</code> in the project's folder, then start it again.
The API answers at <code>/api/v1</code>.</p>
</html>"""


def serve_frontend(app: FastAPI, dist: Path = DIST) -> None:
    """Every path that no route answers shows the application's page, which finds its way by the address."""
    if (dist / "index.html").is_file():
        app.frontend("/", directory=dist, fallback="index.html")
        return

    @app.get("/{path:path}", include_in_schema=False)
    def not_built(path: str) -> HTMLResponse:  # noqa: ARG001 - part of the route
        return HTMLResponse(_NOT_BUILT, status_code=503)
