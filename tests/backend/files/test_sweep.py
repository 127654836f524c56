"""The sweep at startup: files that it moves to the trash, and files that it must not move."""

import os
import time
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import delete

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import open_database
from arcadia_backend.database.migrations import migrate
from arcadia_backend.database.tables import Installation
from arcadia_backend.files.storage import MARK, TRASH, TRASH_SECONDS, read_mark, stored_files, sweep
from tests.factories import Api

LONG_AGO = time.time() - 3_600


def start(app: FastAPI, settings: Settings) -> None:
    """Start the application once with these settings, and stop it."""
    app.state.settings = settings
    with TestClient(app, base_url="http://localhost"):
        pass


def put(settings: Settings, *places: str, changed: float = LONG_AGO) -> None:
    """Write files as if they were uploaded some time ago."""
    for place in places:
        path = settings.files_dir / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
        os.utime(path, (changed, changed))


def places(settings: Settings) -> list[str]:
    """Return the paths of all files outside the trash."""
    return sorted(path.relative_to(settings.files_dir).as_posix() for path in stored_files(settings.files_dir))


def forget_identity(settings: Settings, *, mark: bool = True) -> None:
    """Remove the identity from the database and the files, as in earlier versions."""
    database = open_database(settings)
    with database.write() as session:
        session.execute(delete(Installation))
    database.close()
    if mark:
        (settings.files_dir / MARK).unlink()


@pytest.fixture
def with_files(api: Api, settings: Settings) -> Settings:
    """Return settings of a stopped installation that has a stored file and a file left by a crash."""
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    for path in stored_files(settings.files_dir):
        os.utime(path, (LONG_AGO, LONG_AGO))
    put(settings, "run-3/lost")
    return settings


@pytest.fixture
def another(with_files: Settings, tmp_path: Path) -> Settings:
    """Return settings of the same data folder with an empty database."""
    other = with_files.model_copy(update={"database_url": f"sqlite:///{tmp_path / 'another.db'}"})
    migrate(other)
    return other


def test_files_left_by_a_crash_are_moved_to_the_trash(app: FastAPI, settings: Settings) -> None:
    start(app, settings)
    put(settings, "incoming/half", "run-3/lost")
    put(settings, "incoming/being-written", changed=time.time())
    start(app, settings)
    assert places(settings) == ["incoming/being-written"]
    assert (settings.files_dir / TRASH / "run-3" / "lost").read_bytes() == b"x"


def test_two_backends_can_start_at_the_same_time(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    put(settings, "incoming/half", "run-3/lost", f"{TRASH}/run-2/older")
    days_ago = time.time() - TRASH_SECONDS - 600
    os.utime(settings.files_dir / TRASH / "run-2" / "older", (days_ago, days_ago))
    is_file = Path.is_file

    def seen_by_both(path: Path) -> bool:
        found = is_file(path)
        if found and path.name in ("half", "lost", "older"):
            path.unlink()
        return found

    monkeypatch.setattr(Path, "is_file", seen_by_both)
    sweep(settings.files_dir, set())
    assert places(settings) == []


def test_the_trash_keeps_files_for_days(app: FastAPI, settings: Settings) -> None:
    start(app, settings)
    put(settings, "run-3/lost")
    start(app, settings)
    trash = settings.files_dir / TRASH / "run-3" / "lost"
    days_ago = time.time() - TRASH_SECONDS + 600
    os.utime(trash, (days_ago, days_ago))
    start(app, settings)
    assert trash.exists()
    too_old = time.time() - TRASH_SECONDS - 600
    os.utime(trash, (too_old, too_old))
    start(app, settings)
    assert not trash.exists()


def test_starting_with_another_database_moves_no_file(
    app: FastAPI, another: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    before = places(another)
    start(app, another)
    start(app, another)
    assert places(another) == before
    assert "belongs to another database" in caplog.text


def test_the_right_database_sweeps_again_later(app: FastAPI, with_files: Settings, another: Settings) -> None:
    start(app, another)
    start(app, with_files)
    assert len(places(with_files)) == 1
    assert "run-3/lost" not in places(with_files)


def test_files_without_an_identity_belong_to_the_referencing_database(app: FastAPI, with_files: Settings) -> None:
    forget_identity(with_files)
    start(app, with_files)
    assert read_mark(with_files.files_dir)
    assert len(places(with_files)) == 1


def test_files_without_an_identity_never_belong_to_an_empty_database(
    app: FastAPI, with_files: Settings, another: Settings
) -> None:
    forget_identity(with_files)
    before = places(with_files)
    start(app, another)
    assert read_mark(with_files.files_dir) is None
    start(app, another)
    assert places(with_files) == before


def test_an_older_copy_of_the_database_keeps_its_files(app: FastAPI, with_files: Settings) -> None:
    mark = read_mark(with_files.files_dir)
    forget_identity(with_files, mark=False)
    start(app, with_files)
    assert read_mark(with_files.files_dir) == mark
    assert len(places(with_files)) == 1


def test_purging_a_run_keeps_files_of_another_database_in_its_folder(api: Api, settings: Settings) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    put(settings, f"run-{run_id}/of-another-database")
    api.release(run_id, attempt, "finished")
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert places(settings) == [f"run-{run_id}/of-another-database"]


def test_an_empty_folder_belongs_to_the_database_that_starts(app: FastAPI, settings: Settings, tmp_path: Path) -> None:
    start(app, settings)
    other = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path / 'another.db'}"})
    start(app, other)
    put(other, "run-3/lost")
    start(app, other)
    assert places(other) == []
