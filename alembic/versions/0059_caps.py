"""Caps for the runs and hours of people and projects

Revision ID: 0059
Revises: 0058
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "caps",
        sa.Column("id", ID, nullable=False),
        sa.Column("person_id", ID, nullable=True),
        sa.Column("project_id", ID, nullable=True),
        sa.Column("max_runs", sa.Integer(), nullable=True),
        sa.Column("core_hours", columns.Number(), nullable=True),
        sa.Column("gpu_hours", columns.Number(), nullable=True),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.id"], name=op.f("fk_caps_person_id_people"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_caps_project_id_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_caps")),
        sa.UniqueConstraint("person_id", name=op.f("uq_caps_person_id")),
        sa.UniqueConstraint("project_id", name=op.f("uq_caps_project_id")),
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_table("caps")
