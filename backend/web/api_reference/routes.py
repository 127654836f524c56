"""Routes of the API reference page and its script."""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.params import Depends
from fastapi.responses import FileResponse, HTMLResponse

from backend.web.api_reference.page import SCRIPT, page_of
from backend.web.client_wheels import install_commands, origin_of

PATH = "/api/docs"


def serve_reference(app: FastAPI, describe: Callable[[], dict[str, Any]], dependencies: Sequence[Depends]) -> None:
    """Serve the page. It is built at the first request to each address of the server."""
    document = cache(describe)

    @lru_cache(maxsize=8)
    def page(origin: str) -> str:
        return page_of(document(), install_commands(origin))

    @app.get(PATH, include_in_schema=False, dependencies=dependencies)
    def read_reference(request: Request) -> HTMLResponse:
        return HTMLResponse(page(origin_of(request)), headers={"Cache-Control": "no-cache"})

    @app.get(SCRIPT, include_in_schema=False, dependencies=dependencies)
    def read_script() -> FileResponse:
        return FileResponse(Path(__file__).with_name("copy.js"), headers={"Cache-Control": "no-cache"})
