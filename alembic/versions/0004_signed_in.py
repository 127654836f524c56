"""Sessions

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table of sessions."""
    op.create_table(
        "signed_in",
        sa.Column("proof", sa.String(length=64), nullable=False),
        sa.Column("ends_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("proof", name=op.f("pk_signed_in")),
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("signed_in")
