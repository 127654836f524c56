"""Runs imported from archive files

Revision ID: 0023
Revises: 0022
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table of imported runs."""
    op.create_table(
        "archive_imports",
        sa.Column("run_id", ID, autoincrement=False, nullable=False),
        sa.Column("installation", sa.String(length=32), nullable=False),
        sa.Column("source_id", sa.BigInteger(), nullable=False),
        sa.Column("content_sha256", sa.String(length=64), nullable=False),
        sa.Column("imported_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_archive_imports_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_archive_imports")),
    )
    with op.batch_alter_table("archive_imports", schema=None) as batch_op:
        batch_op.create_index("ix_archive_imports_source", ["installation", "source_id"])


def downgrade() -> None:
    """Undo the migration. Imported runs stay."""
    op.drop_table("archive_imports")
