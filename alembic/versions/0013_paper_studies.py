"""Studies of papers

Revision ID: 0013
Revises: 0012
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table of studies that were started from a paper."""
    op.create_table(
        "paper_studies",
        sa.Column("study_id", ID, autoincrement=False, nullable=False),
        sa.Column("paper", sa.String(length=60), nullable=False),
        sa.Column("item", sa.String(length=60), nullable=False),
        sa.Column("part", sa.String(length=60), nullable=False),
        sa.Column("share", columns.Number(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_paper_studies_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_paper_studies")),
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("paper_studies")
