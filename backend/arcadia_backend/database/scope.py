"""The actor: who makes a request, holds a connection or started a job, and what they may do."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType

# The scopes of a token. Sessions of browsers have all of them.
ALL = frozenset({"read", "write", "log", "worker"})
MAX_CALLER_LENGTH = 100


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
    client      kind of program that makes the request
    user        what the program calls its user, shown where there are no accounts
    attempt     run and attempt of the token of a worker's attempt
    job         job and attempt of such a token
    submission  run and attempt that a job of a cluster was submitted for, of the job's token
    job_worker  number of a worker for jobs in a job of a cluster, of the job's token
    """

    everything: bool
    projects: Mapping[int, Role] = field(default_factory=lambda: MappingProxyType({}))
    person_id: int | None = None
    token_id: int | None = None
    session_id: int | None = None
    name: str = ""
    address: str = ""
    scopes: frozenset[str] = ALL
    client: str = "API"
    user: str = ""
    attempt: tuple[int, int] | None = None
    job: tuple[int, int] | None = None
    submission: tuple[int, int] | None = None
    job_worker: int | None = None

    @property
    def is_known(self) -> bool:
        """True unless the caller has shown nothing."""
        return self.everything or self.person_id is not None or self.token_id is not None

    @property
    def caller(self) -> str:
        """The person, user or address and the kind of client, such as: Ana (CLI)."""
        who = self.name or self.user or self.address
        return (f"{who} ({self.client})" if who else self.client)[:MAX_CALLER_LENGTH]

    def role(self, project: int | None) -> Role | None:
        """Return the role in a project, or None if there is no access to it."""
        if self.everything:
            return Role.ADMINISTRATOR
        return None if project is None else self.projects.get(project)

    def can_edit(self, project: int | None) -> bool:
        """Return True if the actor may change the content of a project."""
        return "write" in self.scopes and (self.role(project) or 0) >= Role.EDITOR

    def projects_as(self, role: Role) -> frozenset[int]:
        """Return the projects in which a limited scope has at least a role."""
        return frozenset(project for project, held in self.projects.items() if held >= role)


# The backend's own work. Threads, commands and the start of the application ask for it by name.
BACKEND = Scope(everything=True)
# A caller who has shown nothing, and code that has not said for whom it acts.
NOBODY = Scope(everything=False, scopes=frozenset())

_current: ContextVar[Scope] = ContextVar("arcadia_scope", default=NOBODY)


def current() -> Scope:
    """Return the scope that acts now."""
    return _current.get()


def switch_to(scope: Scope) -> None:
    """Act with a scope from now on, until the block of `acting_as` ends."""
    _current.set(scope)


@contextmanager
def acting_as(scope: Scope) -> Iterator[Scope]:
    """Act with a scope until the block ends."""
    token = _current.set(scope)
    try:
        yield scope
    finally:
        _current.reset(token)


_is_flushing: ContextVar[bool] = ContextVar("arcadia_is_flushing", default=False)


def is_flushing() -> bool:
    """Return True inside a flush, whose rows are checked before it."""
    return _is_flushing.get()


@contextmanager
def flushing() -> Iterator[None]:
    """Mark the statements of a flush inside the block."""
    token = _is_flushing.set(True)
    try:
        yield
    finally:
        _is_flushing.reset(token)
