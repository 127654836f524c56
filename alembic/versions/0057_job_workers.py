"""Jobs of schedulers whose workers do jobs, such as evaluations

Revision ID: 0057
Revises: 0056
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "job_workers",
        sa.Column("id", ID, nullable=False),
        sa.Column("executor", sa.String(length=16), nullable=False),
        sa.Column("handle", sa.String(length=100), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("scheduler_state", sa.String(length=50), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("was_used", sa.Boolean(), nullable=False),
        sa.Column("submitted_at", TIME, nullable=False),
        sa.Column("unknown_since", TIME, nullable=True),
        sa.Column("ended_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_workers")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_job_workers_executor_state", "job_workers", ["executor", "state"])


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("job_workers")
