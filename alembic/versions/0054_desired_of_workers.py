"""Whether people want a worker to take work

Revision ID: 0054
Revises: 0053
"""

import sqlalchemy as sa

from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("workers", sa.Column("desired", sa.String(length=5), nullable=False, server_default="work"))


def downgrade() -> None:
    """Undo the migration."""
    op.drop_column("workers", "desired")
