"""Errands and files without a run, for people who play

Revision ID: 0011
Revises: 0010
"""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from alembic.operations import BatchOperations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


@contextmanager
def _anew(table: str) -> Iterator[BatchOperations]:
    """Alter a table. SQLite recreates it, and must not reuse the ids of deleted rows."""
    connection = op.get_bind()
    sqlite, named = connection.dialect.name == "sqlite", {"name": table}
    query = sa.text("SELECT seq FROM sqlite_sequence WHERE name = :name")
    last = connection.scalar(query, named) if sqlite else None
    with op.batch_alter_table(table, schema=None, table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        yield batch_op
    if last is not None:
        connection.execute(sa.text("DELETE FROM sqlite_sequence WHERE name = :name"), named)
        store = sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)")
        connection.execute(store, {**named, "last": last})


def upgrade() -> None:
    """Make the run of errands and files optional."""
    with _anew("errands") as batch_op:
        batch_op.alter_column("run_id", existing_type=ID, nullable=True)
        batch_op.alter_column("checkpoint_id", existing_type=sa.BigInteger(), nullable=True)
    with _anew("files") as batch_op:
        batch_op.alter_column("run_id", existing_type=ID, nullable=True)


def downgrade() -> None:
    """Undo the migration, and delete rows without a run."""
    op.execute("DELETE FROM files WHERE run_id IS NULL")
    op.execute("DELETE FROM errands WHERE run_id IS NULL OR checkpoint_id IS NULL")
    with _anew("files") as batch_op:
        batch_op.alter_column("run_id", existing_type=ID, nullable=False)
    with _anew("errands") as batch_op:
        batch_op.alter_column("checkpoint_id", existing_type=sa.BigInteger(), nullable=False)
        batch_op.alter_column("run_id", existing_type=ID, nullable=False)
