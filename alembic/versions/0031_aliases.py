"""Aliases of checkpoints, and the source of imported agents

Revision ID: 0031
Revises: 0030
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add the table of aliases, and a column of checkpoints."""
    op.create_table(
        "alias_changes",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("checkpoint_id", sa.BigInteger(), nullable=True),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("run_name", sa.String(length=200), nullable=True),
        sa.Column("step", sa.BigInteger(), nullable=True),
        sa.Column("who", sa.String(length=100), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("changed_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alias_changes")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_alias_changes_name_id", "alias_changes", ["name", "id"])
    op.create_index(op.f("ix_alias_changes_checkpoint_id"), "alias_changes", ["checkpoint_id"])
    op.create_index(op.f("ix_alias_changes_run_id"), "alias_changes", ["run_id"])
    op.add_column("checkpoints", sa.Column("source_sha256", sa.String(length=64), nullable=True))
    op.create_index(op.f("ix_checkpoints_source_sha256"), "checkpoints", ["source_sha256"])


def downgrade() -> None:
    """Undo the migration."""
    op.drop_index(op.f("ix_checkpoints_source_sha256"), "checkpoints")
    op.drop_column("checkpoints", "source_sha256")
    op.drop_table("alias_changes")
