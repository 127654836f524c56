"""Submissions of runs to schedulers

Revision ID: 0045
Revises: 0044
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add the tables, and the executor of runs and workers."""
    for table in ("runs", "workers"):
        op.add_column(table, sa.Column("executor", sa.String(length=16), server_default="workers", nullable=False))
    op.create_table(
        "executor_settings",
        sa.Column("executor", sa.String(length=16), nullable=False),
        sa.Column("settings", columns.Json, nullable=False),
        sa.PrimaryKeyConstraint("executor", name=op.f("pk_executor_settings")),
    )
    op.create_table(
        "submissions",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("executor", sa.String(length=16), nullable=False),
        sa.Column("handle", sa.String(length=100), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("scheduler_state", sa.String(length=50), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("place", sa.Integer(), nullable=True),
        sa.Column("submitted_at", TIME, nullable=False),
        sa.Column("unknown_since", TIME, nullable=True),
        sa.Column("ended_at", TIME, nullable=True),
        sa.Column("core_seconds", columns.Number, nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_submissions_run_id_runs"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sa.UniqueConstraint("run_id", "attempt", name=op.f("uq_submissions_run_id_attempt")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_submissions_state", "submissions", ["state"])


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("submissions")
    op.drop_table("executor_settings")
    for table in ("runs", "workers"):
        op.drop_column(table, "executor")
