"""Job arrays, the hours of jobs, and default executors

Revision ID: 0046
Revises: 0045
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add the columns."""
    op.add_column("submissions", sa.Column("array_mark", sa.String(length=200), nullable=True))
    for name in ("task", "cores", "gpus"):
        op.add_column("submissions", sa.Column(name, sa.Integer(), nullable=True))
    op.add_column("submissions", sa.Column("started_at", TIME, nullable=True))
    op.add_column("submissions", sa.Column("gpu_seconds", columns.Number, nullable=True))
    for name in ("core_hours", "gpu_hours"):
        op.add_column("runs", sa.Column(name, columns.Number, nullable=True))
    for table in ("installation", "projects"):
        op.add_column(table, sa.Column("executor", sa.String(length=16), nullable=True))


def downgrade() -> None:
    """Undo the migration."""
    for table in ("projects", "installation"):
        op.drop_column(table, "executor")
    for name in ("gpu_hours", "core_hours"):
        op.drop_column("runs", name)
    for name in ("gpu_seconds", "started_at", "gpus", "cores", "task", "array_mark"):
        op.drop_column("submissions", name)
