"""Gives space that a purge has freed in SQLite's file back to the disk, some at a time."""

import logging
import sqlite3
import time

from sqlalchemy import Engine

from backend.database.engine import Database

log = logging.getLogger(__name__)

NO_VACUUM = 0
# Left for what is written next: four megabytes.
KEPT_PAGES = 1_000
# Nobody else writes meanwhile, so each step is short, and so are all of them together.
STEP_PAGES = 500
SECONDS = 0.25


def give_back_space(database: Database) -> None:
    """Give back what is free, for so long; the next call goes on."""
    ends = time.monotonic() + SECONDS
    while (free := database.free_pages() - KEPT_PAGES) > 0 and time.monotonic() < ends:
        database.give_back(min(free, STEP_PAGES))


def let_it_shrink(engine: Engine) -> None:
    """Write a SQLite database anew, once, that was made before its file could become smaller."""
    if engine.dialect.name != "sqlite":
        return
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute("PRAGMA auto_vacuum")
        if cursor.fetchone() != (NO_VACUUM,):
            return
        log.info("Writing the database anew, once, so that its file can become smaller.")
        # The connection asked for it when it was opened; an older file needs this to follow.
        cursor.execute("VACUUM")
    except sqlite3.OperationalError as error:
        log.warning("The database's file does not become smaller until a start has room to write it anew: %s", error)
    finally:
        connection.close()
