"""Panels of merged projects

Revision ID: 0030
Revises: 0029
"""

import sqlalchemy as sa

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table of moved panels."""
    op.create_table(
        "moved_panels",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("into_id", ID, nullable=False),
        sa.Column("into_key", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["into_id"], ["projects.id"], name=op.f("fk_moved_panels_into_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("project_id", "key", name=op.f("pk_moved_panels")),
    )
    op.create_index(op.f("ix_moved_panels_into_id"), "moved_panels", ["into_id"])


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("moved_panels")
