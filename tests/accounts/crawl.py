"""Requests to every route of the lab's application, with the ids of one of its projects."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from arcadia_backend.web.doors import list_doors, routes_of
from tests.accounts.lab import Lab, Side

MISSING_ID = 987_654
# Tables whose row a parameter of a path names.
_TABLES = {
    "run_id": "runs", "project_id": "projects", "study_id": "studies", "checkpoint_id": "checkpoints",
    "replay_id": "replays", "evaluation_id": "evaluations", "calibration_id": "calibrations",
    "recording_id": "recordings", "futures_id": "futures", "review_id": "reviews", "kept_id": "kept_games",
    "practice_id": "practices",
    "bulk_id": "bulk_actions", "view_id": "views", "report_id": "reports", "artifact_id": "artifacts",
    "file_id": "files", "job_id": "jobs", "play_id": "live", "live_id": "live", "saving_id": "jobs",
}  # fmt: skip
_OTHERS = {
    "slug": "pong", "paper": "paac", "item": "table-1", "diagram": "x", "version": "1", "panel_key": "x",
    "sha256": "0" * 64, "alias": "best", "kind": "run_failed", "position": "0", "stream": "x", "name": "x.whl",
    "path:path": "x", "path": "x", "token": "x",
}  # fmt: skip
# Queries by the last parts of a path. {x} is the id of a row.
_QUERIES: dict[str, dict[str, str]] = {
    "/run-groups": {"by": "name", "value": "step"},
    "/runs": {"include": "config,notes,study", "metric": "x", "sort": "-best_return"},
    "/sparklines": {"run": "{runs}"},
    "/marks": {"runs": "{runs}"},
    "/compare": {"runs": "{runs}"},
    "/compare/verdict": {"runs": "{runs}"},
    "/compare/thresholds": {"runs": "{runs}"},
    "/archives": {"runs": "{runs}", "studies": "{studies}", "reports": "{reports}"},
    "/artifacts/resolve": {"reference": "x:latest"},
    "/aliases/history": {"name": "{secret} alias_changes.name"},
    "/figures/together": {"runs": "{runs}", "metrics": "x", "shares": "x"},
    "/figures/scatter": {"runs": "{runs}", "x": "step", "y": "step"},
    "/figures/metric-by-metric": {"runs": "{runs}", "x_metric": "x", "y_metric": "x"},
    "/figures/evaluation-scores": {"evaluation": "{evaluations}"},
    "/figures/calibration": {"calibration": "{calibrations}"},
    "/games/{slug}/figure": {"protocol": "episodes"},
    "/artifacts/{artifact_id}/versions/{version}/file": {"path": "{secret} path"},
    "/run-expression": {"expression": "tags:"},
    "/kept-games": {"replay_id": "{replays}"},
}
PAGES = "/**"
# They stay open.
STREAMS = ("/api/v1/events",)


@dataclass(frozen=True)
class Door:
    """A route of the application."""

    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def doors(lab: Lab, *methods: str) -> Iterator[Door]:
    """Yield the routes of the application with these methods, or all."""
    for method, listed in dict.fromkeys(list_doors(routes_of(lab.app))):
        # Without a build, another route answers for the pages.
        path = PAGES if listed == "/{path:path}" else listed
        if not methods or method in methods:
            yield Door(method, path)


def fill(path: str, side: Side | None) -> str:
    """Return a path with the ids of a project, or with ids that do not exist."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if table := _TABLES.get(name):
            return str(side.ids[table] if side else MISSING_ID)
        return _OTHERS.get(name, str(MISSING_ID))

    return re.sub(r"\{([^}]+)\}", value, path.replace("**", ""))


def query(path: str, side: Side | None) -> dict[str, str]:
    """Return the query of a route."""
    short = path.removeprefix("/api/v1")
    wanted = _QUERIES.get(short, {"runs": "{runs}"} if short.startswith("/figures/") else {})
    ids: dict[str, Any] = {name: side.ids[name] if side else MISSING_ID for name in ("runs", "studies", "reports")}
    ids |= {name: side.ids[name] if side else MISSING_ID for name in ("evaluations", "calibrations", "replays")}
    return {name: text.format(**ids, secret=side.secret if side else "nosecret") for name, text in wanted.items()}
