"""Roles

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the roles of attempts."""
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.add_column(sa.Column("roles", columns.Json, nullable=True))


def downgrade() -> None:
    """Undo the migration."""
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.drop_column("roles")
