"""Purges, which make SQLite's file smaller."""

from pathlib import Path

import pytest
from sqlalchemy import delete

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database, open_database
from arcadia_backend.database.migrations import RESERVED_PAGES, migrate, release_free_space
from arcadia_backend.database.tables import LogLine, Run


def fill(database: Database, megabytes: int) -> None:
    """Write a run with a long log."""
    with database.write() as session:
        run = Run(name="r", algorithm="paac", env="CartPole-v1", queue="cpu", config={}, total_steps=1)
        session.add(run)
        session.flush()
        session.add_all(LogLine(run_id=run.id, attempt=1, message="x" * 10_000) for _ in range(100 * megabytes))


def purge(database: Database) -> None:
    """Delete every run and release its space."""
    with database.write() as session:
        session.execute(delete(Run))
    while database.free_pages() > RESERVED_PAGES:
        release_free_space(database)


@pytest.mark.nightly
def test_space_is_released_after_a_purge(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    migrate(settings)
    database = open_database(settings)
    fill(database, megabytes=20)
    before = (tmp_path / "arcadia.db").stat().st_size
    purge(database)
    assert before > 20_000_000
    assert (tmp_path / "arcadia.db").stat().st_size < 6_000_000
    database.close()


@pytest.mark.nightly
def test_space_is_released_in_steps_of_many_pages(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    migrate(settings)
    database = open_database(settings)
    fill(database, megabytes=8)
    with database.write() as session:
        session.execute(delete(Run))
    before = database.free_pages()
    database.release_pages(500)
    assert database.free_pages() == before - 500
    database.close()


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_nothing_is_released_on_postgresql(database: Database) -> None:
    release_free_space(database)
    assert database.free_pages() == 0
