"""Saved views of the runs of a project

Revision ID: 0029
Revises: 0028
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add the table of views."""
    op.create_table(
        "views",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("name_key", sa.String(length=300), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_views_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_views")),
        sa.UniqueConstraint("project_id", "name_key", name=op.f("uq_views_project_id_name_key")),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("views")
