"""Figures of the API by address, for charts in reports.

Readers of a shared report cannot call the API, so the server calls the figure's handler for them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import request_params_to_args
from fastapi.routing import APIRoute
from starlette.datastructures import QueryParams

from backend.comparisons.selection import parse_run_ids
from backend.database.engine import Database, get_database
from backend.errors import FieldError, Invalid, field_errors
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
FIGURE_PATHS = ", ".join(API + route.path for route in ROUTES)


@dataclass(frozen=True)
class FigureIds:
    """Ids in the address of a figure, as far as it has them."""

    runs: Sequence[int] = ()
    study: int | None = None
    evaluation: int | None = None


def is_figure(address: str) -> bool:
    """Return True if the API has a figure at this address."""
    return _match(address) is not None


def draw_figure(db: Database, address: str) -> Figure:
    """Return the figure at an address. Raise the same problem as the API if it cannot be drawn."""
    match = _match(address)
    if match is None:
        raise Invalid(FieldError(field="address", message=f"there is no figure at {address}"))
    route, path = match
    arguments = _parse_arguments(route.dependant, db, path, QueryParams(urlsplit(address).query))
    figure: Figure = route.endpoint(**arguments)
    return figure


def run_ids_in(address: str) -> list[int]:
    """Return the runs in a figure's address, or none if it has no valid list of runs."""
    try:
        return parse_run_ids(dict(parse_qsl(urlsplit(address).query)).get("runs", ""))
    except Invalid:
        return []


def replace_runs(address: str, runs: Sequence[int]) -> str:
    """Return the address of the same figure with other runs."""
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query, keep_blank_values=True)) | {"runs": ",".join(map(str, runs))}
    return parts._replace(query=urlencode(query, safe=",")).geturl()


def ids_in(address: str) -> FigureIds:
    """Return the ids in a figure's address. Leave out malformed ones."""
    match = _match(address)
    study = match[1].get("study_id") if match else None
    evaluation = dict(parse_qsl(urlsplit(address).query)).get("evaluation")
    return FigureIds(run_ids_in(address), _parse_id(study), _parse_id(evaluation))


def replace_ids(address: str, ids: FigureIds) -> str:
    """Return the address of the same figure with other ids."""
    if ids.runs:
        address = replace_runs(address, ids.runs)
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if ids.evaluation is not None:
        parts = parts._replace(query=urlencode(query | {"evaluation": ids.evaluation}, safe=","))
    if ids.study is not None:
        parts = parts._replace(path=re.sub("/studies/[^/]+/", f"/studies/{ids.study}/", parts.path, count=1))
    return parts.geturl()


def _parse_id(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,16}", text) else None


def _match(address: str) -> tuple[APIRoute, Mapping[str, str]] | None:
    """Return the route at an address, with the parameters in its path."""
    path = unquote(urlsplit(address).path).removeprefix(API)
    matches = ((route, route.path_regex.match(path)) for route in ROUTES)
    return next(((route, match.groupdict()) for route, match in matches if match), None)


def _parse_arguments(dependant: Dependant, db: Database, path: Mapping[str, str], query: QueryParams) -> dict[str, Any]:
    """Return the arguments of a handler, validated by FastAPI as in a request. Raise Invalid if some are wrong."""
    arguments, errors = request_params_to_args(dependant.path_params, path)
    found, wrong = request_params_to_args(dependant.query_params, query)
    arguments |= found
    errors += wrong
    for dependency in dependant.dependencies:
        if dependency.call is get_database:
            arguments[str(dependency.name)] = db
            continue
        found, wrong = request_params_to_args(dependency.query_params, query)
        errors += wrong
        if not errors and dependency.call is not None:
            arguments[str(dependency.name)] = dependency.call(**found)
    if errors:
        raise Invalid(*field_errors(errors))
    return arguments
