"""Needs of runs, the GPUs and labels of hosts, and interruptible runs

Revision ID: 0058
Revises: 0057
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    op.add_column("runs", sa.Column("needs", sa.String(length=500), server_default="", nullable=False))
    op.add_column("runs", sa.Column("gpu", sa.Integer(), nullable=True))
    op.add_column("runs", sa.Column("interruptible", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("runs", sa.Column("interruptions", sa.Integer(), server_default="0", nullable=False))
    op.add_column("runs", sa.Column("interrupted_for", sa.BigInteger(), nullable=True))
    for name in ("gpus", "labels"):
        op.add_column("workers", sa.Column(name, columns.Json, server_default="[]", nullable=False))


def downgrade() -> None:
    """Undo the migration."""
    for name in ("gpus", "labels"):
        op.drop_column("workers", name)
    for name in ("interrupted_for", "interruptions", "interruptible", "gpu", "needs"):
        op.drop_column("runs", name)
