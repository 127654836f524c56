"""Idempotency keys

Revision ID: 0020
Revises: 0019
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the keys of requests that created something."""
    op.create_table(
        "idempotency_keys",
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.Column("response", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("key"),
    )
    with op.batch_alter_table("idempotency_keys", schema=None) as batch_op:
        batch_op.create_index("ix_idempotency_keys_created_at", ["created_at"])


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("idempotency_keys")
