"""Tables of accounts: people, groups, roles, tokens, sessions, one-time links, logins by a code and the audit log."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, String, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables.base import Base, Id, LinkPurpose, LoginState, unique_where


class Person(Base):
    """A person with an account. People are disabled, not deleted, so that their names stay."""

    __tablename__ = "people"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    # In lower case. People sign in with it. It is empty for people of other providers without one.
    email: Mapped[str | None] = mapped_column(String(320), unique=True)
    # By argon2. It is empty until they choose one.
    password_hash: Mapped[str | None] = mapped_column(String(200))
    is_administrator: Mapped[bool] = mapped_column(default=False)
    disabled_at: Mapped[datetime | None]
    # True for the automatic owner of an installation without accounts. The first account takes its place.
    is_owner: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class PersonIdentity(Base):
    """The identity of a person at an OpenID provider or a reverse proxy."""

    __tablename__ = "person_identities"
    __table_args__ = (UniqueConstraint("issuer", "subject"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    person_id: Mapped[int] = mapped_column(Id, ForeignKey("people.id", ondelete="CASCADE"), index=True)
    issuer: Mapped[str] = mapped_column(String(300))
    subject: Mapped[str] = mapped_column(String(300))


class PersonGroup(Base):
    """A group of people. Its roles are those of its members."""

    __tablename__ = "person_groups"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    # An OpenID provider decides who belongs to it, at each sign-in.
    from_oidc: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class GroupMember(Base):
    """A person in a group."""

    __tablename__ = "group_members"

    group_id: Mapped[int] = mapped_column(Id, ForeignKey("person_groups.id", ondelete="CASCADE"), primary_key=True)
    person_id: Mapped[int] = mapped_column(
        Id, ForeignKey("people.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class ProjectRole(Base):
    """The role of a person or a group in a project, as database.scope.Role."""

    __tablename__ = "project_roles"
    __table_args__ = (
        CheckConstraint("(person_id IS NULL) != (group_id IS NULL)", name="ck_project_roles_holder"),
        unique_where("uq_project_roles_person", "project_id", "person_id", where="person_id IS NOT NULL"),
        unique_where("uq_project_roles_group", "project_id", "group_id", where="group_id IS NOT NULL"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id", ondelete="CASCADE"))
    person_id: Mapped[int | None] = mapped_column(Id, ForeignKey("people.id", ondelete="CASCADE"), index=True)
    group_id: Mapped[int | None] = mapped_column(Id, ForeignKey("person_groups.id", ondelete="CASCADE"), index=True)
    role: Mapped[int]


class AccessToken(Base):
    """A token of a person, or of a worker's attempt. Only its digest is stored."""

    __tablename__ = "access_tokens"
    __table_args__ = (Index("ix_access_tokens_attempt", "run_id", "job_id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # None for tokens of workers.
    person_id: Mapped[int | None] = mapped_column(Id, ForeignKey("people.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    # Of read, write, log and worker.
    scopes: Mapped[list[str]]
    # The only project that it opens.
    project_id: Mapped[int | None] = mapped_column(Id, ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    # The attempt at a run or a job that it is for.
    run_id: Mapped[int | None] = mapped_column(BigInteger)
    job_id: Mapped[int | None] = mapped_column(BigInteger)
    attempt: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    last_address: Mapped[str | None] = mapped_column(String(100))


class SignInSession(Base):
    """A session of a signed-in browser."""

    __tablename__ = "sign_in_sessions"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # Of its cookie, and of ARCADIA_TOKEN if that signed it in.
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    person_id: Mapped[int | None] = mapped_column(Id, ForeignKey("people.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    last_used_at: Mapped[datetime] = mapped_column(default=utc_now)
    address: Mapped[str] = mapped_column(String(100), default="")
    browser: Mapped[str] = mapped_column(String(200), default="")
    # When its person last proved who they are, by a password, a provider or a one-time link.
    proved_at: Mapped[datetime | None]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class OneTimeLink(Base):
    """A link that creates the first administrator, or lets a person choose a password. It works once.

    The secret of a link with the purpose "join" is the code with which a host of workers gets its token.
    """

    __tablename__ = "one_time_links"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    purpose: Mapped[LinkPurpose]
    # None for the first administrator. Who created the code of a host.
    person_id: Mapped[int | None] = mapped_column(Id, ForeignKey("people.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class DeviceLogin(Base):
    """A login of a command line, which a person confirms in a browser with a short code."""

    __tablename__ = "device_logins"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # Of the secret with which the command line collects its token.
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    # Of the short code that the person sees.
    code_digest: Mapped[str] = mapped_column(String(64), unique=True)
    # Of the token. The command line chooses it.
    name: Mapped[str] = mapped_column(String(100))
    # Where the request came from, and its network, which limits requests.
    address: Mapped[str] = mapped_column(String(100))
    network: Mapped[str] = mapped_column(String(100), index=True)
    state: Mapped[LoginState] = mapped_column(default="waiting")
    # Requested, and after the confirmation the allowed ones.
    scopes: Mapped[list[str]]
    # Who confirmed it, for which project, and for how many days.
    person_id: Mapped[int | None] = mapped_column(Id, ForeignKey("people.id", ondelete="CASCADE"), index=True)
    project_id: Mapped[int | None] = mapped_column(Id, ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    days: Mapped[int | None]
    # The least time between two polls, which grows with each early one.
    interval_seconds: Mapped[int]
    polled_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class AuditEntry(Base):
    """An action, stored in the transaction of the change. It has no foreign keys, so that it outlives its objects."""

    __tablename__ = "audit_log"
    __table_args__ = (
        Index("ix_audit_log_project", "project_id", "id"),
        Index("ix_audit_log_person", "person_id", "id"),
        Index("ix_audit_log_object", "kind", "object_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    at: Mapped[datetime] = mapped_column(default=utc_now, index=True)
    person_id: Mapped[int | None] = mapped_column(BigInteger)
    # Of who acted.
    name: Mapped[str] = mapped_column(String(100), default="")
    token_id: Mapped[int | None] = mapped_column(BigInteger)
    address: Mapped[str] = mapped_column(String(100), default="")
    # A verb such as create, change or delete.
    action: Mapped[str] = mapped_column(String(32))
    # A noun such as run, study or person.
    kind: Mapped[str] = mapped_column(String(32))
    object_id: Mapped[str] = mapped_column(String(100))
    object_name: Mapped[str] = mapped_column(String(320), default="")
    project_id: Mapped[int | None] = mapped_column(BigInteger)
    # Values of the changed settings.
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any] | None]
