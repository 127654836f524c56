"""The table of settings, compared with the configurations that it copies."""

from typing import Any

from sqlalchemy import select

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run, RunSetting, setting_rows


def stored_settings(database: Database) -> list[dict[str, Any]]:
    """Return the rows of the table."""
    with database.read() as session:
        rows = [dict(row) for row in session.execute(select(*RunSetting.__table__.columns)).mappings()]
    return sorted(rows, key=lambda row: (row["run_id"], row["name"]))


def expected_settings(database: Database) -> list[dict[str, Any]]:
    """Return the rows that the configurations have."""
    with database.read() as session:
        runs = session.execute(select(Run.id, Run.config))
        rows = [row for run_id, config in runs for row in setting_rows(run_id, config)]
    return sorted(rows, key=lambda row: (row["run_id"], row["name"]))
