"""Practices of reviews

Revision ID: 0043
Revises: 0042
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "practices",
        sa.Column("replay_id", ID, nullable=False),
        sa.Column("options", columns.Json, nullable=False),
        sa.Column("plan", columns.Json, nullable=True),
        sa.Column("arms", columns.Json, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("document", columns.Json, nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_practices_job_id_jobs"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["replay_id"], ["replays.id"], name=op.f("fk_practices_replay_id_replays"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_practices")),
        sa.UniqueConstraint("job_id", name=op.f("uq_practices_job_id")),
        sa.UniqueConstraint("replay_id", name=op.f("uq_practices_replay_id")),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("practices")
