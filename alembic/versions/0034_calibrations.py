"""Calibrations

Revision ID: 0034
Revises: 0033
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "calibrations",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("checkpoint_id", ID, nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("frames", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("protocol", sa.String(50), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("origin", sa.String(16), nullable=False),
        sa.Column("options", columns.Json, nullable=False),
        sa.Column("document", columns.Json, nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_calibrations_run_id_runs"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_calibrations_job_id_jobs"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["checkpoint_id"],
            ["checkpoints.id"],
            name=op.f("fk_calibrations_checkpoint_id_checkpoints"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_calibrations")),
        sa.UniqueConstraint("job_id", name=op.f("uq_calibrations_job_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_calibrations_run_id_id", "calibrations", ["run_id", "id"])
    op.create_index(op.f("ix_calibrations_checkpoint_id"), "calibrations", ["checkpoint_id"])


def downgrade() -> None:
    """Undo the migration."""
    op.execute("DELETE FROM jobs WHERE kind = 'calibration'")
    op.drop_index(op.f("ix_calibrations_checkpoint_id"), "calibrations")
    op.drop_index("ix_calibrations_run_id_id", "calibrations")
    op.drop_table("calibrations")
