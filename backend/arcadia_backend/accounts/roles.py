"""Roles of people in projects: their own, those of their groups, and those that are open to everyone."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Literal

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import after_commit
from arcadia_backend.database.scope import NOBODY, Role, Scope, acting_as, current
from arcadia_backend.database.tables import AccessToken, GroupMember, Person, Project, ProjectRole, SignInSession
from arcadia_backend.live.notices import RIGHTS_CHANGED, publish

RoleName = Literal["viewer", "editor", "administrator"]
ROLES: dict[RoleName, Role] = {"viewer": Role.VIEWER, "editor": Role.EDITOR, "administrator": Role.ADMINISTRATOR}
ROLE_NAMES: dict[int, RoleName] = {int(role): name for name, role in ROLES.items()}


def roles_of(session: Session, person_id: int) -> dict[int, Role]:
    """Return the effective role of a person in each project."""
    groups = select(GroupMember.group_id).where(GroupMember.person_id == person_id)
    held = or_(ProjectRole.person_id == person_id, ProjectRole.group_id.in_(groups))
    with access_to_accounts():
        rows = [*session.execute(select(ProjectRole.project_id, ProjectRole.role).where(held))]
        rows += session.execute(select(Project.id, Project.open_role).where(Project.open_role.is_not(None)))
    roles: dict[int, Role] = {}
    for project_id, role in rows:
        roles[project_id] = max(Role(role), roles.get(project_id, Role.VIEWER))
    return roles


def scope_of(
    session: Session,
    person: Person,
    *,
    address: str = "",
    signed_in: SignInSession | None = None,
    token: AccessToken | None = None,
) -> Scope:
    """Return what a person may do, by a session or with a token."""
    project = token.project_id if token else None
    everything = person.is_administrator and project is None
    projects: Mapping[int, Role] = {} if everything else roles_of(session, person.id)
    if project is not None:
        role = Role.ADMINISTRATOR if person.is_administrator else projects.get(project)
        projects = {} if role is None else {project: role}
    scope = Scope(
        everything=everything,
        projects=projects,
        person_id=person.id,
        token_id=token.id if token else None,
        session_id=signed_in.id if signed_in else None,
        name=person.name,
        address=address,
    )
    return replace(scope, scopes=frozenset(token.scopes)) if token else scope


@contextmanager
def access_to_accounts() -> Iterator[None]:
    """Read or change accounts and roles of anyone inside the block, which checks what the caller may do."""
    with acting_as(replace(current(), everything=True)):
        yield


def is_enabled(person: Person | None) -> bool:
    """Return True if a person may sign in."""
    return person is not None and person.disabled_at is None


def is_valid(expires_at: datetime | None, revoked_at: datetime | None, now: datetime) -> bool:
    """Return True if a session or a token has neither expired nor been revoked."""
    return revoked_at is None and (expires_at is None or now < expires_at)


_lock = threading.Lock()
_generation = 0


def generation() -> int:
    """Return a number that increases with each change of accounts in this process, for caches of credentials."""
    return _generation


def forget_now() -> None:
    """Let caches of credentials in this process expire."""
    global _generation
    with _lock:
        _generation += 1


def forget_credentials(session: Session) -> None:
    """Announce after the commit that rights have changed, to everything that lasts, in all processes."""
    after_commit(session, forget_now)
    after_commit(session, lambda: publish(RIGHTS_CHANGED, {}))


def present_scope(session: Session, person_id: int | None) -> Scope:
    """Return what the person who started something may do now: nothing if they are disabled."""
    person = None if person_id is None else session.get(Person, person_id)
    return scope_of(session, person) if person is not None and is_enabled(person) else NOBODY
