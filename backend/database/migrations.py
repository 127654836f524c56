"""Database migrations, at every start of the backend and by `arcadia migrate`."""

import functools
import logging
import os
import sqlite3
import time
from pathlib import Path

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from alembic import command
from backend.config import Settings
from backend.database.engine import Database, migration_engine
from backend.refusals import RefusedError

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


# An installed wheel contains the scripts. In the repository they are in alembic/.
_BUNDLED = Path(__file__).parents[1] / "migration_scripts"
SCRIPTS = _BUNDLED if _BUNDLED.is_dir() else Path(__file__).parents[2] / "alembic"

# An arbitrary number, the same in all backends.
_LOCK_KEY = 7_201_602


def migrate(settings: Settings) -> None:
    """Run the missing migrations. Concurrent processes wait for each other."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    engine = migration_engine(settings.resolved_database_url)
    try:
        # On SQLite the IMMEDIATE transaction of all migrations is the lock.
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
            _refuse_other_encoding(connection)
            _refuse_newer_schema(connection)
            if _revision(connection) != _scripts().get_current_head():
                config = alembic_config()
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        enable_shrinking(engine)
    finally:
        engine.dispose()


def is_current(connection: Connection) -> bool:
    """Return True if the database has the tables of this version."""
    return _revision(connection) == _scripts().get_current_head()


@functools.cache
def newest_schema() -> str:
    """Return the newest migration that this version knows."""
    return _scripts().get_current_head() or "none"


def _refuse_newer_schema(connection: Connection) -> None:
    revision, newest = _revision(connection), _scripts().get_current_head()
    if revision is not None and revision not in {script.revision for script in _scripts().walk_revisions()}:
        raise RefusedError(
            f"A newer version of Arcadia migrated the database to schema {revision}. This version knows {newest}. "
            "Start the newer version, or restore a backup from before the upgrade."
        )


def _refuse_other_encoding(connection: Connection) -> None:
    if connection.dialect.name != "postgresql":
        return
    encoding = connection.scalar(text("SHOW server_encoding"))
    if encoding != "UTF8":
        raise RefusedError(
            f"The PostgreSQL database is encoded in {encoding}, but names and notes need UTF8. "
            "Create a new one: CREATE DATABASE arcadia ENCODING 'UTF8' TEMPLATE template0;"
        )


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


@functools.cache
def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(alembic_config())


def alembic_config() -> Config:
    """Return Alembic's configuration."""
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    return config
