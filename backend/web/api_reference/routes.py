"""Route of the API reference page."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.params import Depends
from fastapi.responses import HTMLResponse

from backend.web.api_reference.page import page_of

PATH = "/api/docs"


def serve_reference(app: FastAPI, describe: Callable[[], dict[str, Any]], dependencies: Sequence[Depends]) -> None:
    """Serve the page. It is built at the first request."""

    @cache
    def page() -> str:
        return page_of(describe())

    @app.get(PATH, include_in_schema=False, dependencies=dependencies)
    def read_reference() -> HTMLResponse:
        return HTMLResponse(page(), headers={"Cache-Control": "no-cache"})
