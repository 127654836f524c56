"""Backups: a verified copy of one moment, restored on either database."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import select, text

from arcadia_backend.backup.making import back_up
from arcadia_backend.backup.manifest import DATABASE, FILES, NAME, copy_rows, read_manifest
from arcadia_backend.backup.restoring import restore
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import migration_engine, open_database
from arcadia_backend.database.tables import Run
from arcadia_backend.files.storage import hold, stored_files
from arcadia_backend.refusals import RefusedError
from arcadia_backend.startup.up import FolderInUseError, lock
from tests.earlier_installation import METHODS, unpack
from tests.factories import CARTPOLE, Api, Response, event, metrics, start_set
from tests.provenance import PROVENANCE

READ = [
    "runs",
    "runs/{id}",
    "runs/{id}/log",
    "run-groups?by=learning_rate,checkpoints_kept,tag",
    "runs/{id}/provenance",
    "runs/{id}/checkpoints",
    "export/runs/{id}.csv",
    "workers",
]
KEEP_THREE = {**CARTPOLE, "checkpoints_kept": 3}

pytestmark = pytest.mark.usefixtures("quick_backups")
to_either_database = pytest.mark.parametrize("elsewhere", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def run(api: Api) -> int:
    """Return a run with points, a log line and a checkpoint. Two other runs of the installation were purged."""
    purged, attempt = api.running()
    api.release(purged, attempt, "finished")
    run_id, attempt = api.running(config=KEEP_THREE, tags=["kept"], notes="with notes")
    api.save(run_id, attempt, 2, 100, return_mean="NaN")
    api.send(run_id, attempt, metrics(3, 120, {"train/policy_loss": "NaN"}, [10.0, 20.0]))
    api.send(run_id, attempt, event(4, "provenance", 120, provenance=PROVENANCE.model_dump(mode="json")))
    last, attempt = api.running()
    api.release(last, attempt, "finished")
    for gone in (purged, last):
        assert api.user.delete(f"/api/v1/runs/{gone}").status_code == 204
    return run_id


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.nightly)])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Return settings of a new installation, without a database or with an empty one."""
    if request.param == "sqlite":
        return Settings(data_dir=tmp_path / "elsewhere", worker_token="worker-secret")
    server: str = request.getfixturevalue("postgresql_server")
    engine = migration_engine(server).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS arcadia_restored WITH (FORCE)"))
        connection.execute(text("CREATE DATABASE arcadia_restored ENCODING 'UTF8' TEMPLATE template0"))
    url = engine.url.set(database="arcadia_restored", drivername="postgresql").render_as_string(hide_password=False)
    return Settings.model_validate(
        {"data_dir": tmp_path / "elsewhere", "database_url": url, "worker_token": "worker-secret"}
    )


@contextmanager
def started(app: FastAPI, settings: Settings) -> Iterator[Api]:
    """Run the application on another installation."""
    app.state.settings = settings
    with TestClient(app, base_url="http://localhost") as user:
        token = {"Authorization": "Bearer worker-secret"}
        yield Api(user, TestClient(app, base_url="http://localhost", headers=token))


def everything(api: Api, run_id: int) -> dict[str, Any]:
    """Return all API responses about a run, and the content of its checkpoint."""
    reported = {path: _read(api.user.get(f"/api/v1/{path.format(id=run_id)}")) for path in READ}
    (row,) = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    return reported | {"content": api.user.get(f"/api/v1/files/{row['file_id']}").content}


def _read(response: Response) -> Any:
    return response.json() if response.headers["content-type"] == "application/json" else response.text


@pytest.mark.required_cases(2)
@to_either_database
def test_a_backup_restores_everything_on_either_database(
    api: Api, run: int, app: FastAPI, settings: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    before = everything(api, run)
    assert back_up(settings, tmp_path / "backup").startswith("1 runs and 1 files")
    restore(elsewhere, tmp_path / "backup")
    with started(app, elsewhere) as restored:
        assert everything(restored, run) == before
        assert restored.launch()["id"] == run + 2, "the ids of purged runs are never reused"
    with started(app, elsewhere):
        assert len(stored_files(elsewhere.files_dir)) == 1, "the restored files belong to the database"


def test_files_pruned_during_a_backup_are_included(
    api: Api, run: int, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seq, step in ((5, 200), (6, 300)):
        api.save(run, 1, seq, step)

    def copy_and_prune(*connections: Any) -> None:
        copy_rows(*connections)
        api.save(run, 1, 7, 400)
        steps = {row["step"] for row in api.user.get(f"/api/v1/runs/{run}/checkpoints").json() if row["available"]}
        assert len(steps) == 3
        assert steps != {100, 200, 300}

    monkeypatch.setattr("arcadia_backend.backup.making.copy_rows", copy_and_prune)
    back_up(settings, tmp_path / "backup")
    kept = {(tmp_path / "backup" / FILES / file.path).read_bytes() for file in read_manifest(tmp_path / "backup").files}
    assert kept == {f"weights of attempt 1 at step {step}".encode() for step in (100, 200, 300)}


def test_delayed_removals_happen_after_the_backup(api: Api, settings: Settings) -> None:
    run_id, attempt = api.running(config=KEEP_THREE)
    with hold(settings.files_dir):
        for number in range(5):
            api.save(run_id, attempt, 2 + number, 100 * number)
        assert len(stored_files(settings.files_dir)) == 5
    api.save(run_id, attempt, 7, 500)
    assert len(stored_files(settings.files_dir)) == 3


def test_a_damaged_or_missing_file_is_named_and_left_out(
    api: Api, run: int, settings: Settings, tmp_path: Path
) -> None:
    other, attempt = api.running()
    api.save(other, attempt, 2, 100)
    api.release(other, attempt, "finished")
    (damaged,) = (settings.files_dir / f"run-{run}").iterdir()
    (missing,) = (settings.files_dir / f"run-{other}").iterdir()
    damaged.write_bytes(b"weights of attempt 1 at step 1o0")
    missing.unlink()
    with pytest.raises(RefusedError, match="Missing or damaged in the data folder") as refused:
        back_up(settings, tmp_path / "backup")
    assert f"run-{run}/{damaged.name}" in str(refused.value)
    assert f"run-{other}/{missing.name}" in str(refused.value)
    assert read_manifest(tmp_path / "backup").files == []
    assert stored_files(tmp_path / "backup" / FILES) == []


@pytest.mark.usefixtures("run")
def test_restoring_skips_and_names_a_damaged_file(settings: Settings, elsewhere: Settings, tmp_path: Path) -> None:
    back_up(settings, tmp_path / "backup")
    (kept,) = read_manifest(tmp_path / "backup").files
    damaged = tmp_path / "backup" / FILES / kept.path
    damaged.unlink()
    damaged.write_bytes(b"weights of attempt 1 at step 1o0")
    with pytest.raises(RefusedError, match=f"1 runs and 0 files .* damaged .*, and not restored: {kept.path}"):
        restore(elsewhere, tmp_path / "backup")
    assert stored_files(elsewhere.files_dir) == []


@pytest.fixture
def saved(run: int, settings: Settings, tmp_path: Path) -> Path:  # noqa: ARG001
    """Return the backup of an installation."""
    back_up(settings, tmp_path / "backup")
    return tmp_path / "backup"


def test_a_damaged_database_is_not_restored(saved: Path, elsewhere: Settings) -> None:
    with (saved / DATABASE).open("r+b") as file:
        file.seek(5_000)
        file.write(b"?")
    with pytest.raises(RefusedError, match="is damaged, so nothing was restored"):
        restore(elsewhere, saved)
    assert not elsewhere.data_dir.exists()


def test_an_incomplete_backup_is_not_restored(saved: Path, elsewhere: Settings) -> None:
    (saved / NAME).unlink()
    with pytest.raises(RefusedError, match="is not a complete backup"):
        restore(elsewhere, saved)


def test_restoring_never_overwrites_runs_or_files(saved: Path, settings: Settings, elsewhere: Settings) -> None:
    with pytest.raises(RefusedError, match=r"The database already has 1 runs, and .* has 1 files"):
        restore(settings, saved)
    lost = elsewhere.files_dir / "run-1" / "lost"
    lost.parent.mkdir(parents=True)
    lost.touch()
    with pytest.raises(RefusedError, match=r"The database already has 0 runs, and .* has 1 files"):
        restore(elsewhere, saved)


@pytest.mark.parametrize("elsewhere", ["sqlite"], indirect=True)
def test_restoring_never_overwrites_reports_or_start_sets(saved: Path, app: FastAPI, elsewhere: Settings) -> None:
    with started(app, elsewhere) as other:
        other.import_starts(start_set("human", 100), "Mine")
        other.user.post("/api/v1/reports", json={"title": "Mine"}).raise_for_status()
    with pytest.raises(RefusedError, match=r"The database already has 1 reports, 1 start sets, and .* has 0 files"):
        restore(elsewhere, saved)
    with started(app, elsewhere) as other:
        assert [each["name"] for each in other.user.get("/api/v1/start-sets").json()] == ["Mine"]


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("elsewhere", ["sqlite"], indirect=True)
def test_a_backup_can_be_restored_into_an_installation_without_runs(
    saved: Path, app: FastAPI, elsewhere: Settings
) -> None:
    guarded = elsewhere.model_copy(update={"token": SecretStr("user-secret")})
    with started(app, guarded) as other:
        other.user.post("/api/v1/session", json={"token": "user-secret"}).raise_for_status()
        other.beat().raise_for_status()
        assert len(other.user.get("/api/v1/workers").json()) == 1
    assert restore(elsewhere, saved).startswith("1 runs and 1 files")


def test_a_backup_is_not_restored_into_a_running_installation(saved: Path, elsewhere: Settings) -> None:
    held = lock(elsewhere.data_dir)
    with pytest.raises(FolderInUseError):
        restore(elsewhere, saved)
    assert held


@pytest.mark.required_cases(1)
@to_either_database
def test_a_backup_of_an_earlier_version_is_migrated(elsewhere: Settings, tmp_path: Path) -> None:
    unpack(tmp_path)
    assert restore(elsewhere, tmp_path / "backup").startswith("7 runs and ")
    database = open_database(elsewhere)
    with database.read() as session:
        assert set(session.scalars(select(Run.algorithm))) >= set(METHODS.values())
    database.close()


def test_a_backup_requires_an_empty_folder(saved: Path, settings: Settings) -> None:
    with pytest.raises(RefusedError, match="is not empty"):
        back_up(settings, saved)


def test_a_missing_data_folder_cannot_be_backed_up(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="There is nothing to back up"):
        back_up(Settings(data_dir=tmp_path / "none"), tmp_path / "backup")
    assert not (tmp_path / "none").exists()


def test_a_concurrent_second_backup_is_refused_and_leaves_no_folder(
    saved: Path, settings: Settings, tmp_path: Path
) -> None:
    assert saved.is_dir()
    with hold(settings.files_dir), pytest.raises(RefusedError, match=r"Another backup of .* is running"):
        back_up(settings, tmp_path / "second")
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize("place", ["../outside", "/etc/outside", "run-1/../../outside"])
def test_a_manifest_with_a_path_outside_its_folder_is_refused(tmp_path: Path, place: str) -> None:
    content = {"path": DATABASE, "sha256": "0", "bytes": 1}
    manifest = {"arcadia": "1", "made_at": "2026-01-01T00:00:00Z", "database": content}
    (tmp_path / NAME).write_text(json.dumps({**manifest, "files": [{**content, "path": place}]}))
    with pytest.raises(RefusedError, match="cannot be read"):
        read_manifest(tmp_path)
