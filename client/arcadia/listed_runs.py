"""Runs as a list returns them, without empty fields and details."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

# Fields that the server leaves out of a listed run if they are null or empty.
_EMPTY: Mapping[str, Any] = {
    "origin_label": None,
    "queue": None,
    "tags": [],
    "parent": None,
    "started_at": None,
    "finished_at": None,
    "archived_at": None,
    "state_reason": None,
    "failure": None,
    "worker": None,
    "total_steps": None,
    "steps_per_second": None,
    "seconds_left": None,
    "last_return": None,
    "best_return": None,
    "poster_file_id": None,
    "metrics": {},
}


def read_run_page(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the runs of a page. Add the empty fields, and the actions, which runs of a page share."""
    return [_complete(run) | {"actions": page["actions"][run["actions"]]} for run in page["items"]]


def _complete(run: Mapping[str, Any]) -> dict[str, Any]:
    return {**run, **{name: copy(value) for name, value in _EMPTY.items() if name not in run}}
