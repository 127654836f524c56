"""Space on the disk, and gradual shrinking of SQLite's file after a purge."""

import logging
import os
import sqlite3
import time
from pathlib import Path

from sqlalchemy import Engine

from backend.database.engine import Database

log = logging.getLogger(__name__)

NO_VACUUM = 0
# Keep four megabytes for the next writes.
RESERVED_PAGES = 1_000
# Other writes wait, so each step is short, and so is the total time.
STEP_PAGES = 500
TIME_LIMIT_SECONDS = 0.25


def release_free_space(database: Database) -> None:
    """Release free pages until the time limit. The next call continues."""
    deadline = time.monotonic() + TIME_LIMIT_SECONDS
    while (free := database.free_pages() - RESERVED_PAGES) > 0 and time.monotonic() < deadline:
        database.release_pages(min(free, STEP_PAGES))


def free_bytes(folder: Path) -> int:
    """Return the free space of the folder's disk for this user."""
    disk = os.statvfs(folder)
    # Some file systems reserve blocks for root.
    return (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail) * disk.f_frsize


def enable_shrinking(engine: Engine) -> None:
    """Rewrite a SQLite database of an earlier version once, so that its file can shrink."""
    if engine.dialect.name != "sqlite":
        return
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute("PRAGMA auto_vacuum")
        if cursor.fetchone() != (NO_VACUUM,):
            return
        log.info("Rewriting the database once, so that its file can shrink.")
        # The connection set auto_vacuum. An existing file needs VACUUM to apply it.
        cursor.execute("VACUUM")
    except sqlite3.OperationalError as error:
        log.warning("The database file cannot shrink until a start has enough space to rewrite it: %s", error)
    finally:
        connection.close()
