"""Changes of the configurations of runs

Revision ID: 0027
Revises: 0026
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add the table of changes."""
    op.create_table(
        "run_changes",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("fields", columns.Json, nullable=False),
        sa.Column("previous", columns.Json, nullable=False),
        sa.Column("requested_at", TIME, nullable=False),
        sa.Column("requested_by", sa.String(length=100), nullable=True),
        sa.Column("applied_at", TIME, nullable=True),
        sa.Column("applied_step", sa.BigInteger(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_changes_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_run_changes")),
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("run_changes")
