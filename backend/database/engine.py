"""The two ways to the database: sessions that read, and transactions that write."""

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.errors import is_disk_full

log = logging.getLogger(__name__)

AfterCommit = Callable[[], None]
_PENDING = "after_commit"
# With another thread that writes, and with another program that has SQLite's lock.
LOCK_TIMEOUT_SECONDS = 10
MAX_IDLE_WAL_BYTES = 64_000_000
# Another backend that starts at the same time migrates first.
MIGRATION_LOCK_TIMEOUT_MS = 30_000
RETRY_SECONDS = 0.05


class Database:
    """One writer and many readers.

    On SQLite the writer is one connection, lent to one transaction at a time by a pool of size one; readers have their
    own read-only connections and, in WAL mode, never wait for it. On PostgreSQL both come from one pool.
    """

    def __init__(self, url: str, files_dir: Path) -> None:
        self.url = make_url(url)
        self.files_dir = files_dir
        # Each session carries it, so that a deleted row's file can be removed after the commit.
        self._info = {"files_dir": files_dir}
        # When a write last failed because the disk is full; None once a write has succeeded.
        self.disk_full_at: float | None = None
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._writer = _sqlite_engine(url, writes=True) if self.is_sqlite else _postgresql_engine(url)
        self._reader = _sqlite_engine(url, writes=False) if self.is_sqlite else self._writer

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session for reading; its changes are never stored."""
        with Session(self._reader, autoflush=False, expire_on_commit=False, info=self._info) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction: committed when the block ends, then its after-commit calls are made; undone on an error."""
        with Session(self._writer, expire_on_commit=False, info=self._info) as session:
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
                # The change is made: who asked for it must not be told otherwise, nor the other calls be left out.
                log.exception("A change was stored, but not all that follows it was done")

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection that sees the database as it was at one moment, however long it reads."""
        options = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with self._reader.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    def free_pages(self) -> int:
        """How many pages of SQLite's file hold nothing; PostgreSQL minds its own."""
        if not self.is_sqlite:
            return 0
        with self._reader.connect() as connection:
            return int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one())

    def give_back(self, pages: int) -> None:
        """Make SQLite's file smaller by so many free pages."""
        connection = self._writer.raw_connection()
        try:
            # It frees a page at each step of the statement, of which `execute` would make one.
            connection.cursor().executescript(f"PRAGMA incremental_vacuum({pages}); PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.OperationalError as error:
            raise OperationalError("PRAGMA incremental_vacuum", None, error) from error
        finally:
            connection.close()

    def fold(self) -> None:
        """Make SQLite's database one file, without its log beside it; nobody else may use it meanwhile."""
        connection = self._writer.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode = DELETE")
        finally:
            connection.close()

    def ping(self) -> None:
        """Raise if the database does not answer."""
        with self._reader.connect() as connection:
            connection.execute(text("SELECT 1"))

    def close(self) -> None:
        """Close every connection."""
        self._reader.dispose()
        self._writer.dispose()


def after_commit(session: Session, call: AfterCommit) -> None:
    """Make a call once the session's transaction is committed; never if it is undone."""
    session.info.setdefault(_PENDING, []).append(call)


def get_database(request: Request) -> Database:
    """The application's database."""
    database: Database = request.app.state.database
    return database


Db = Annotated[Database, Depends(get_database)]


def open_database(settings: Settings) -> Database:
    """Make the data folder if need be, and the engines; connections are opened when first used."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return Database(settings.resolved_database_url, settings.files_dir)


def migration_engine(url: str) -> Engine:
    """An engine for migrations; on SQLite they replace tables, which foreign keys would answer by deleting rows."""
    engine = create_engine(_url(url), poolclass=NullPool)
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine, "connect")
        def configure(connection: Any, _record: Any) -> None:
            connection.isolation_level = None
            connection.execute(f"PRAGMA busy_timeout = {MIGRATION_LOCK_TIMEOUT_MS}")
            # Before the first table is made; of a database that has some, see backend/database/space.py.
            _set(connection, "auto_vacuum = INCREMENTAL")
            _set(connection, "journal_mode = WAL")

        @event.listens_for(engine, "begin")
        def begin(connection: Any) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _set(connection: sqlite3.Connection, pragma: str) -> None:
    """Set what needs the file alone; while another makes the database SQLite may refuse it at once, not waiting."""
    ends = time.monotonic() + MIGRATION_LOCK_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute(f"PRAGMA {pragma}")
        except sqlite3.OperationalError:
            if time.monotonic() > ends:
                raise
            time.sleep(RETRY_SECONDS)
        else:
            return


def _url(url: str) -> URL:
    """The URL with the driver used here: psycopg 3 for PostgreSQL."""
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
        # The driver's own transaction handling would begin too late to be IMMEDIATE.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {LOCK_TIMEOUT_SECONDS * 1000}")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA temp_store = MEMORY")
        if writes:
            _set(connection, "journal_mode = WAL")
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
