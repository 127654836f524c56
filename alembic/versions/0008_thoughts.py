"""Pinned replays and saliency

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add pins and saliency to replays."""
    with op.batch_alter_table("videos", schema=None, table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.add_column(sa.Column("pinned", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("saliency_errand_id", ID, nullable=True))
        batch_op.create_foreign_key(
            op.f("fk_videos_saliency_errand_id"), "errands", ["saliency_errand_id"], ["id"], ondelete="SET NULL"
        )
        batch_op.create_index(op.f("ix_videos_saliency_errand_id"), ["saliency_errand_id"])


def downgrade() -> None:
    """Undo the migration."""
    with op.batch_alter_table("videos", schema=None, table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.drop_index(op.f("ix_videos_saliency_errand_id"))
        batch_op.drop_constraint(op.f("fk_videos_saliency_errand_id"), type_="foreignkey")
        batch_op.drop_column("saliency_errand_id")
        batch_op.drop_column("pinned")
