"""Stored paths outside the data folder. Such files are never opened, copied or deleted."""

from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import update

from arcadia_backend.backup.making import back_up
from arcadia_backend.config import Settings
from arcadia_backend.database.tables import File
from arcadia_backend.errors import NotFound
from arcadia_backend.job_kinds import saliency
from arcadia_backend.refusals import RefusedError
from arcadia_backend.replays import routes
from tests.factories import Api

SECRET = b"secret of the server"


@pytest.fixture(params=["absolute", "upward", "link"])
def place(request: pytest.FixtureRequest, tmp_path: Path, settings: Settings) -> str:
    """Return a stored path that leads to a file outside the data folder."""
    (tmp_path / "secret.txt").write_bytes(SECRET)
    if request.param == "absolute":
        return str(tmp_path / "secret.txt")
    if request.param == "upward":
        upward = "../" * (len(settings.files_dir.resolve().parts) - 1)
        return f"{upward}{(tmp_path / 'secret.txt').resolve().relative_to('/')}"
    settings.files_dir.mkdir(parents=True, exist_ok=True)
    (settings.files_dir / "link").symlink_to(tmp_path)
    return "link/secret.txt"


def send_out(app: FastAPI, file_id: int, place: str) -> None:
    """Change the stored path of a file."""
    with app.state.database.write() as session:
        session.execute(update(File).where(File.id == file_id).values(stored_path=place))


def test_a_file_outside_is_neither_served_nor_deleted(
    api: Api, app: FastAPI, place: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    (row,) = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    send_out(app, row["file_id"], place)
    answer = api.user.get(f"/api/v1/files/{row['file_id']}")
    assert (answer.status_code, answer.json()["status"]) == (404, 404)
    assert "outside the data folder" in answer.json()["detail"]
    assert SECRET not in answer.content
    worker = api.worker.get(f"/api/v1/worker/runs/{run_id}/files/{row['file_id']}", params={"attempt": attempt})
    assert worker.status_code == 404
    fork = api.user.post(f"/api/v1/runs/{run_id}/fork", json={"checkpoint_id": row["id"]})
    assert (fork.status_code, SECRET in fork.content) == (404, False)
    api.release(run_id, attempt, "finished")
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert (tmp_path / "secret.txt").read_bytes() == SECRET
    assert "points outside its folder" in caplog.text


@pytest.mark.usefixtures("quick_backups")
def test_a_file_outside_is_not_backed_up(
    api: Api, app: FastAPI, settings: Settings, place: str, tmp_path: Path
) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    (row,) = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    send_out(app, row["file_id"], place)
    with pytest.raises(RefusedError, match=r"not a path in the data folder|[Mm]issing or damaged"):
        back_up(settings, tmp_path / "backup")
    assert all(path.read_bytes() != SECRET for path in (tmp_path / "backup").rglob("*") if path.is_file())


def test_a_track_outside_is_not_read(api: Api, app: FastAPI, place: str) -> None:
    run_id, attempt = api.running()
    file_id = api.upload(run_id, attempt, "replays/1.npz", b"track", "track")
    send_out(app, file_id, place)
    with app.state.database.read() as session:
        file = session.get_one(File, file_id)
        for read in (routes.read, saliency.read):
            with pytest.raises(NotFound, match="outside the data folder"):
                read(file, app.state.settings.files_dir)
