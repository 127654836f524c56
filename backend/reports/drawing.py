"""Figures by their addresses, so that one is drawn for a reader who may ask for nothing else."""

from collections.abc import MutableMapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.datastructures import State
from starlette.routing import Match

from backend import errors
from backend.comparisons.selection import parse_run_ids
from backend.figures.routes import router as figures
from backend.figures.schemas import Figure
from backend.games.routes import router as games
from backend.papers.routes import router as papers
from backend.studies.routes import router as studies
from backend.web.security import API

ROUTES = [
    route
    for router in (figures, studies, papers, games)
    for route in router.routes
    if isinstance(route, APIRoute) and route.response_model is Figure
]
FIGURES = ", ".join(API + route.path for route in ROUTES)

Message = MutableMapping[str, Any]


def drawer(state: State) -> FastAPI:
    """An application that answers with figures alone, out of the same database; only our own code can ask it."""
    app = FastAPI(routes=[*ROUTES], openapi_url=None)
    app.state = state
    errors.install(app)
    return app


def is_figure(address: str) -> bool:
    """Whether the API has a figure there."""
    scope = _scope(address)
    return any(route.matches(scope)[0] is Match.FULL for route in ROUTES)


def runs_at(address: str) -> list[int]:
    """The runs that the address of a figure names; none where it does not name runs as figures take them."""
    written = dict(parse_qsl(urlsplit(address).query)).get("runs", "")
    try:
        return parse_run_ids(written)
    except errors.Invalid:
        return []


def with_runs(address: str, runs: Sequence[int]) -> str:
    """The same figure of these runs."""
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query, keep_blank_values=True)) | {"runs": ",".join(map(str, runs))}
    return parts._replace(query=urlencode(query, safe=",")).geturl()


async def draw(app: FastAPI, address: str) -> Figure | str:
    """The figure at an address, or why it cannot be drawn."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(_scope(address), receive, send)
    status = next(each["status"] for each in sent if each["type"] == "http.response.start")
    body = b"".join(each.get("body", b"") for each in sent if each["type"] == "http.response.body")
    if status != 200:
        return errors.ProblemDocument.model_validate_json(body).detail
    return Figure.model_validate_json(body)


def _scope(address: str) -> Message:
    parts = urlsplit(address)
    path = unquote(parts.path).removeprefix(API)
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "replace"),
        "root_path": "",
        "query_string": parts.query.encode(),
        "headers": [],
        "client": None,
        "server": None,
    }
