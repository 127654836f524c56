"""Futures of replays

Revision ID: 0033
Revises: 0032
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "futures",
        sa.Column("id", ID, nullable=False),
        sa.Column("replay_id", ID, nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("options", columns.Json, nullable=False),
        sa.Column("document", columns.Json, nullable=True),
        sa.ForeignKeyConstraint(
            ["replay_id"], ["replays.id"], name=op.f("fk_futures_replay_id_replays"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_futures_job_id_jobs"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_futures")),
        sa.UniqueConstraint("job_id", name=op.f("uq_futures_job_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_futures_replay_id"), "futures", ["replay_id"])


def downgrade() -> None:
    """Undo the migration."""
    op.drop_index(op.f("ix_futures_replay_id"), "futures")
    op.drop_table("futures")
