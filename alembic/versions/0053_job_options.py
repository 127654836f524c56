"""Options of a run's job on a scheduler, and full disks of workers

Revision ID: 0053
Revises: 0052
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database.columns import Json

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    op.add_column("runs", sa.Column("job_options", Json, nullable=False, server_default="[]"))
    op.add_column("workers", sa.Column("low_disk_megabytes", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Undo the migration."""
    op.drop_column("workers", "low_disk_megabytes")
    op.drop_column("runs", "job_options")
