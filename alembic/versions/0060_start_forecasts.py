"""Forecasts of starts, which are compared with what happened

Revision ID: 0060
Revises: 0059
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add the table, and the index that finds the runs that started meanwhile."""
    op.create_table(
        "start_forecasts",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("queue", sa.String(length=8), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("queued_at", TIME, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.Column("runs_ahead", sa.Integer(), nullable=False),
        *(sa.Column(name, TIME, nullable=True) for name in ("expected_at", "by_at", "started_at")),
        sa.Column("is_waiting", sa.Boolean(), nullable=False),
        sa.Column("work_added", sa.Boolean(), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_start_forecasts_run_id_runs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_start_forecasts")),
        sa.UniqueConstraint("run_id", "queued_at", name=op.f("uq_start_forecasts_run_id_queued_at")),
    )
    for name in ("made_at", "is_waiting"):
        op.create_index(op.f(f"ix_start_forecasts_{name}"), "start_forecasts", [name])
    op.create_index("ix_attempts_claimed_at", "attempts", ["claimed_at"])


def downgrade() -> None:
    """Undo the migration."""
    op.drop_index("ix_attempts_claimed_at", table_name="attempts")
    op.drop_table("start_forecasts")
