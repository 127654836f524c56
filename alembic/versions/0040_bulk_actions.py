"""Bulk actions on all runs that match a filter

Revision ID: 0040
Revises: 0039
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "bulk_actions",
        sa.Column("id", ID, nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("tags", columns.Json, nullable=False),
        sa.Column("project", sa.String(length=100), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("last_run_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("finished_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bulk_actions")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_bulk_actions_state", "bulk_actions", ["state"])
    op.create_table(
        "bulk_action_runs",
        sa.Column("bulk_action_id", ID, nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["bulk_action_id"],
            ["bulk_actions.id"],
            name=op.f("fk_bulk_action_runs_bulk_action_id_bulk_actions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("bulk_action_id", "run_id", name=op.f("pk_bulk_action_runs")),
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("bulk_action_runs")
    op.drop_table("bulk_actions")
