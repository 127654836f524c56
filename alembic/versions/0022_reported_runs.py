"""Reported runs and their media

Revision ID: 0022
Revises: 0021
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INCREASING = {"sqlite_autoincrement": True}


def upgrade() -> None:
    """Add the origin of runs, the writers of reported runs, and their media."""
    with op.batch_alter_table("runs", schema=None, table_kwargs=INCREASING) as batch_op:
        batch_op.add_column(sa.Column("origin", sa.String(length=16), server_default="trained", nullable=False))
        batch_op.add_column(sa.Column("origin_label", sa.String(length=50), nullable=True))
        batch_op.add_column(sa.Column("reported_key", sa.String(length=64), nullable=True))
        batch_op.add_column(sa.Column("project", sa.String(length=100), nullable=True))
        batch_op.alter_column("algorithm", existing_type=sa.String(32), type_=sa.String(100), existing_nullable=False)
        batch_op.alter_column("queue", existing_type=sa.String(8), nullable=True)
        batch_op.alter_column("total_steps", existing_type=sa.BigInteger(), nullable=True)
        batch_op.create_unique_constraint(op.f("uq_runs_reported_key"), ["reported_key"])
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.alter_column("worker", existing_type=sa.String(100), nullable=True)
        batch_op.add_column(sa.Column("writer", sa.String(length=64), nullable=True))
        batch_op.add_column(sa.Column("joins", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("problems", columns.Json, nullable=True))
        batch_op.create_unique_constraint(op.f("uq_attempts_run_id_writer"), ["run_id", "writer"])
    with op.batch_alter_table("metric_series", schema=None) as batch_op:
        batch_op.alter_column("name", existing_type=sa.String(120), type_=sa.String(200), existing_nullable=False)
    op.create_table(
        "media",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("time", columns.UtcDateTime(timezone=True), nullable=False),
        sa.Column("file_id", ID, nullable=True),
        sa.Column("data", columns.Json, nullable=True),
        sa.Column("caption", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name=op.f("fk_media_file_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_media_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_media")),
        **INCREASING,
    )
    with op.batch_alter_table("media", schema=None) as batch_op:
        batch_op.create_index("ix_media_listed", ["run_id", "name", "step", "id"])
        batch_op.create_index(op.f("ix_media_file_id"), ["file_id"])


def downgrade() -> None:
    """Undo the migration. Reported runs become runs of an unknown trainer."""
    op.drop_table("media")
    op.execute("UPDATE runs SET total_steps = step WHERE total_steps IS NULL")
    op.execute("UPDATE runs SET queue = 'cpu' WHERE queue IS NULL")
    op.execute("UPDATE attempts SET worker = '' WHERE worker IS NULL")
    with op.batch_alter_table("metric_series", schema=None) as batch_op:
        batch_op.alter_column(
            "name",
            existing_type=sa.String(200),
            type_=sa.String(120),
            existing_nullable=False,
            postgresql_using="substr(name, 1, 120)",
        )
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.drop_constraint(op.f("uq_attempts_run_id_writer"), type_="unique")
        for name in ("problems", "joins", "writer"):
            batch_op.drop_column(name)
        batch_op.alter_column("worker", existing_type=sa.String(100), nullable=False)
    with op.batch_alter_table("runs", schema=None, table_kwargs=INCREASING) as batch_op:
        batch_op.drop_constraint(op.f("uq_runs_reported_key"), type_="unique")
        for name in ("project", "reported_key", "origin_label", "origin"):
            batch_op.drop_column(name)
        batch_op.alter_column("total_steps", existing_type=sa.BigInteger(), nullable=False)
        batch_op.alter_column("queue", existing_type=sa.String(8), nullable=False)
        batch_op.alter_column(
            "algorithm",
            existing_type=sa.String(100),
            type_=sa.String(32),
            existing_nullable=False,
            postgresql_using="substr(algorithm, 1, 32)",
        )
