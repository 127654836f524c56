"""Reasons why a list is empty."""

from __future__ import annotations

from collections.abc import Mapping

from arcadia._sync.client import Client
from arcadia.errors import NotFoundError


def explain_empty(client: Client, noun: str, options: Mapping[str, str]) -> str:
    """Return why no item has the given options, or nothing if none is given. One of them may be the project."""
    project = options.get("project")
    if project:
        names = [each.name for each in client.projects()]
        if project.strip().casefold() not in (name.casefold() for name in names):
            return str(NotFoundError.of_name("project", project, names))
    given = " ".join(f"--{name} {value}" for name, value in options.items() if value)
    return f"There is no {noun} with {given}." if given else ""
