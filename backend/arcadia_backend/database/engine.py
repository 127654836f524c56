"""Access to the database: read sessions, write transactions, and engines."""

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from arcadia_backend.config import Settings
from arcadia_backend.database import calculation
from arcadia_backend.database.scope import flushing
from arcadia_backend.errors import is_disk_full
from arcadia_workers.contract.settings import FairShare

log = logging.getLogger(__name__)

AfterCommit = Callable[[], None]
_PENDING = "after_commit"
# How long to wait for another writing thread, and for another program that holds SQLite's lock.
LOCK_TIMEOUT_SECONDS = 10
MAX_IDLE_WAL_BYTES = 64_000_000
# How long to wait for another backend that migrates at the same time.
MIGRATION_LOCK_TIMEOUT_MS = 30_000
RETRY_SECONDS = 0.05


class CheckedSession(Session):
    """A session whose flushes pass the gate of database/limits.py, because the rule of rights checks their rows."""

    def flush(self, objects: Sequence[Any] | None = None) -> None:
        """Check and store the changes."""
        with flushing():
            super().flush(objects)


class Database:
    """A database with one writer and many readers.

    On SQLite the writer is a single connection in a pool of size one. Readers have read-only connections, and never
    wait for the writer in WAL mode. On PostgreSQL both use one pool.
    """

    def __init__(self, url: str, files_dir: Path, fair_share: FairShare = "people") -> None:
        self.url = make_url(url)
        self.files_dir = files_dir
        # Every session has the folder, so that the file of a deleted row can be removed after the commit, and the
        # setting for the order of the queue. The sizes of kinds of runs are kept for a while.
        self._info: dict[str, Any] = {"files_dir": files_dir, "fair_share": fair_share, "measured_sizes": {}}
        # When the last write failed because the disk was full. None if it succeeded.
        self.disk_full_at: float | None = None
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._writer = _sqlite_engine(url, writes=True) if self.is_sqlite else _postgresql_engine(url)
        self._reader = _sqlite_engine(url, writes=False) if self.is_sqlite else self._writer

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a session for reading. Its changes are never stored."""
        with CheckedSession(self._reader, autoflush=False, expire_on_commit=False, info=self._info) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a transaction. Commit it after the block and run its after-commit calls. Roll back on an error."""
        with CheckedSession(self._writer, expire_on_commit=False, info=self._info) as session:
            try:
                with session.begin():
                    session.connection()
                    yield session
            except DBAPIError as error:
                if is_disk_full(error):
                    self.disk_full_at = time.monotonic()
                raise
            self.disk_full_at = None
            pending: list[AfterCommit] = session.info.pop(_PENDING, [])
        for call in pending:
            try:
                call()
            except Exception:
                # The change is stored, so do not report an error to the caller, and run the other calls.
                log.exception("A change was stored, but a call after the commit failed")

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Open a connection that reads a consistent snapshot of the database."""
        options = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with self._reader.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    def free_pages(self) -> int:
        """Return the number of free pages in SQLite's file, or 0 on PostgreSQL."""
        if not self.is_sqlite:
            return 0
        with self._reader.connect() as connection:
            return int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one())

    def release_pages(self, pages: int) -> None:
        """Shrink SQLite's file by this number of free pages.

        A VACUUM would block the only writer until the whole file is rewritten.
        """
        connection = self._writer.raw_connection()
        try:
            # Each step of the statement frees one page, and `execute` would run only one step.
            connection.cursor().executescript(f"PRAGMA incremental_vacuum({pages}); PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.OperationalError as error:
            raise OperationalError("PRAGMA incremental_vacuum", None, error) from error
        finally:
            connection.close()

    def merge_wal(self) -> None:
        """Merge SQLite's write-ahead log into the database file. Nothing else may use the database."""
        connection = self._writer.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode = DELETE")
        finally:
            connection.close()

    def ping(self) -> None:
        """Raise an error if the database does not respond."""
        with self._reader.connect() as connection:
            connection.execute(text("SELECT 1"))

    def close(self) -> None:
        """Close every connection."""
        self._reader.dispose()
        self._writer.dispose()


def after_commit(session: Session, call: AfterCommit) -> None:
    """Call a function after the session's transaction is committed. It is not called after a rollback."""
    session.info.setdefault(_PENDING, []).append(call)


def get_database(request: Request) -> Database:
    """Return the database of the application."""
    database: Database = request.app.state.database
    return database


Db = Annotated[Database, Depends(get_database)]


def open_database(settings: Settings) -> Database:
    """Create the data folder and the engines. Connections are opened at first use."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return Database(settings.resolved_database_url, settings.files_dir, settings.fair_share)


def migration_engine(url: str) -> Engine:
    """Return an engine for migrations, without SQLite's foreign keys, since replacing a table would delete rows."""
    engine = create_engine(_url(url), poolclass=NullPool)
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine, "connect")
        def configure(connection: Any, _record: Any) -> None:
            connection.isolation_level = None
            connection.execute(f"PRAGMA busy_timeout = {MIGRATION_LOCK_TIMEOUT_MS}")
            # This works only before the first table exists.
            _set_pragma(connection, "auto_vacuum = INCREMENTAL")
            _set_pragma(connection, "journal_mode = WAL")

        @event.listens_for(engine, "begin")
        def begin(connection: Any) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _set_pragma(connection: sqlite3.Connection, pragma: str) -> None:
    """Set a pragma that needs an exclusive lock. Retry, since SQLite may fail without waiting for the lock."""
    deadline = time.monotonic() + MIGRATION_LOCK_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute(f"PRAGMA {pragma}")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(RETRY_SECONDS)
        else:
            return


def _url(url: str) -> URL:
    """Return the URL with the driver: psycopg 3 for PostgreSQL."""
    made = make_url(url)
    return made.set(drivername="postgresql+psycopg") if made.get_backend_name() == "postgresql" else made


def _postgresql_engine(url: str) -> Engine:
    return create_engine(
        _url(url),
        pool_size=10,
        max_overflow=20,
        pool_pre_ping=True,
        connect_args={"connect_timeout": 5},
    )


def _sqlite_engine(url: str, *, writes: bool) -> Engine:
    engine = create_engine(
        url,
        pool_size=1 if writes else 8,
        max_overflow=0 if writes else 32,
        pool_timeout=LOCK_TIMEOUT_SECONDS,
        connect_args={"check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        # The driver would begin transactions too late, and not IMMEDIATE.
        connection.isolation_level = None
        connection.create_function(calculation.NAME, -1, calculation.calculate, deterministic=True)
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {LOCK_TIMEOUT_SECONDS * 1000}")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA temp_store = MEMORY")
        if writes:
            _set_pragma(connection, "journal_mode = WAL")
            # docs/decisions/0003-sqlite-waits-for-the-disk.md
            cursor.execute("PRAGMA synchronous = FULL")
            cursor.execute(f"PRAGMA journal_size_limit = {MAX_IDLE_WAL_BYTES}")
        else:
            cursor.execute("PRAGMA query_only = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
