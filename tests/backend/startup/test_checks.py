"""Checks at startup, which refuse with one sentence and an exit status, and the permissions of new files."""

import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import migration_engine
from arcadia_backend.refusals import NotNowError, RefusedError
from arcadia_backend.startup.checks import make_private_folder, make_ready, refuse_taken_port
from tests.workers.waiting import PATIENCE_SECONDS


def refused(*arguments: str, **settings: str) -> tuple[int, str]:
    """Return the exit status and the only line of a refused command."""
    done = subprocess.run(
        [sys.executable, "-m", "arcadia_backend.cli", *arguments],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("arcadia: ")
    return done.returncode, line


def mode(path: Path) -> int:
    """Return the permissions of a path."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("9999", "A newer version of Arcadia migrated the database to schema 9999"),
        (
            "0034",
            r"An early version of Arcadia made this database \(schema 0034\).*commit e87c9985,",
        ),
    ],
)
def test_a_schema_that_this_version_does_not_know_is_refused(
    migrated_sqlite: Path, tmp_path: Path, schema: str, said: str
) -> None:
    shutil.copy(migrated_sqlite, tmp_path / "arcadia.db")
    with sqlite3.connect(tmp_path / "arcadia.db") as database:
        database.execute("UPDATE alembic_version SET version_num = ?", (schema,))
    with pytest.raises(RefusedError, match=said) as error:
        make_ready(Settings(data_dir=tmp_path))
    assert error.value.status == os.EX_CONFIG


def test_a_folder_without_write_permission_is_refused() -> None:
    # Nobody can create files there, not even root.
    status, said = refused("migrate", "--data", "/proc/arcadia")
    assert status == os.EX_CONFIG
    assert "Cannot write to the folder /proc/arcadia: " in said


def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "arcadia.db").write_text("This is no database, though it is long enough to be looked at." * 20)
    with pytest.raises(RefusedError, match=r"arcadia\.db cannot be used: file is not a database"):
        make_ready(Settings(data_dir=tmp_path))


def test_a_locked_database_is_refused(migrated_sqlite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_backend.database.engine.MIGRATION_LOCK_TIMEOUT_MS", 1)
    shutil.copy(migrated_sqlite, tmp_path / "arcadia.db")
    with sqlite3.connect(tmp_path / "arcadia.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(NotNowError, match=r"Another program has locked the database"):
            make_ready(Settings(data_dir=tmp_path))


def test_a_postgresql_that_is_not_utf8_is_refused(postgresql_server: str, tmp_path: Path) -> None:
    engine = migration_engine(postgresql_server).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS arcadia_latin"))
        connection.execute(text("CREATE DATABASE arcadia_latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"))
    url = engine.url.set(database="arcadia_latin", drivername="postgresql").render_as_string(hide_password=False)
    with pytest.raises(RefusedError, match="encoded in LATIN1"):
        make_ready(Settings(data_dir=tmp_path, database_url=url))


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(
    ("url", "status", "words"),
    [
        ("postgresql://user:hunter2@127.0.0.1:1/none", os.EX_TEMPFAIL, "onnection refused"),
        pytest.param(
            "mysql://user:hunter2@127.0.0.1/none", os.EX_CONFIG, "is not a database URL", marks=pytest.mark.nightly
        ),
        ("hunter2", os.EX_CONFIG, "is not a database URL"),
    ],
)
def test_an_unreachable_database_is_reported_without_its_password(
    tmp_path: Path, url: str, status: int, words: str
) -> None:
    found, said = refused("migrate", "--data", str(tmp_path), ARCADIA_DATABASE_URL=url)
    assert found == status
    assert words in said
    assert "hunter2" not in said


@pytest.mark.nightly
def test_a_taken_port_is_refused_before_anything_is_created(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, said = refused("backend", "--port", str(port), "--data", str(tmp_path / "data"))
    assert status == os.EX_TEMPFAIL
    assert f"arcadia backend --port {port + 1}" in said
    assert not (tmp_path / "data").exists()


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(RefusedError, match=r"Cannot listen on 192\.0\.2\.1") as error:
        refuse_taken_port("192.0.2.1", 8000, "backend")
    assert error.value.status == os.EX_CONFIG


@pytest.mark.nightly
def test_new_files_are_private_to_their_owner(tmp_path: Path) -> None:
    data = tmp_path / "data"
    made = subprocess.run(
        [sys.executable, "-m", "arcadia_backend.cli", "migrate", "--data", str(data)],
        umask=0o022,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert made.returncode == 0
    assert {path.name: mode(path) for path in [data, *data.iterdir()]} == {
        "data": 0o700,
        "files": 0o700,
        "arcadia.db": 0o600,
    }


def test_an_existing_folder_is_made_private(tmp_path: Path) -> None:
    open_to_all = tmp_path / "data"
    open_to_all.mkdir(mode=0o755)
    make_private_folder(open_to_all)
    assert mode(open_to_all) == 0o700
