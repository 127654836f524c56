"""When the person of a session last proved who they are

Revision ID: 0050
Revises: 0049
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. People with older sessions prove it again when it is needed."""
    op.add_column("sign_in_sessions", sa.Column("proved_at", columns.UtcDateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Undo the migration."""
    op.drop_column("sign_in_sessions", "proved_at")
