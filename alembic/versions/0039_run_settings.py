"""Fields of configurations in a table of their own

Revision ID: 0039
Revises: 0038
"""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

BATCH = 1_000
LARGEST_NUMBER, SMALLEST_NUMBER = 1e60, 1e-30
MAX_NAME = 500
ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
RUNS = sa.table("runs", sa.column("id", ID), sa.column("config", columns.Json))


def upgrade() -> None:
    """Add the table, and copy the fields of all configurations into it. Add indexes for counts of runs."""
    op.create_table(
        "run_settings",
        sa.Column("name", sa.String(length=MAX_NAME), nullable=False),
        sa.Column("run_id", ID, autoincrement=False, nullable=False),
        sa.Column("type", sa.String(length=8), nullable=False),
        sa.Column("number", columns.Number(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", "run_id", name=op.f("pk_run_settings"), postgresql_include=["number"]),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_runs_counted", "runs", ["project_id", "state", "origin", "algorithm", "env", "archived_at"])
    not_trained = sa.text("origin != 'trained'")
    op.create_index("ix_runs_not_trained", "runs", ["id"], sqlite_where=not_trained, postgresql_where=not_trained)
    connection = op.get_bind()
    last = 0
    query = sa.select(RUNS).order_by(RUNS.c.id).limit(BATCH)
    while runs := connection.execute(query.where(RUNS.c.id > last)).all():
        last = runs[-1].id
        _insert(connection, [row for run in runs for row in _rows(run.id, run.config)])


def _insert(connection: sa.Connection, rows: list[tuple[Any, ...]]) -> None:
    """Insert rows through the driver, which is several times as fast for many small rows."""
    cursor: Any = connection.connection.cursor()
    if connection.dialect.name == "sqlite":
        cursor.executemany("INSERT INTO run_settings VALUES (?, ?, ?, ?, ?)", rows)
    else:
        with cursor.copy("COPY run_settings (name, run_id, type, number, text) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    cursor.close()


def _rows(run_id: int, config: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    for name, value in config.items():
        if value is not None and len(name) <= MAX_NAME:
            yield (name, run_id, *_columns(value))


def _columns(value: Any) -> tuple[str, float | None, str]:
    """Return the type, the number and the text of a value as of this migration."""
    if isinstance(value, bool):
        return "boolean", None, "true" if value else "false"
    if isinstance(value, int | float):
        small = 0.0 if abs(value) <= SMALLEST_NUMBER else None
        is_usual = SMALLEST_NUMBER < abs(value) <= LARGEST_NUMBER
        return "number", float(value) if is_usual else small, _digits(value)
    if isinstance(value, str):
        return "text", None, value
    return "json", None, json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _digits(value: float) -> str:
    """Return all digits, as of the number that PostgreSQL reads from its JSON. It has no -0.0 and no exponents."""
    text = repr(value)
    if "e+" in text:
        return f"{Decimal(text):f}"
    return "0.0" if text == "-0.0" else text


def downgrade() -> None:
    """Undo the migration."""
    op.drop_index("ix_runs_not_trained", "runs")
    op.drop_index("ix_runs_counted", "runs")
    op.drop_table("run_settings")
