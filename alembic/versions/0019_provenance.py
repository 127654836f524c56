"""Provenance of attempts

Revision ID: 0019
Revises: 0018
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

HASHES = ("packages_sha256", "diff_sha256")


def upgrade() -> None:
    """Add the provenance of attempts, and the table of its large parts."""
    op.create_table(
        "provenance_documents",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_provenance_documents")),
    )
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.add_column(sa.Column("provenance", columns.Json, nullable=True))
        for name in HASHES:
            batch_op.add_column(sa.Column(name, sa.String(length=64), nullable=True))
            batch_op.create_foreign_key(op.f(f"fk_attempts_{name}"), "provenance_documents", [name], ["sha256"])
            batch_op.create_index(op.f(f"ix_attempts_{name}"), [name])


def downgrade() -> None:
    """Undo the migration."""
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        for name in HASHES:
            batch_op.drop_index(op.f(f"ix_attempts_{name}"))
            batch_op.drop_constraint(op.f(f"fk_attempts_{name}"), type_="foreignkey")
            batch_op.drop_column(name)
        batch_op.drop_column("provenance")
    op.drop_table("provenance_documents")
