"""Studies with their points and runs

Revision ID: 0010
Revises: 0009
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables of studies."""
    op.create_table(
        "studies",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("specification", columns.Json, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("state_reason", sa.Text(), nullable=True),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.Column("started_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.Column("finished_at", columns.UtcDateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_studies")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_studies_state"), "studies", ["state"])
    op.create_table(
        "study_points",
        sa.Column("study_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("draw", columns.Numbers(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_study_points_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("study_id", "number", name=op.f("pk_study_points")),
    )
    op.create_table(
        "study_runs",
        sa.Column("study_id", ID, nullable=False),
        sa.Column("point", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seed", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_study_runs_study_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("study_id", "point", "seed", name=op.f("pk_study_runs")),
        sa.UniqueConstraint("run_id", name=op.f("uq_study_runs_run_id")),
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("study_runs")
    op.drop_table("study_points")
    op.drop_table("studies")
