"""Options of a run's job on a scheduler

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
    """Add the column."""
    op.add_column("runs", sa.Column("job_options", Json, nullable=False, server_default="[]"))


def downgrade() -> None:
    """Undo the migration."""
    op.drop_column("runs", "job_options")
