"""Who acts, and what they may do: the scope of a request or of the backend's own work."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType

# What a token may be used for. Sessions of browsers have all of them.
ALL = frozenset({"read", "write", "log", "worker"})


class Role(IntEnum):
    """Role of a person in a project. Higher roles include lower ones."""

    VIEWER = 1
    EDITOR = 2
    ADMINISTRATOR = 3


@dataclass(frozen=True)
class Scope:
    """Who acts, and the projects and actions that are open to them.

    everything  sees and changes all projects, and may administer the installation
    projects    the effective role in each project, own and of groups, narrowed by the token
    name        shown in the audit log and as "launched by"
    scopes      what the token may be used for
    attempt     run and attempt of the token of a worker's attempt
    job         job and attempt of such a token
    """

    everything: bool
    projects: Mapping[int, Role] = field(default_factory=lambda: MappingProxyType({}))
    person_id: int | None = None
    token_id: int | None = None
    session_id: int | None = None
    name: str = ""
    address: str = ""
    scopes: frozenset[str] = ALL
    attempt: tuple[int, int] | None = None
    job: tuple[int, int] | None = None

    def role(self, project: int | None) -> Role | None:
        """Return the role in a project, or None if there is no access to it."""
        if self.everything:
            return Role.ADMINISTRATOR
        return None if project is None else self.projects.get(project)

    def projects_as(self, role: Role) -> frozenset[int]:
        """Return the projects in which a limited scope has at least a role."""
        return frozenset(project for project, held in self.projects.items() if held >= role)


# The backend's own work, and every caller of an open installation.
OWNER = Scope(everything=True)
# A caller who has shown nothing.
NOBODY = Scope(everything=False, scopes=frozenset())

_current: ContextVar[Scope] = ContextVar("arcadia_scope", default=OWNER)


def current() -> Scope:
    """Return the scope that acts now."""
    return _current.get()


@contextmanager
def acting_as(scope: Scope) -> Iterator[Scope]:
    """Act with a scope until the block ends."""
    token = _current.set(scope)
    try:
        yield scope
    finally:
        _current.reset(token)
