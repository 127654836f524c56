"""/api/docs: the page; it says nothing of this installation, so it needs no sign-in."""

from collections.abc import Callable
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from backend.reference.page import page_of

PATH = "/api/docs"


def serve_reference(app: FastAPI, describe: Callable[[], dict[str, Any]]) -> None:
    """Answer with the page, which is made when it is first asked for."""

    @cache
    def page() -> str:
        return page_of(describe())

    @app.get(PATH, include_in_schema=False)
    def read_reference() -> HTMLResponse:
        return HTMLResponse(page(), headers={"Cache-Control": "no-cache"})
