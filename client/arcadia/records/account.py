"""The fields of accounts: people, groups, members of projects, tokens, sessions and the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from arcadia.records import Record


class PersonRecord(Record):
    """The fields of a person with an account."""

    id: int
    """Number of the person."""

    name: str
    """Name."""

    email: str | None
    """E-mail address, with which the person signs in."""

    is_administrator: bool
    """True for administrators of the installation."""

    disabled: bool
    """True if the person cannot sign in."""

    has_password: bool
    """False until the person has opened the invitation, and for people of a provider."""

    created_at: datetime
    """Time of the invitation."""

    last_seen_at: datetime | None
    """When the person last used a browser here."""

    @property
    def roles(self) -> dict[str, str]:
        """Highest role by the name of the project, own and of groups."""
        order = ("viewer", "editor", "administrator")
        held: dict[str, str] = {}
        for each in self.data["roles"]:
            project, role = str(each["project"]), str(each["role"])
            held[project] = max(role, held.get(project, role), key=order.index)
        return held

    def __repr__(self) -> str:
        state = ", disabled" if self.disabled else ""
        return f"<Person {self.id} {self.name!r} <{self.email}>{state}>"


class PersonGroup(Record):
    """A group of people. Its roles are those of its members."""

    id: int
    """Number of the group."""

    name: str
    """Name."""

    from_oidc: bool
    """True if an OpenID provider decides who belongs to it."""

    @property
    def members(self) -> dict[int, str]:
        """Names of the people by their number."""
        return {int(each["id"]): str(each["name"]) for each in self.data["members"]}

    def __repr__(self) -> str:
        return f"<PersonGroup {self.id} {self.name!r}: {len(self.data['members'])} people>"


class ProjectMember(Record):
    """A person or a group with a role in a project."""

    id: int
    """Number of the role."""

    role: str
    """One of viewer, editor and administrator."""

    @property
    def name(self) -> str:
        """Name of the person or the group."""
        return str((self.data["person"] or self.data["group"])["name"])

    @property
    def is_group(self) -> bool:
        """True for a group."""
        return self.data["group"] is not None

    def __repr__(self) -> str:
        return f"<ProjectMember {self.id} {self.name!r}: {self.role}>"


class AccessTokenRecord(Record):
    """The fields of a token. Its secret was shown when it was created."""

    id: int
    """Number of the token."""

    name: str
    """Name."""

    scopes: list[str]
    """Of read, write, log and worker."""

    project: str | None
    """The only project that it opens. None for all of the person."""

    created_at: datetime
    """When it was created."""

    expires_at: datetime | None
    """When it ends. None for never, which is possible only on servers without a longest lifetime."""

    revoked_at: datetime | None
    """When it was revoked."""

    last_used_at: datetime | None
    """When it was last used, to the nearest 5 minutes."""

    last_address: str | None
    """Address that it was last used from."""

    @property
    def person(self) -> str | None:
        """Name of its person."""
        return _name(self.data["person"])

    def __repr__(self) -> str:
        return f"<AccessToken {self.id} {self.name!r}: {', '.join(self.scopes)}>"


class SignInSessionRecord(Record):
    """The fields of a signed-in browser."""

    id: int
    """Number of the session."""

    created_at: datetime
    """When the person signed in."""

    last_used_at: datetime
    """When it was last used, to the nearest 10 minutes."""

    address: str
    """Address that it was last used from."""

    browser: str
    """The browser, as it describes itself."""

    @property
    def person(self) -> str | None:
        """Name of the person."""
        return _name(self.data["person"])

    def __repr__(self) -> str:
        return f"<SignInSession {self.id} of {self.person}, {self.address}>"


class AuditEntry(Record):
    """An action of a person or a token."""

    id: int
    """Number of the entry."""

    at: datetime
    """Time of the action."""

    name: str
    """Who acted."""

    address: str
    """Address that it came from."""

    action: str
    """A verb, such as create, change or delete."""

    kind: str
    """Kind of the object, such as run or person."""

    object_id: str
    """Number of the object."""

    object_name: str
    """Name of the object."""

    before: dict[str, Any] | None
    """Old values of the changed settings."""

    after: dict[str, Any] | None
    """New values."""

    def __repr__(self) -> str:
        return f"<AuditEntry {self.id}: {self.name} {self.action} {self.kind} {self.object_name or self.object_id}>"


def _name(person: dict[str, Any] | None) -> str | None:
    return None if person is None else str(person["name"])
