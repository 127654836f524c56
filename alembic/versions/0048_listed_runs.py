"""An index that lists the runs of some projects in their order

Revision ID: 0048
Revises: 0047
"""

from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the project to the index."""
    op.drop_index("ix_runs_listed", "runs")
    op.create_index("ix_runs_listed", "runs", ["archived_at", "created_at", "project_id"])


def downgrade() -> None:
    """Undo the migration."""
    op.drop_index("ix_runs_listed", "runs")
    op.create_index("ix_runs_listed", "runs", ["archived_at", "created_at"])
