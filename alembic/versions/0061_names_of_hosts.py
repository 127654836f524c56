"""Names that people give hosts

Revision ID: 0061
Revises: 0060
"""

import sqlalchemy as sa

from alembic import op

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("workers", sa.Column("host_name", sa.String(length=100), server_default="", nullable=False))


def downgrade() -> None:
    """Undo the migration."""
    op.drop_column("workers", "host_name")
