"""Rules say whether the alerts of a kind ring the bell

Revision ID: 0038
Revises: 0037
"""

import sqlalchemy as sa

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. It is empty for the default of each kind."""
    op.add_column("alert_rules", sa.Column("rings", sa.Boolean(), nullable=True))


def downgrade() -> None:
    """Undo the migration."""
    op.drop_column("alert_rules", "rings")
