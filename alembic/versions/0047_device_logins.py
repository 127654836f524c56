"""Logins of command lines by a code

Revision ID: 0047
Revises: 0046
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "device_logins",
        sa.Column("id", ID, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("code_digest", sa.String(64), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("address", sa.String(100), nullable=False),
        sa.Column("network", sa.String(100), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("scopes", columns.Json, nullable=False),
        sa.Column("person_id", ID, nullable=True),
        sa.Column("project_id", ID, nullable=True),
        sa.Column("days", sa.Integer(), nullable=True),
        sa.Column("interval_seconds", sa.Integer(), nullable=False),
        sa.Column("polled_at", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.id"], name=op.f("fk_device_logins_person_id_people"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_device_logins_project_id_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_device_logins")),
        sa.UniqueConstraint("code_digest", name=op.f("uq_device_logins_code_digest")),
        sa.UniqueConstraint("digest", name=op.f("uq_device_logins_digest")),
        sqlite_autoincrement=True,
    )
    for column in ("network", "person_id", "project_id", "expires_at"):
        op.create_index(f"ix_device_logins_{column}", "device_logins", [column])


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("device_logins")
