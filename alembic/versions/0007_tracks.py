"""Requested replays, with screens and tracks

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
COLUMNS = ("seen_file_id", "track_file_id")


def upgrade() -> None:
    """Let jobs make replays, and add the files of screens and tracks."""
    with op.batch_alter_table("videos", schema=None, table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        for name in COLUMNS:
            batch_op.add_column(sa.Column(name, ID, nullable=True))
            batch_op.create_foreign_key(op.f(f"fk_videos_{name}"), "files", [name], ["id"], ondelete="SET NULL")
            batch_op.create_index(op.f(f"ix_videos_{name}"), [name])
        batch_op.add_column(sa.Column("errand_id", ID, nullable=True))
        batch_op.create_foreign_key(op.f("fk_videos_errand_id"), "errands", ["errand_id"], ["id"], ondelete="CASCADE")
        batch_op.create_unique_constraint(op.f("uq_videos_errand_id"), ["errand_id"])


def downgrade() -> None:
    """Undo the migration."""
    with op.batch_alter_table("videos", schema=None, table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.drop_constraint(op.f("uq_videos_errand_id"), type_="unique")
        batch_op.drop_constraint(op.f("fk_videos_errand_id"), type_="foreignkey")
        batch_op.drop_column("errand_id")
        for name in COLUMNS:
            batch_op.drop_index(op.f(f"ix_videos_{name}"))
            batch_op.drop_constraint(op.f(f"fk_videos_{name}"), type_="foreignkey")
            batch_op.drop_column(name)
