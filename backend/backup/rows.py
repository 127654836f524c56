"""Copy of all rows between databases with the same tables, SQLite or PostgreSQL."""

from sqlalchemy import Connection, Table, func, select, text

import backend.metrics.models  # noqa: F401 - its tables are copied too
from backend.database.tables import Base

BATCH = 500


def copy_rows(source: Connection, target: Connection) -> None:
    """Replace all rows of the target, and the next id of each table."""
    for table in reversed(Base.metadata.sorted_tables):
        target.execute(table.delete())
    for table in Base.metadata.sorted_tables:
        rows = source.execution_options(yield_per=BATCH).execute(select(table))
        for batch in rows.mappings().partitions(BATCH):
            target.execute(table.insert(), [dict(row) for row in batch])
        if table.autoincrement_column is not None:
            _set_last_id(target, table, _last_id(source, table))


def _last_id(source: Connection, table: Table) -> int:
    """Return the last assigned id, also if its row was deleted."""
    column = table.autoincrement_column
    numbers = [source.scalar(select(func.max(column)))]
    if source.dialect.name == "postgresql":
        row = source.execute(text(f"SELECT last_value, is_called FROM {_sequence(source, table)}")).one()  # noqa: S608
        numbers.append(row.last_value if row.is_called else 0)
    elif _has_autoincrement(table):
        query = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
        numbers.append(source.scalar(query, {"name": table.name}))
    return max(number or 0 for number in numbers)


def _set_last_id(target: Connection, table: Table, last: int) -> None:
    if target.dialect.name == "postgresql":
        values = {"sequence": _sequence(target, table), "last": max(last, 1), "given": last > 0}
        target.execute(text("SELECT setval(CAST(:sequence AS regclass), :last, :given)"), values)
    elif _has_autoincrement(table):
        target.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": table.name})
        row = {"name": table.name, "last": last}
        target.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), row)


def _has_autoincrement(table: Table) -> bool:
    return bool(table.dialect_options["sqlite"]["autoincrement"])


def _sequence(connection: Connection, table: Table) -> str:
    column = table.autoincrement_column
    values = {"table": table.name, "column": column.name if column is not None else None}
    return str(connection.scalar(text("SELECT pg_get_serial_sequence(:table, :column)"), values))
