"""Plug-ins of workers, and those that runs and jobs need

Revision ID: 0032
Revises: 0031
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    for table in ("runs", "jobs"):
        op.add_column(table, sa.Column("needed_plugins", sa.String(500), nullable=False, server_default=""))
    op.add_column("workers", sa.Column("plugins", columns.Json, nullable=False, server_default="[]"))


def downgrade() -> None:
    """Undo the migration."""
    op.drop_column("workers", "plugins")
    for table in ("jobs", "runs"):
        op.drop_column(table, "needed_plugins")
