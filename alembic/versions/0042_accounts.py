"""People, groups, roles, tokens, sessions, one-time links and the audit log

Revision ID: 0042
Revises: 0041
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = columns.UtcDateTime(timezone=True)

SESSIONS = sa.table(
    "sign_in_sessions",
    sa.column("digest"),
    sa.column("created_at", TIME),
    sa.column("last_used_at", TIME),
    sa.column("address"),
    sa.column("browser"),
    sa.column("expires_at", TIME),
)
SIGNED_IN = sa.table("signed_in", sa.column("proof"), sa.column("ends_at", TIME))


def upgrade() -> None:
    """Add the tables, and to runs who launched and stopped them. Sessions stay signed in."""
    _add_people()
    _add_roles()
    _add_tokens()
    _add_sessions()
    _add_audit_log()
    for table, column in _added_columns():
        op.add_column(table, column)


def downgrade() -> None:
    """Undo the migration. Sessions by ARCADIA_TOKEN stay signed in."""
    for table, column in _added_columns():
        op.drop_column(table, column.name)
    op.create_table(
        "signed_in",
        sa.Column("proof", sa.String(length=64), nullable=False),
        sa.Column("ends_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("proof", name=op.f("pk_signed_in")),
    )
    kept = sa.select(SESSIONS.c.digest, SESSIONS.c.expires_at).where(sa.text("person_id IS NULL"))
    op.execute(SIGNED_IN.insert().from_select(["proof", "ends_at"], kept))
    for table in (
        "audit_log",
        "one_time_links",
        "sign_in_sessions",
        "access_tokens",
        "project_roles",
        "group_members",
        "person_groups",
        "person_identities",
        "people",
    ):
        op.drop_table(table)


def _added_columns() -> tuple[tuple[str, sa.Column[object]], ...]:
    return (
        ("runs", sa.Column("person_id", sa.BigInteger(), nullable=True)),
        ("runs", sa.Column("launched_by", sa.String(length=100), nullable=True)),
        ("runs", sa.Column("changed_by", sa.String(length=100), nullable=True)),
        ("runs", sa.Column("stopped_by", sa.String(length=100), nullable=True)),
        ("studies", sa.Column("person_id", sa.BigInteger(), nullable=True)),
        ("studies", sa.Column("started_by", sa.String(length=100), nullable=True)),
        ("bulk_actions", sa.Column("person_id", sa.BigInteger(), nullable=True)),
        ("bulk_actions", sa.Column("requested_by", sa.String(length=100), nullable=True)),
        ("projects", sa.Column("open_role", sa.Integer(), nullable=True)),
    )


def _add_people() -> None:
    op.create_table(
        "people",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=True),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("is_administrator", sa.Boolean(), nullable=False),
        sa.Column("disabled_at", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
        sa.UniqueConstraint("email", name=op.f("uq_people_email")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "person_identities",
        sa.Column("id", ID, nullable=False),
        sa.Column("person_id", ID, nullable=False),
        sa.Column("issuer", sa.String(length=300), nullable=False),
        sa.Column("subject", sa.String(length=300), nullable=False),
        _of("person_identities", "person_id", "people"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_person_identities")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_person_identities_issuer_subject")),
        sqlite_autoincrement=True,
    )
    _index("person_identities", "person_id")
    op.create_table(
        "person_groups",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("from_oidc", sa.Boolean(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_person_groups")),
        sa.UniqueConstraint("name", name=op.f("uq_person_groups_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "group_members",
        sa.Column("group_id", ID, nullable=False),
        sa.Column("person_id", ID, nullable=False),
        _of("group_members", "group_id", "person_groups"),
        _of("group_members", "person_id", "people"),
        sa.PrimaryKeyConstraint("group_id", "person_id", name=op.f("pk_group_members")),
    )
    _index("group_members", "person_id")


def _add_roles() -> None:
    op.create_table(
        "project_roles",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("person_id", ID, nullable=True),
        sa.Column("group_id", ID, nullable=True),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.CheckConstraint("(person_id IS NULL) != (group_id IS NULL)", name="ck_project_roles_holder"),
        _of("project_roles", "project_id", "projects"),
        _of("project_roles", "person_id", "people"),
        _of("project_roles", "group_id", "person_groups"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project_roles")),
        sqlite_autoincrement=True,
    )
    _index("project_roles", "person_id")
    _index("project_roles", "group_id")
    for holder in ("person", "group"):
        where = sa.text(f"{holder}_id IS NOT NULL")
        op.create_index(
            f"uq_project_roles_{holder}",
            "project_roles",
            ["project_id", f"{holder}_id"],
            unique=True,
            sqlite_where=where,
            postgresql_where=where,
        )


def _add_tokens() -> None:
    op.create_table(
        "access_tokens",
        sa.Column("id", ID, nullable=False),
        sa.Column("person_id", ID, nullable=True),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("scopes", columns.Json, nullable=False),
        sa.Column("project_id", ID, nullable=True),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("job_id", sa.BigInteger(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.Column("last_used_at", TIME, nullable=True),
        sa.Column("last_address", sa.String(length=100), nullable=True),
        _of("access_tokens", "person_id", "people"),
        _of("access_tokens", "project_id", "projects"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_access_tokens_digest")),
        sqlite_autoincrement=True,
    )
    _index("access_tokens", "person_id")
    _index("access_tokens", "project_id")
    op.create_index("ix_access_tokens_attempt", "access_tokens", ["run_id", "job_id"])


def _add_sessions() -> None:
    op.create_table(
        "sign_in_sessions",
        sa.Column("id", ID, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person_id", ID, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("last_used_at", TIME, nullable=False),
        sa.Column("address", sa.String(length=100), nullable=False),
        sa.Column("browser", sa.String(length=200), nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.Column("revoked_at", TIME, nullable=True),
        _of("sign_in_sessions", "person_id", "people"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_in_sessions")),
        sa.UniqueConstraint("digest", name=op.f("uq_sign_in_sessions_digest")),
        sqlite_autoincrement=True,
    )
    _index("sign_in_sessions", "person_id")
    now = sa.literal(columns.utc_now(), TIME)
    earlier = sa.select(SIGNED_IN.c.proof, now, now, sa.literal(""), sa.literal(""), SIGNED_IN.c.ends_at)
    op.execute(
        SESSIONS.insert().from_select(
            ["digest", "created_at", "last_used_at", "address", "browser", "expires_at"], earlier
        )
    )
    op.drop_table("signed_in")
    op.create_table(
        "one_time_links",
        sa.Column("id", ID, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("purpose", sa.String(length=8), nullable=False),
        sa.Column("person_id", ID, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.Column("used_at", TIME, nullable=True),
        _of("one_time_links", "person_id", "people"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_one_time_links")),
        sa.UniqueConstraint("digest", name=op.f("uq_one_time_links_digest")),
        sqlite_autoincrement=True,
    )
    _index("one_time_links", "person_id")


def _add_audit_log() -> None:
    op.create_table(
        "audit_log",
        sa.Column("id", ID, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("person_id", sa.BigInteger(), nullable=True),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("token_id", sa.BigInteger(), nullable=True),
        sa.Column("address", sa.String(length=100), nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("object_id", sa.String(length=100), nullable=False),
        sa.Column("object_name", sa.String(length=320), nullable=False),
        sa.Column("project_id", sa.BigInteger(), nullable=True),
        sa.Column("before", columns.Json, nullable=True),
        sa.Column("after", columns.Json, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
        sqlite_autoincrement=True,
    )
    _index("audit_log", "at")
    op.create_index("ix_audit_log_project", "audit_log", ["project_id", "id"])
    op.create_index("ix_audit_log_person", "audit_log", ["person_id", "id"])
    op.create_index("ix_audit_log_object", "audit_log", ["kind", "object_id"])


def _of(table: str, column: str, parent: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{parent}.id"], name=op.f(f"fk_{table}_{column}"), ondelete="CASCADE")


def _index(table: str, column: str) -> None:
    op.create_index(op.f(f"ix_{table}_{column}"), table, [column])
