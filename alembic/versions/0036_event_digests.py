"""Digests of stored events

Revision ID: 0036
Revises: 0035
"""

import sqlalchemy as sa

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table and the number of conflicts. Events of earlier versions have no digests."""
    op.create_table(
        "event_digests",
        sa.Column("id", ID, primary_key=True),
        sa.Column("run_id", ID, sa.ForeignKey("runs.id", ondelete="CASCADE")),
        sa.Column("job_id", ID, sa.ForeignKey("jobs.id", ondelete="CASCADE")),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("first_seq", sa.Integer(), nullable=False),
        sa.Column("last_seq", sa.Integer(), nullable=False),
        sa.Column("digests", sa.LargeBinary(), nullable=False),
    )
    op.create_index("ix_event_digests_run", "event_digests", ["run_id", "attempt", "last_seq"])
    op.create_index("ix_event_digests_job", "event_digests", ["job_id", "attempt", "last_seq"])
    with op.batch_alter_table("attempts") as batch_op:
        batch_op.add_column(sa.Column("conflicts", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    """Undo the migration."""
    with op.batch_alter_table("attempts") as batch_op:
        batch_op.drop_column("conflicts")
    op.drop_table("event_digests")
