"""Database migrations, at every start of the backend and by `arcadia migrate`."""

import functools
import os
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from alembic import command
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database, migration_engine
from arcadia_backend.database.migration_copies import copy_before, database_bytes, how_to_return
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.refusals import RefusedError

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


# An installed wheel contains the scripts. In the repository they are in alembic/.
_BUNDLED = Path(__file__).parents[1] / "migration_scripts"
SCRIPTS = _BUNDLED if _BUNDLED.is_dir() else Path(__file__).parents[3] / "alembic"

# The commit that migrates every earlier database to the oldest schema that this version knows.
LAST_WITH_EARLY_MIGRATIONS = "e87c9985"

# An arbitrary number, the same in all backends.
_LOCK_KEY = 7_201_602


def migrate(settings: Settings) -> None:
    """Run the missing migrations. Concurrent processes wait for each other."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    engine = migration_engine(settings.resolved_database_url)
    try:
        # On SQLite the IMMEDIATE transaction of all migrations is the lock.
        with acting_as(BACKEND), engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
            _refuse_other_encoding(connection)
            _refuse_unknown_schema(connection, settings.data_dir)
            if (before := _revision(connection)) != _scripts().get_current_head():
                if before is not None and settings.migration_copy:
                    copy_before(engine.url, database_bytes(connection), settings.data_dir, before)
                config = alembic_config()
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
    finally:
        engine.dispose()


@dataclass(frozen=True)
class MigrationPlan:
    """What `migrate` would do with a database."""

    schema: str | None
    # The missing migrations, each with its title.
    missing: tuple[tuple[str, str], ...]
    database_bytes: int
    # The time that they took on a copy, or None if no copy was made.
    seconds: float | None


def plan(settings: Settings) -> MigrationPlan:
    """Return what `migrate` would do. On SQLite, try it on a copy in the data folder, which is deleted."""
    engine = migration_engine(settings.resolved_database_url)
    try:
        with acting_as(BACKEND), engine.connect() as connection:
            before = _revision(connection)
            _refuse_unknown_schema(connection, settings.data_dir)
            scripts = [*_scripts().iterate_revisions("head", before or "base")][::-1]
            missing = tuple((each.revision, (each.doc or "").splitlines()[0]) for each in scripts)
            size = database_bytes(connection)
    finally:
        engine.dispose()
    seconds = None
    if missing and before is not None and engine.dialect.name == "sqlite":
        with TemporaryDirectory(prefix=".plan-", dir=settings.data_dir) as folder:
            copied = copy_before(engine.url, size, Path(folder), before)
            seconds = _time_migration(settings, Path(folder), copied)
    return MigrationPlan(before, missing, size, seconds)


def _time_migration(settings: Settings, folder: Path, database: Path) -> float:
    url = f"sqlite:///{database}"
    began = time.monotonic()
    migrate(settings.model_copy(update={"data_dir": folder, "database_url": url, "migration_copy": False}))
    return time.monotonic() - began


def is_current(connection: Connection) -> bool:
    """Return True if the database has the tables of this version."""
    return _revision(connection) == _scripts().get_current_head()


@functools.cache
def newest_schema() -> str:
    """Return the newest migration that this version knows."""
    return _scripts().get_current_head() or "none"


def _refuse_unknown_schema(connection: Connection, data_dir: Path) -> None:
    revision, known = _revision(connection), [script.revision for script in _scripts().walk_revisions()]
    if revision is None or revision in known:
        return
    if revision < known[-1]:
        raise RefusedError(
            f"An early version of Arcadia made this database (schema {revision}), and this version cannot migrate it. "
            f"Nothing was changed. Open the data folder, or restore the backup, once with Arcadia at commit "
            f"{LAST_WITH_EARLY_MIGRATIONS}, and then with this version."
        )
    back = how_to_return(data_dir, connection.engine.url, known[0])
    earlier = f"go back to the copy from before: {back}" if back else "restore a backup from before the upgrade."
    raise RefusedError(
        f"A newer version of Arcadia migrated the database to schema {revision}. This version knows {known[0]}. "
        f"Start the newer version, or {earlier}"
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
