"""Kept games that continue a replay

Revision ID: 0035
Revises: 0034
"""

import sqlalchemy as sa

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INCREASING = {"sqlite_autoincrement": True}
COLUMNS = {
    "replay_id": ID,
    "decision": sa.Integer(),
    "score_before": sa.Double(),
    "frames_before": sa.Integer(),
    "agent_frames": sa.Integer(),
}


def upgrade() -> None:
    """Add the columns."""
    with op.batch_alter_table("kept_games", table_kwargs=INCREASING) as batch_op:
        for name, kind in COLUMNS.items():
            batch_op.add_column(sa.Column(name, kind, nullable=True))
        batch_op.create_foreign_key(
            batch_op.f("fk_kept_games_replay_id_replays"), "replays", ["replay_id"], ["id"], ondelete="SET NULL"
        )
        batch_op.create_index(batch_op.f("ix_kept_games_replay_id"), ["replay_id"])


def downgrade() -> None:
    """Undo the migration. Kept games that continue a replay are deleted, since earlier versions cannot show them."""
    kept = sa.table("kept_games", sa.column("decision"))
    op.execute(kept.delete().where(kept.c.decision.is_not(None)))
    with op.batch_alter_table("kept_games", table_kwargs=INCREASING) as batch_op:
        batch_op.drop_index(batch_op.f("ix_kept_games_replay_id"))
        batch_op.drop_constraint(batch_op.f("fk_kept_games_replay_id_replays"), type_="foreignkey")
        for name in COLUMNS:
            batch_op.drop_column(name)
