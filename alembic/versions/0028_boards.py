"""Boards of projects

Revision ID: 0028
Revises: 0027
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add the table of boards."""
    op.create_table(
        "boards",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("panels", columns.Json, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_boards_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_boards")),
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("boards")
