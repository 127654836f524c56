"""Rename errands to jobs and videos to replays

Revision ID: 0018
Revises: 0017
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from alembic.operations import BatchOperations

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

Rename = Callable[[str], str]

TABLES = {"errands": "jobs", "videos": "replays"}
COLUMNS = [
    ("files", "errand_id", "job_id"),
    ("evaluations", "errand_id", "job_id"),
    ("kept_games", "errand_id", "job_id"),
    ("replays", "errand_id", "job_id"),
    ("replays", "saliency_errand_id", "saliency_job_id"),
    ("workers", "errand_slots", "job_slots"),
]
# Every table with a constraint or an index that has an old term in its name.
RENAMED_TABLES = ("jobs", "replays", "files", "evaluations", "kept_games")


def upgrade() -> None:
    """Rename errands to jobs and videos to replays."""
    for old, new in TABLES.items():
        op.rename_table(old, new)
    for table, old, new in COLUMNS:
        op.execute(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")
    _rename_all(lambda name: name.replace("errand", "job").replace("videos", "replays"))


def downgrade() -> None:
    """Restore the earlier names."""
    _rename_all(lambda name: name.replace("job", "errand").replace("replays", "videos"))
    for table, old, new in COLUMNS:
        op.execute(f"ALTER TABLE {table} RENAME COLUMN {new} TO {old}")
    for old, new in TABLES.items():
        op.rename_table(new, old)


def _rename_all(rename: Rename) -> None:
    """Rename constraints, indexes and sequences, which keep their names when a table is renamed."""
    postgresql = op.get_bind().dialect.name == "postgresql"
    for table in RENAMED_TABLES:
        (_rename_on_postgresql if postgresql else _rename_on_sqlite)(table, rename)
    if postgresql:
        for old, new in TABLES.items():
            before, after = (old, new) if rename(old) == new else (new, old)
            op.execute(f"ALTER SEQUENCE {before}_id_seq RENAME TO {after}_id_seq")


def _rename_on_postgresql(table: str, rename: Rename) -> None:
    inspector = sa.inspect(op.get_bind())
    constraints = [
        inspector.get_pk_constraint(table),
        *inspector.get_foreign_keys(table),
        *inspector.get_unique_constraints(table),
    ]
    for name in [str(constraint["name"]) for constraint in constraints]:
        if rename(name) != name:
            op.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {name} TO {rename(name)}")
    for name in [str(index["name"]) for index in inspector.get_indexes(table) if "duplicates_constraint" not in index]:
        if rename(name) != name:
            op.execute(f"ALTER INDEX {name} RENAME TO {rename(name)}")


def _rename_on_sqlite(table: str, rename: Rename) -> None:
    inspector = sa.inspect(op.get_bind())
    indexes = [index for index in inspector.get_indexes(table) if rename(str(index["name"])) != index["name"]]
    for index in indexes:
        op.drop_index(str(index["name"]), table)
    with _recreated(table) as batch_op:
        for key in inspector.get_foreign_keys(table):
            name = str(key["name"])
            if rename(name) != name:
                batch_op.drop_constraint(op.f(name), type_="foreignkey")
                batch_op.create_foreign_key(
                    op.f(rename(name)),
                    key["referred_table"],
                    key["constrained_columns"],
                    key["referred_columns"],
                    ondelete=key["options"].get("ondelete"),
                )
        for constraint in inspector.get_unique_constraints(table):
            name = str(constraint["name"])
            if rename(name) != name:
                batch_op.drop_constraint(op.f(name), type_="unique")
                batch_op.create_unique_constraint(op.f(rename(name)), constraint["column_names"])
    for index in indexes:
        where = index["dialect_options"].get("sqlite_where")
        op.create_index(
            op.f(rename(str(index["name"]))),
            table,
            [str(column) for column in index["column_names"]],
            unique=bool(index["unique"]),
            sqlite_where=where,
        )


@contextmanager
def _recreated(table: str) -> Iterator[BatchOperations]:
    """Recreate a table without reusing the ids of deleted rows."""
    connection, named = op.get_bind(), {"name": table}
    last = connection.scalar(sa.text("SELECT seq FROM sqlite_sequence WHERE name = :name"), named)
    with op.batch_alter_table(
        table, schema=None, recreate="always", table_kwargs={"sqlite_autoincrement": True}
    ) as batch_op:
        yield batch_op
    if last is not None:
        connection.execute(sa.text("DELETE FROM sqlite_sequence WHERE name = :name"), named)
        store = sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)")
        connection.execute(store, {**named, "last": last})
