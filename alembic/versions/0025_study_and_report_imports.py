"""Studies and reports imported from archive files

Revision ID: 0025
Revises: 0024
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
IMPORTED = {"study_imports": ("study_id", "studies"), "report_imports": ("report_id", "reports")}


def upgrade() -> None:
    """Add the tables of imported studies and reports. Let several studies have the same run."""
    for table, (column, target) in IMPORTED.items():
        op.create_table(
            table,
            sa.Column(column, ID, autoincrement=False, nullable=False),
            sa.Column("installation", sa.String(length=32), nullable=False),
            sa.Column("source_id", sa.BigInteger(), nullable=False),
            sa.Column("content_sha256", sa.String(length=64), nullable=False),
            sa.Column("imported_at", columns.UtcDateTime(timezone=True), nullable=False),
            sa.ForeignKeyConstraint([column], [f"{target}.id"], name=op.f(f"fk_{table}_{column}"), ondelete="CASCADE"),
            sa.PrimaryKeyConstraint(column, name=op.f(f"pk_{table}")),
        )
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.create_index(f"ix_{table}_source", ["installation", "source_id"])
    with op.batch_alter_table("study_runs", schema=None) as batch_op:
        batch_op.drop_constraint(op.f("uq_study_runs_run_id"), type_="unique")
        batch_op.create_index(op.f("ix_study_runs_run_id"), ["run_id"])


def downgrade() -> None:
    """Undo the migration. A run stays in its first study only, and imported studies and reports stay."""
    op.execute(
        "DELETE FROM study_runs WHERE EXISTS (SELECT 1 FROM study_runs AS other "
        "WHERE other.run_id = study_runs.run_id AND other.study_id < study_runs.study_id)"
    )
    with op.batch_alter_table("study_runs", schema=None) as batch_op:
        batch_op.drop_index(op.f("ix_study_runs_run_id"))
        batch_op.create_unique_constraint(op.f("uq_study_runs_run_id"), ["run_id"])
    for table in IMPORTED:
        op.drop_table(table)
