"""Measurements of speed

Revision ID: 0016
Revises: 0015
"""

import sqlalchemy as sa

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table of measurements."""
    op.create_table(
        "measurements",
        sa.Column("run_id", ID, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_measurements_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_measurements")),
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("measurements")
