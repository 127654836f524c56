"""Reports

Revision ID: 0014
Revises: 0013
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table of reports."""
    op.create_table(
        "reports",
        sa.Column("id", ID, nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("blocks", columns.Json, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("share_token", sa.String(length=64), nullable=True),
        sa.Column("created_at", columns.UtcDateTime(), nullable=False),
        sa.Column("updated_at", columns.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reports")),
        sa.UniqueConstraint("share_token", name=op.f("uq_reports_share_token")),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("reports")
