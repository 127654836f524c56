"""Kept games

Revision ID: 0012
Revises: 0011
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table of kept games."""
    op.create_table(
        "kept_games",
        sa.Column("id", ID, nullable=False),
        sa.Column("env", sa.String(length=100), nullable=False),
        sa.Column("errand_id", ID, nullable=False),
        sa.Column("file_id", ID, nullable=True),
        sa.Column("poster_file_id", ID, nullable=True),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("frames", sa.Integer(), nullable=False),
        sa.Column("score", columns.Number(), nullable=False),
        sa.Column("ended", sa.String(length=16), nullable=False),
        sa.Column("emulator", sa.String(length=100), nullable=False),
        sa.Column("start_points", sa.Integer(), nullable=False),
        sa.Column("actions", columns.Json, nullable=False),
        sa.Column("screens", columns.Json, nullable=False),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["errand_id"], ["errands.id"], name=op.f("fk_kept_games_errand_id")),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name=op.f("fk_kept_games_file_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(
            ["poster_file_id"], ["files.id"], name=op.f("fk_kept_games_poster_file_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_kept_games")),
        sa.UniqueConstraint("errand_id", name=op.f("uq_kept_games_errand_id")),
        sqlite_autoincrement=True,
    )
    for name in ("env", "file_id", "poster_file_id"):
        op.create_index(op.f(f"ix_kept_games_{name}"), "kept_games", [name])


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("kept_games")
