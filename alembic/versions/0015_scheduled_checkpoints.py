"""Scheduled checkpoints

Revision ID: 0015
Revises: 0014
"""

import sqlalchemy as sa

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Mark the checkpoints that have scheduled evaluations."""
    with op.batch_alter_table("checkpoints", schema=None) as batch_op:
        batch_op.add_column(sa.Column("scheduled", sa.Boolean(), server_default=sa.false(), nullable=False))
    by_schedule = "SELECT checkpoint_id FROM evaluations WHERE origin = 'schedule'"
    op.execute(f"UPDATE checkpoints SET scheduled = true WHERE id IN ({by_schedule})")  # noqa: S608


def downgrade() -> None:
    """Undo the migration."""
    with op.batch_alter_table("checkpoints", schema=None) as batch_op:
        batch_op.drop_column("scheduled")
