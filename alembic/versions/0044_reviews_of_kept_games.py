"""Reviews of kept games

Revision ID: 0044
Revises: 0043
"""

import sqlalchemy as sa

from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Let a review have a kept game instead of a replay."""
    with op.batch_alter_table("reviews") as batch_op:
        batch_op.alter_column("replay_id", existing_type=ID, nullable=True)
        batch_op.add_column(sa.Column("kept_game_id", ID, nullable=True))
        batch_op.create_foreign_key(
            batch_op.f("fk_reviews_kept_game_id_kept_games"),
            "kept_games",
            ["kept_game_id"],
            ["id"],
            ondelete="CASCADE",
        )
        batch_op.create_unique_constraint(batch_op.f("uq_reviews_kept_game_id"), ["kept_game_id"])


def downgrade() -> None:
    """Undo the migration. Reviews of kept games are deleted, with their jobs."""
    op.execute("DELETE FROM jobs WHERE id IN (SELECT job_id FROM reviews WHERE replay_id IS NULL)")
    op.execute("DELETE FROM reviews WHERE replay_id IS NULL")
    with op.batch_alter_table("reviews") as batch_op:
        batch_op.drop_constraint(batch_op.f("uq_reviews_kept_game_id"), type_="unique")
        batch_op.drop_constraint(batch_op.f("fk_reviews_kept_game_id_kept_games"), type_="foreignkey")
        batch_op.drop_column("kept_game_id")
        batch_op.alter_column("replay_id", existing_type=ID, nullable=False)
