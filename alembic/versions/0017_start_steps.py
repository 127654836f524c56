"""Start steps

Revision ID: 0017
Revises: 0016
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the start steps of attempts."""
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.add_column(sa.Column("start_steps", columns.Json, nullable=True))
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.add_column(sa.Column("queued_at", columns.UtcDateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Undo the migration."""
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.drop_column("queued_at")
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.drop_column("start_steps")
