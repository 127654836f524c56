"""Shell completion with names from the server. It is quick, and offers nothing if the server does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import typer

from arcadia._sync.transport import API
from arcadia.cli.connection import resolve_connection
from arcadia.errors import ArcadiaError

TIMEOUT_SECONDS = 0.7
MAX_CHOICES = 50

Choices = Iterator[tuple[str, str]]


def complete_run(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the newest runs: @last, numbers and names."""
    page = _fetch(ctx, "/runs", limit=MAX_CHOICES)
    runs = page["items"] if page else []
    if runs and "@last".startswith(incomplete):
        yield "@last", f"{runs[0]['name']} ({runs[0]['state']})"
    by_name = incomplete and not incomplete.isdecimal()
    for run in runs:
        reference = str(run["name"] if by_name else run["id"])
        if reference.startswith(incomplete):
            yield reference, f"{run['id'] if by_name else run['name']} ({run['state']})"


def complete_study(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the newest studies."""
    page = _fetch(ctx, "/studies", limit=MAX_CHOICES)
    for study in page["items"] if page else []:
        if str(study["id"]).startswith(incomplete):
            yield str(study["id"]), f"{study['name']} ({study['state']})"


def complete_project(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the projects."""
    for project in _fetch(ctx, "/projects") or []:
        if project["name"].casefold().startswith(incomplete.casefold()):
            yield project["name"], f"{project['runs']} runs"


def complete_view(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the saved views of the runs page."""
    for view in _fetch(ctx, "/views") or []:
        if view["name"].casefold().startswith(incomplete.casefold()):
            yield view["name"], view["project"]


def complete_preset(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the presets."""
    for preset in _fetch(ctx, "/presets") or []:
        if preset["name"].startswith(incomplete):
            yield preset["name"], preset["title"]


def complete_game_list(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the lists of games."""
    for games in _fetch(ctx, "/suites") or []:
        if games["name"].startswith(incomplete):
            yield games["name"], games["title"]


def complete_field(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the fields of a configuration, each with an equals sign."""
    for field, _help in complete_setting(ctx, incomplete):
        yield f"{field}=", ""


def complete_setting(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the fields of a configuration."""
    fields: dict[str, None] = {}
    for preset in _fetch(ctx, "/presets") or []:
        fields |= dict.fromkeys(preset["config"])
    for field in fields:
        if field.startswith(incomplete):
            yield field, ""


def complete_metric(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the metrics that any run has reported."""
    for name in _fetch(ctx, "/metric-names") or []:
        if name.startswith(incomplete):
            yield name, ""


def complete_figure(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the figures that the server draws."""
    for figure in _fetch(ctx, "/figures") or []:
        if figure["name"].startswith(incomplete):
            yield figure["name"], figure["title"]


def _fetch(ctx: typer.Context, path: str, **params: Any) -> Any:
    """Return a response of the API, or None. An error message would disturb the line that is typed."""
    try:
        url, token = resolve_connection(ctx)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        response = httpx.get(f"{url}{API}{path}", params=params, headers=headers, timeout=TIMEOUT_SECONDS)
        return response.raise_for_status().json()
    except (ArcadiaError, httpx.HTTPError, ValueError):
        return None
