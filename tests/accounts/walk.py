"""A walk of all routes with real bodies, by people who may not see or may not change what the bodies name.

Each request is one that succeeds for an administrator: test_audited_routes.py has the scenes. An answer is unexpected
if it is an internal error, tells something of a hidden project, or changes rows that the caller may not change.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from httpx import Response
from sqlalchemy import inspect, select
from starlette.testclient import TestClient

from arcadia_backend.config import API
from arcadia_backend.database import tables
from arcadia_backend.database.ownership import LIMITED
from arcadia_backend.database.rights import name_of
from arcadia_backend.database.scope import BACKEND, Role, Scope, acting_as
from arcadia_backend.live import routes
from arcadia_backend.web.doors import find_right
from tests.accounts.crawl import STREAMS, Door, doors, fill, query
from tests.accounts.lab import Lab, Side
from tests.accounts.test_audited_routes import SCENES, Scene
from tests.accounts.test_audited_routes import name_of as scene_of

# The server delivers alerts at any time.
MODELS = [mapper.class_ for mapper in tables.Base.registry.mappers if name_of(mapper) in LIMITED - {"alert_deliveries"}]
# Tables of the installation that only its administrators change. Others, such as of sessions, belong to each person.
OF_ADMINISTRATORS = (tables.Person, tables.PersonGroup, tables.GroupMember, tables.AlertChannel)
ADMINISTRATORS = {"installation administrator", "administrator with an old session", "administrator's token write"}
# The least role that a caller has in the two projects of the lab.
ROLES: dict[str, tuple[Role | None, Role | None]] = {
    "viewer": (Role.VIEWER, None),
    "editor": (Role.EDITOR, None),
    "token read": (Role.VIEWER, None),
    "token write": (Role.EDITOR, None),
    "token log": (Role.EDITOR, None),
    "administrator": (Role.ADMINISTRATOR, None),
    "administrator of another project": (None, Role.ADMINISTRATOR),
    "token of another project": (None, Role.ADMINISTRATOR),
    "administrator's token read": (Role.VIEWER, Role.VIEWER),
}


@dataclass(frozen=True)
class Step:
    """A request of the walk, with its status and what is unexpected about it."""

    caller: str
    door: Door
    right: str
    status: int
    problems: tuple[str, ...]


def roles_of(caller: str) -> tuple[Role | None, Role | None]:
    """Return the roles of a caller in the lab's own project and in the other one."""
    return (Role.ADMINISTRATOR, Role.ADMINISTRATOR) if caller in ADMINISTRATORS else ROLES.get(caller, (None, None))


class Rows:
    """The rows of a project, or of the installation, to find out what a request has changed."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._path = str(lab.database.url.database)
        self._connection = sqlite3.connect(self._path, check_same_thread=False)

    def version(self) -> int:
        """Return a number that changes with each commit of another connection."""
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def of(self, side: Side) -> dict[str, list[str]]:
        """Return the rows of a project by table."""
        viewer = Scope(everything=False, projects={side.project_id: Role.VIEWER})
        with acting_as(viewer), self._lab.database.read() as session:
            return {model.__tablename__: sorted(_texts(session, model)) for model in MODELS}

    def of_administrators(self) -> dict[str, list[str]]:
        """Return the rows that only administrators of the installation change."""
        with acting_as(BACKEND), self._lab.database.read() as session:
            return {model.__tablename__: sorted(_texts(session, model)) for model in OF_ADMINISTRATORS}

    def all(self) -> list[dict[str, list[str]]]:
        """Return the rows of both projects, and of the installation."""
        return [self.of(self._lab.own), self.of(self._lab.other), self.of_administrators()]


def _texts(session: Any, model: Any) -> Iterator[str]:
    return (
        repr(tuple(row))
        for row in session.execute(select(*(getattr(model, each.key) for each in inspect(model).column_attrs)))
    )


def walk(lab: Lab, callers: Sequence[str], *methods: str) -> Iterator[Step]:
    """Send the request of each route as each caller, and undo its changes."""
    # Only requests must change rows.
    lab.app.state.bulk_action_thread.stop()
    lab.app.state.study_scheduler.stop()
    rows = Rows(lab)
    before = rows.all()
    listed = [door for door in doors(lab, *methods) if door.method not in ("SOCKET", "ANY", "HEAD")]
    for door in sorted(listed, key=str):
        if not door.path.startswith(API) or door.path in STREAMS or "path:path" in door.path:
            continue
        for caller in callers:
            yield _step(lab, rows, before, door, caller)
    rows.close()


def _step(lab: Lab, rows: Rows, before: list[dict[str, list[str]]], door: Door, caller: str) -> Step:
    scene = SCENES.get(scene_of(door), Scene(None if door.method in ("GET", "DELETE") else {}))
    path = fill(door.path, lab.own)
    with acting_as(BACKEND):
        if scene.prepare is not None and (prepared := scene.prepare(lab)) is not None:
            path = f"{API}{prepared}"
        body = scene.body(lab) if callable(scene.body) else scene.body
        prepared_rows = rows.all() if scene.prepare is not None or callable(scene.body) else before
    version = rows.version()
    answer = _send(lab.client(caller), door, path, body, query(door.path, lab.own))
    problems = []
    if answer.status_code >= 500 and answer.status_code != 503:
        problems.append(f"status {answer.status_code}: {answer.text[:300]}")
    own, other = roles_of(caller)
    sent = f"{path} {body}"
    for side, role in ((lab.own, own), (lab.other, other)):
        if role is None and side.secret in answer.text and side.secret not in sent:
            problems.append(f"shows {side.secret}")
    if rows.version() != version:
        parts = ("the own project", "the other project", "the installation")
        # People change their own account. Administrators of a project add the people whom they invite.
        adds_people = door.path.endswith("/invitations") and own == Role.ADMINISTRATOR
        people = adds_people or door.path.startswith((f"{API}/account", f"{API}/session"))
        may_write = (own or 0) >= Role.EDITOR, (other or 0) >= Role.EDITOR, caller in ADMINISTRATORS or people
        for part, allowed, old, new in zip(parts, may_write, prepared_rows, rows.all(), strict=True):
            if changed := [] if allowed else [name for name in old if old[name] != new[name]]:
                problems.append(f"changes {', '.join(changed)} of {part}")
    if rows.version() != version or prepared_rows is not before:
        lab.copy.restore()
    return Step(caller, door, str(find_right(door.method, door.path)), answer.status_code, tuple(problems))


def _send(client: TestClient, door: Door, path: str, body: Any, parameters: dict[str, str]) -> Response:
    content = {"content" if isinstance(body, bytes) else "json": body} if body is not None else {}
    # A stream would stay open.
    with patch.object(routes, "MAX_STREAMS", 0):
        return client.request(door.method, path, params=parameters or None, follow_redirects=False, **content)  # type: ignore[return-value]
