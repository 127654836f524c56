"""Pinned checkpoints

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add pins to checkpoints."""
    with op.batch_alter_table("checkpoints", schema=None) as batch_op:
        batch_op.add_column(sa.Column("pinned", sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    """Undo the migration."""
    with op.batch_alter_table("checkpoints", schema=None) as batch_op:
        batch_op.drop_column("pinned")
