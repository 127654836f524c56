"""Reads and writes: SQLite has one writer, and callbacks wait for the commit."""

import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from arcadia_backend.database.engine import Database, after_commit
from arcadia_backend.database.scope import BACKEND, switch_to
from arcadia_backend.database.tables import LogLine, Run


def a_run(name: str = "r") -> Run:
    return Run(name=name, algorithm="paac", env="CartPole-v1", queue="cpu", config={}, total_steps=1)


def test_written_rows_can_be_read(database: Database) -> None:
    with database.write() as session:
        session.add(a_run("kept"))
    with database.read() as session:
        assert session.scalars(select(Run.name)).all() == ["kept"]


def test_an_error_rolls_back_and_skips_callbacks(database: Database) -> None:
    calls: list[str] = []

    def fail() -> None:
        with database.write() as session:
            session.add(a_run())
            after_commit(session, lambda: calls.append("called"))
            session.flush()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with database.read() as session:
        assert session.scalars(select(Run)).all() == []
    assert calls == []


def test_callbacks_run_once_the_rows_can_be_read(database: Database) -> None:
    seen: list[int] = []

    def look() -> None:
        with database.read() as session:
            seen.append(len(session.scalars(select(Run)).all()))

    with database.write() as session:
        session.add(a_run())
        after_commit(session, look)
        assert seen == []
    assert seen == [1]


def test_many_threads_can_write_at_once(database: Database) -> None:
    def write(number: int) -> None:
        switch_to(BACKEND)
        for _ in range(10):
            with database.write() as session:
                session.add(a_run(f"thread {number}"))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as session:
        assert len(session.scalars(select(Run.id)).all()) == 80


def test_a_reader_does_not_wait_for_the_writer(database: Database) -> None:
    with database.write() as writing:
        writing.add(a_run())
        writing.flush()
        with database.read() as reading:
            assert reading.scalars(select(Run)).all() == []


def test_times_keep_their_time_zone(database: Database) -> None:
    moment = datetime(2026, 3, 1, 12, 30, 0, 123_456, tzinfo=timezone(timedelta(hours=5)))
    with database.write() as session:
        run = a_run()
        run.created_at = moment
        session.add(run)
    with database.read() as session:
        read = session.scalars(select(Run)).one().created_at
        assert read == moment
        assert read.tzinfo is UTC
        assert session.scalars(select(Run).where(Run.created_at == moment)).all() != []


def test_nan_and_infinity_are_kept(database: Database) -> None:
    with database.write() as session:
        for value in (float("nan"), float("inf"), float("-inf"), 1.5):
            run = a_run()
            run.last_return = value
            session.add(run)
    with database.read() as session:
        read = [str(run.last_return) for run in session.scalars(select(Run).order_by(Run.id))]
    assert read == ["nan", "inf", "-inf", "1.5"]


def test_a_log_line_without_a_run_is_refused(database: Database) -> None:
    with pytest.raises(DBAPIError), database.write() as session:
        session.add(LogLine(run_id=99, attempt=1, message="whose?"))


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_sqlite_is_configured_for_durability(database: Database) -> None:
    with database.write() as session:
        pragmas = {name: session.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous")}
        assert pragmas == {"journal_mode": "wal", "synchronous": 2}
    with database.read() as session, pytest.raises(DBAPIError, match="readonly"):
        session.execute(text("DELETE FROM runs"))


def test_a_callback_that_fails_after_the_commit_is_logged_and_the_others_run(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []

    def broken() -> None:
        raise OSError("the disk is away")

    with database.write() as session:
        session.add(a_run("stored"))
        after_commit(session, broken)
        after_commit(session, lambda: calls.append("called"))
    assert calls == ["called"]
    assert "the disk is away" in caplog.text
