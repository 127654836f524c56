"""Errands and their evaluations

Revision ID: 0006
Revises: 0005
"""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from alembic.operations import BatchOperations

from alembic import op
from backend.database import columns

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


@contextmanager
def _files_anew() -> Iterator[BatchOperations]:
    """Alter the table of files. SQLite recreates it, and must not reuse the ids of deleted files."""
    connection = op.get_bind()
    sqlite = connection.dialect.name == "sqlite"
    last = connection.scalar(sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'files'")) if sqlite else None
    with op.batch_alter_table("files", schema=None, table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        yield batch_op
    if last is not None:
        connection.execute(sa.text("DELETE FROM sqlite_sequence WHERE name = 'files'"))
        connection.execute(sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES ('files', :last)"), {"last": last})


def upgrade() -> None:
    """Create the table of errands, and replace the unused table of evaluations."""
    op.create_table(
        "errands",
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("checkpoint_id", sa.BigInteger(), nullable=False),
        sa.Column("parameters", columns.Json, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("desired", sa.String(length=16), nullable=False),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("traceback", sa.Text(), nullable=True),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("last_seq", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("worker", sa.String(length=100), nullable=True),
        sa.Column("lease_expires_at", columns.UtcDateTime(timezone=True), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.Column("started_at", columns.UtcDateTime(timezone=True), nullable=True),
        sa.Column("finished_at", columns.UtcDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_errands_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_errands")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_errands_waiting", "errands", ["state", "created_at"])
    op.create_index(op.f("ix_errands_run_id"), "errands", ["run_id"])
    op.drop_table("evaluations")
    op.create_table(
        "evaluations",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("errand_id", ID, nullable=False),
        sa.Column("checkpoint_id", ID, nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("frames", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("protocol", sa.String(length=50), nullable=False),
        sa.Column("acting", columns.Json, nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("document", columns.Json, nullable=True),
        sa.Column("mean", columns.Number(), nullable=True),
        sa.ForeignKeyConstraint(
            ["checkpoint_id"], ["checkpoints.id"], name=op.f("fk_evaluations_checkpoint_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["errand_id"], ["errands.id"], name=op.f("fk_evaluations_errand_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_evaluations_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluations")),
        sa.UniqueConstraint("errand_id", name=op.f("uq_evaluations_errand_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_evaluations_checkpoint_id"), "evaluations", ["checkpoint_id"])
    op.create_index("ix_evaluations_run_id_id", "evaluations", ["run_id", "id"])
    with _files_anew() as batch_op:
        batch_op.add_column(sa.Column("errand_id", ID, nullable=True))
        batch_op.create_foreign_key(op.f("fk_files_errand_id"), "errands", ["errand_id"], ["id"], ondelete="CASCADE")
        batch_op.drop_constraint("uq_files_run_id_attempt_path", type_="unique")
    for owner, where in (("run_id", "errand_id IS NULL"), ("errand_id", "errand_id IS NOT NULL")):
        op.create_index(
            f"uq_files_{owner}_attempt_path",
            "files",
            [owner, "attempt", "path"],
            unique=True,
            sqlite_where=sa.text(where),
            postgresql_where=sa.text(where),
        )
    with op.batch_alter_table("workers", schema=None) as batch_op:
        batch_op.add_column(sa.Column("errand_slots", sa.Integer(), server_default="0", nullable=False))


def downgrade() -> None:
    """Undo the migration."""
    with op.batch_alter_table("workers", schema=None) as batch_op:
        batch_op.drop_column("errand_slots")
    op.drop_index("uq_files_errand_id_attempt_path", "files")
    op.drop_index("uq_files_run_id_attempt_path", "files")
    with _files_anew() as batch_op:
        batch_op.drop_constraint(op.f("fk_files_errand_id"), type_="foreignkey")
        batch_op.drop_column("errand_id")
        batch_op.create_unique_constraint("uq_files_run_id_attempt_path", ["run_id", "attempt", "path"])
    op.drop_table("evaluations")
    op.drop_table("errands")
    op.create_table(
        "evaluations",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("frames", sa.BigInteger(), nullable=False),
        sa.Column("returns", columns.Numbers(), nullable=False),
        sa.Column("return_mean", columns.Number(), nullable=True),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_evaluations_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluations")),
        sa.UniqueConstraint("run_id", "attempt", "seq", name=op.f("uq_evaluations_run_id_attempt_seq")),
        sqlite_autoincrement=True,
    )
