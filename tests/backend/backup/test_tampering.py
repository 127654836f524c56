"""Tampered backups. They are refused before anything changes."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from arcadia_backend.backup.making import back_up
from arcadia_backend.backup.manifest import DATABASE, FILES, NAME, hash_of, read_manifest
from arcadia_backend.backup.restoring import restore
from arcadia_backend.config import Settings
from arcadia_backend.refusals import RefusedError
from tests.factories import Api, sha256

SECRET = b"secret of the server"

pytestmark = pytest.mark.usefixtures("quick_backups")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return a file outside the data folder."""
    path = tmp_path / "secret.txt"
    path.write_bytes(SECRET)
    return path


@pytest.fixture
def backup(api: Api, settings: Settings, tmp_path: Path) -> Path:
    """Return the backup of a run with two checkpoints."""
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    api.save(run_id, attempt, 3, 200)
    api.release(run_id, attempt, "finished")
    back_up(settings, tmp_path / "backup")
    return tmp_path / "backup"


def move(backup: Path, stored: str) -> None:
    """Change the path of a stored file, in the database and in the manifest."""
    with closing(sqlite3.connect(backup / DATABASE)) as connection, connection:
        connection.execute("UPDATE files SET stored_path = ? WHERE id = 1", (stored,))
    rewrite(backup)


def rewrite(backup: Path) -> None:
    """Update the database's hash and size in the manifest."""
    manifest = json.loads((backup / NAME).read_text())
    database = backup / DATABASE
    manifest["database"] |= {"sha256": hash_of(database), "bytes": database.stat().st_size}
    (backup / NAME).write_text(json.dumps(manifest))


def absolute(backup: Path, secret: Path) -> None:
    """Use the secret's absolute path."""
    move(backup, str(secret))


def upward(backup: Path, secret: Path) -> None:
    """Use a path that leaves the files folder."""
    move(backup, f"../../{secret.name}")


def hidden(backup: Path, secret: Path) -> None:  # noqa: ARG001
    """Use the file that identifies the installation."""
    move(backup, ".installation")


def doubled(backup: Path, secret: Path) -> None:  # noqa: ARG001
    """Give two rows the same file. Deleting one would delete it for both."""
    move(backup, read_manifest(backup).files[1].path)


def linked(backup: Path, secret: Path) -> None:
    """Replace a file by a symlink to the secret."""
    manifest = json.loads((backup / NAME).read_text())
    file = backup / FILES / manifest["files"][0]["path"]
    file.unlink()
    file.symlink_to(secret)
    manifest["files"][0] |= {"sha256": sha256(SECRET), "bytes": len(SECRET)}
    (backup / NAME).write_text(json.dumps(manifest))


def linked_folder(backup: Path, secret: Path) -> None:
    """Replace the run's folder by a symlink to another folder."""
    folder = backup / FILES / "run-1"
    folder.rename(secret.parent / "elsewhere-1")
    folder.symlink_to(secret.parent / "elsewhere-1")


def linked_files(backup: Path, secret: Path) -> None:
    """Replace the files folder by a symlink to another folder."""
    (backup / FILES).rename(secret.parent / "moved")
    (backup / FILES).symlink_to(secret.parent / "moved")


@pytest.mark.parametrize("tamper", [absolute, upward, hidden, doubled, linked, linked_folder, linked_files])
def test_a_tampered_backup_is_refused_and_nothing_changes(
    backup: Path, secret: Path, tmp_path: Path, tamper: Callable[[Path, Path], None]
) -> None:
    tamper(backup, secret)
    elsewhere = Settings(data_dir=tmp_path / "elsewhere", worker_token="worker-secret")
    with pytest.raises(RefusedError, match=r"was changed after it was made: .* Nothing was restored"):
        restore(elsewhere, backup)
    assert not elsewhere.data_dir.exists()
    assert secret.read_bytes() == SECRET


def test_a_file_that_is_not_a_database_is_refused(backup: Path, tmp_path: Path) -> None:
    (backup / DATABASE).write_bytes(b"no database")
    rewrite(backup)
    with pytest.raises(RefusedError, match="is not a database of Arcadia"):
        restore(Settings(data_dir=tmp_path / "elsewhere", worker_token="worker-secret"), backup)
    assert not (tmp_path / "elsewhere").exists()
