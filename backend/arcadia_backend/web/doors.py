"""The doors: one right for each route, socket, page and mounted part. Everything else is closed.

tests/accounts/doors.csv lists who gets through each door.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Any

from fastapi import FastAPI
from starlette.routing import BaseRoute

from arcadia_backend.config import API
from arcadia_backend.database.rights import MissingRight
from arcadia_backend.database.scope import Role, Scope
from arcadia_workers.contract.jobs import JOB_KINDS


class Right(StrEnum):
    """The right that a route requires. Queries then return only the rows that the caller may see."""

    # No sign-in: the sign-in itself, the program of the pages, and shared reports, whose link is the right.
    PUBLIC = "public"
    # Any person or token.
    SIGNED_IN = "signed in"
    # A person in a browser, for their own account.
    OWN = "own account"
    # As OWN, by a person who has signed in within the last minutes. It changes a credential.
    OWN_FRESH = "own account, fresh"
    # A person, or a token with the scope write, to end own sessions and tokens. It only takes access away.
    REVOKE = "revoke"
    READ = "read"
    # As READ, of a person with a role in any project, for what belongs to no project.
    MEMBER = "member"
    # The role of an editor in the project of the object.
    WRITE = "write"
    # As WRITE, for scripts that log runs.
    LOG = "log"
    WORKER = "worker"
    # Administration of the project in the path.
    PROJECT = "project administration"
    # As PROJECT, by a person who has signed in within the last minutes.
    PROJECT_FRESH = "project administration, fresh"
    INSTALLATION = "installation administration"
    # As INSTALLATION, to read.
    INSTALLATION_READ = "installation administration, read"
    # As INSTALLATION, by a person who has signed in within the last minutes. It changes who may do what, or commands.
    INSTALLATION_FRESH = "installation administration, fresh"


# The first line that fits decides. `*` is one part of a path, and `**` is any number of parts.
_DOORS = """
public          GET POST DELETE     /session/**
signed-in       GET                 /account
own-fresh       POST                /account/password
own-fresh       POST                /account/device/confirm
own             ANY                 /account/**
read            GET                 /sessions
revoke          DELETE              /sessions/*
own             ANY                 /sessions/**
read            GET                 /tokens
revoke          DELETE              /tokens/**
own-fresh       POST                /tokens
admin-fresh     POST                /host-codes
admin-read      GET                 /people/**
installation    DELETE              /people/*/sessions
installation    DELETE              /people/*/tokens
admin-fresh     ANY                 /people/**
admin-read      GET                 /groups/**
admin-fresh     ANY                 /groups/**
read            GET                 /audit/**
public          GET                 /health
public          GET                 /figures
public          GET                 /shared/**
worker          ANY                 /worker/**
log             ANY                 /reported/**

read            POST                /runs/preview
read            GET                 /runs/**
write           ANY                 /runs/**
read            GET                 /run-failures
read            GET                 /run-groups
read            GET                 /run-settings
read            GET                 /run-facets
read            GET                 /run-expression
read            GET                 /run-actions
read            GET                 /bulk-actions/**
write           POST                /bulk-actions/**
read            GET                 /export/**

read            GET                 /projects/**
installation    POST                /projects
write           POST                /projects/*/items
write           PUT                 /projects/*/board
project-fresh   POST                /projects/*/invitations
project         ANY                 /projects/**
read            GET                 /usage
read            GET                 /caps
installation    PUT                 /caps/**
read            GET                 /views/**
write           ANY                 /views/**

read            GET                 /sparklines
read            GET                 /metric-catalog
read            GET                 /metric-names
read            GET                 /marks
read            GET                 /anomaly-rules
read            GET                 /files/**
read            GET                 /figures/**
read            GET                 /compare/**

read            GET                 /replays/**
write           ANY                 /replays/**
read            POST                /reviews/*/practices/preview
read            GET                 /start-sets/**
write           ANY                 /start-sets/**
read            GET                 /kept-games/**
write           ANY                 /kept-games/**
read            GET                 /games/**
write           POST                /games/**
read            GET SOCKET          /live/**
write           POST                /live/**

read            POST                /studies/preview
read            GET                 /studies/**
write           ANY                 /studies/**
read            GET                 /suites
read            POST                /suites/specification
read            POST                /papers/*/*/preview
read            GET                 /papers/**
write           POST                /papers/**

read            GET                 /archives
write           POST                /archives
read            GET                 /artifacts/**
write           ANY                 /artifacts/**
write           POST                /agents
read            GET                 /aliases/**
write           ANY                 /aliases/**
installation    POST                /examples

read            GET                 /alerts
write           POST                /alerts/read
member          GET                 /alert-rules
installation    ANY                 /alert-rules/**
read            GET                 /score-rules
write           ANY                 /score-rules/**
admin-read      GET                 /alert-channels
admin-fresh     POST                /alert-channels
admin-fresh     PATCH               /alert-channels/*
installation    ANY                 /alert-channels/**
admin-read      GET                 /alert-deliveries
installation    ANY                 /alert-deliveries/**

read            POST                /reports/preview
read            GET                 /reports/**
write           ANY                 /reports/**
read            GET                 /events
read            PUT                 /events/*/watches

member          GET                 /workers
member          GET                 /start-forecasts
installation    ANY                 /workers/*
member          GET                 /executors
admin-read      GET                 /executors/**
installation    PUT                 /executors/default
admin-fresh     ANY                 /executors/**
read            GET                 /config-schema
read            POST                /configurations/parse
read            GET                 /presets
read            GET                 /environments
read            GET                 /plugins
read            GET                 /openapi.json
"""
# Results of jobs.
_JOB_DOORS = "".join(
    f"read  GET  /{each.path}/**\nwrite  ANY  /{each.path}/**\n" for each in JOB_KINDS.values() if each.path
)
# Parts of the application outside of the API. Pages are programs without data.
_OTHER_DOORS = """
read            GET                 /api/docs/**
read            ANY                 /mcp
public          GET                 /client/**
public          GET                 /**
"""
# The right is the first word of a line, so that lines stay short.
_WORDS = {
    "project": Right.PROJECT,
    "project-fresh": Right.PROJECT_FRESH,
    "installation": Right.INSTALLATION,
    "admin-read": Right.INSTALLATION_READ,
    "admin-fresh": Right.INSTALLATION_FRESH,
    "own": Right.OWN,
    "own-fresh": Right.OWN_FRESH,
    "signed-in": Right.SIGNED_IN,
}
# Rights of a person whose browser has shown again, within the last minutes, who they are. Tokens never have them.
FRESH = frozenset({Right.OWN_FRESH, Right.PROJECT_FRESH, Right.INSTALLATION_FRESH})
# The API's answer to unknown paths.
UNKNOWN_PATH = f"{API}/{{path:path}}"

Door = tuple[frozenset[str], re.Pattern[str], Right]


def _read_doors(table: str, prefix: str = "") -> Iterator[Door]:
    for line in filter(None, table.splitlines()):
        word, *methods, path = line.split()
        pattern = re.escape(prefix + path).replace(r"/\*\*", "(?:/.*)?").replace(r"\*", "[^/]+")
        yield frozenset(methods), re.compile(pattern), _WORDS.get(word) or Right(word)


API_DOORS = (*_read_doors(_DOORS + _JOB_DOORS, API),)
OTHER_DOORS = (*_read_doors(_OTHER_DOORS),)


def find_right(method: str, path: str) -> Right | None:
    """Return the declared right of a route, or None. The method of a WebSocket is SOCKET."""
    if path == UNKNOWN_PATH:
        return Right.SIGNED_IN
    method = "GET" if method == "HEAD" else method
    is_api = path == API or path.startswith(f"{API}/")
    for methods, pattern, right in API_DOORS if is_api else OTHER_DOORS:
        if (method in methods or "ANY" in methods) and pattern.fullmatch(path):
            return right
    return None


@lru_cache(maxsize=4_096)
def right_of(method: str, path: str) -> Right:
    """Return the right that a request needs. A path without a route needs a sign-in, so that it reveals nothing."""
    return find_right(method, path) or Right.SIGNED_IN


class UndeclaredDoorsError(RuntimeError):
    """Routes without a declared right."""


def list_doors(routes: Iterable[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Yield the method and the path of every route, socket, page and mounted part."""
    for route in routes:
        included: Any = getattr(route, "effective_candidates", None)
        if included is not None:
            yield from list_doors(included())
            continue
        # FastAPI wraps routes of included routers.
        original = getattr(route, "starlette_route", None) or route
        path: Any = getattr(original, "path", None) or getattr(route, "path", None)
        if path is None:
            # The built pages.
            yield "GET", "/**"
            continue
        methods = getattr(route, "methods", None) or getattr(original, "methods", None)
        is_socket = "WebSocket" in type(original).__name__
        for method in sorted(methods or (["SOCKET"] if is_socket else ["ANY"])):
            yield method, path


def routes_of(app: FastAPI) -> list[BaseRoute]:
    """Return all routes of an application, also those of built pages, which it tries last."""
    return [*app.routes, *app.router._low_priority_routes]


def check_doors(app: FastAPI) -> None:
    """Raise UndeclaredDoorsError if a route has no declared right."""
    doors = dict.fromkeys(list_doors(routes_of(app)))
    if missing := [f"{method} {path}" for method, path in doors if find_right(method, path) is None]:
        raise UndeclaredDoorsError(f"Declare the right of each route in web/doors.py. These have none: {missing}")


def check_right(right: Right, scope: Scope) -> None:
    """Raise MissingRight unless the scope has a right. Whether it is for the right project is checked with the object.

    The caller has signed in, unless the door is public.
    """
    if right == Right.PUBLIC:
        return
    if right == Right.WORKER and ("worker" not in scope.scopes or scope.session_id is not None):
        raise MissingRight("This is for workers. Send the worker token, or a token with the scope worker.")
    if right == Right.WORKER and not scope.everything:
        raise MissingRight("Workers train for all projects. An administrator of the installation can give you a token.")
    _check_scopes(right, scope)


def check_attempt(scope: Scope, path: str) -> None:
    """Raise MissingRight if a token of an attempt is sent for anything else than its run or job."""
    own = [f"{API}/worker/runs/{scope.attempt[0]}/"] if scope.attempt else []
    own += [f"{API}/worker/jobs/{scope.job[0]}/"] if scope.job else []
    if scope.submission:
        own = [f"{API}/worker/runs/{scope.submission[0]}/", f"{API}/worker/heartbeat", f"{API}/worker/goodbye"]
    if scope.job_worker is not None:
        own = [f"{API}/worker/{each}" for each in ("heartbeat", "goodbye", "bell", "jobs/")]
    if own and not path.startswith(tuple(own)):
        raise MissingRight("This token is only for one attempt of a worker. Send the worker token.")


def _check_scopes(right: Right, scope: Scope) -> None:
    needed = {
        Right.READ: {"read"},
        Right.MEMBER: {"read"},
        Right.LOG: {"log", "write"},
        Right.WRITE: {"write"},
        Right.REVOKE: {"write"},
        Right.PROJECT: {"write"},
        Right.INSTALLATION: {"write"},
        Right.INSTALLATION_READ: {"read"},
    }.get(right)
    if needed and not needed & scope.scopes:
        raise MissingRight(f"This token lacks the scope {' or '.join(sorted(needed))}. Create a token with it.")
    # A person whom a proxy has signed in has neither a session nor a token.
    if (right == Right.OWN or right in FRESH) and (scope.person_id is None or scope.token_id is not None):
        raise MissingRight("Only a person who has signed in may do this. Open Arcadia in a browser.")


# Tables of the objects in paths, by the first part of the path.
_TABLES = {
    **{name: name for name in "runs projects studies reports views artifacts replays".split()},
    **{each.path: each.table or "jobs" for each in JOB_KINDS.values() if each.path},
    "live": "jobs",
    "kept-games": "kept_games",
    "start-sets": "start_sets",
    "score-rules": "score_rules",
}
_OBJECT = re.compile(rf"{API}/(?:reported/)?({'|'.join(_TABLES)})/(\d{{1,15}})(?:/.*)?")


# The role that opens a door to people who do not administer the installation.
ROLES = {
    Right.MEMBER: Role.VIEWER,
    Right.WRITE: Role.EDITOR,
    Right.LOG: Role.EDITOR,
    Right.PROJECT: Role.ADMINISTRATOR,
    Right.PROJECT_FRESH: Role.ADMINISTRATOR,
    Right.INSTALLATION: None,
    Right.INSTALLATION_READ: None,
    Right.INSTALLATION_FRESH: None,
}


def object_in(path: str) -> tuple[str, int] | None:
    """Return the table and the id of the object in a path, or None."""
    found = _OBJECT.fullmatch(path)
    return (_TABLES[found[1]], int(found[2])) if found else None
