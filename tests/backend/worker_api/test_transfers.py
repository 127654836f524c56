"""Files that workers upload and download."""

import os
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from arcadia_backend.config import Settings
from arcadia_backend.files.storage import stored_files
from tests.factories import Api, checkpoint_path, sha256

PATH = checkpoint_path(100)


def put(api: Api, run_id: int, content: bytes = b"weights", **changed: Any) -> Any:
    """Upload a file with some parts of the request changed."""
    query = {"attempt": 1, "kind": "checkpoint", "path": PATH, "sha256": sha256(content), **changed}
    return api.worker.put(f"/api/v1/worker/runs/{run_id}/files", params=query, content=content)


def on_disk(settings: Settings) -> list[Path]:
    """Return all stored files of runs."""
    return stored_files(settings.files_dir)


def test_a_repeated_upload_is_one_file(api: Api, settings: Settings) -> None:
    run_id, _attempt = api.running()
    first, again = put(api, run_id), put(api, run_id)
    assert first.status_code == 200
    assert first.json() == again.json()
    damaged = put(api, run_id, b"weightz", sha256=sha256(b"weights"))
    assert (damaged.status_code, damaged.json()["errors"][0]["field"]) == (422, "sha256")
    assert api.run(run_id)["warnings"] == []
    (stored,) = on_disk(settings)
    assert stored.read_bytes() == b"weights"


def test_an_upload_with_the_same_name_replaces_the_file(api: Api, settings: Settings) -> None:
    run_id, _attempt = api.running()
    old, new = put(api, run_id, b"old").json()["file_id"], put(api, run_id, b"new").json()["file_id"]
    assert old != new
    assert api.user.get(f"/api/v1/files/{old}").status_code == 404
    assert api.user.get(f"/api/v1/files/{new}").content == b"new"
    assert len(on_disk(settings)) == 1
    (warning,) = api.run(run_id)["warnings"]
    assert "of attempt 1 was uploaded again with other contents, which replace it." in warning


def test_a_damaged_upload_leaves_nothing(api: Api, settings: Settings) -> None:
    run_id, _attempt = api.running()
    answer = put(api, run_id, sha256=sha256(b"something else"))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "sha256"
    assert on_disk(settings) == []


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "/etc/passwd", "a/../b", ".hidden", "a/.b", "a//b", "a\\b", "a\0b", "", "x" * 256]
)
def test_a_path_outside_the_run_directory_is_refused(api: Api, path: str) -> None:
    run_id, _attempt = api.running()
    answer = put(api, run_id, path=path)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "path"


def test_the_name_of_an_upload_does_not_decide_its_stored_path(api: Api, settings: Settings) -> None:
    run_id, _attempt = api.running()
    put(api, run_id)
    (stored,) = on_disk(settings)
    assert stored.parent == settings.files_dir / f"run-{run_id}"
    assert "step" not in stored.name


def test_a_worker_whose_attempt_is_over_cannot_transfer_files(api: Api, settings: Settings) -> None:
    run_id, attempt = api.running()
    file_id = put(api, run_id).json()["file_id"]
    api.release(run_id, attempt, "drained")
    api.claim()
    late = put(api, run_id, b"late", path="checkpoints/late")
    assert (late.status_code, late.json()["type"]) == (409, "/problems/stale-attempt")
    fetched = api.worker.get(f"/api/v1/worker/runs/{run_id}/files/{file_id}", params={"attempt": attempt})
    assert fetched.status_code == 409
    assert len(on_disk(settings)) == 1
    now = api.worker.get(f"/api/v1/worker/runs/{run_id}/files/{file_id}", params={"attempt": attempt + 1})
    assert now.content == b"weights"


def test_a_worker_can_download_only_files_of_its_run(api: Api) -> None:
    run_id, _attempt = api.running()
    file_id = put(api, run_id).json()["file_id"]
    api.release(run_id, 1, "finished")
    other, _attempt = api.running()
    answer = api.worker.get(f"/api/v1/worker/runs/{other}/files/{file_id}", params={"attempt": 1})
    assert (answer.status_code, answer.json()["detail"]) == (404, f"Run {other} has no file {file_id}.")


def test_a_file_over_the_size_limit_is_refused(settings: Settings, app: FastAPI, api: Api) -> None:
    app.state.settings = settings.model_copy(update={"max_file_bytes": 1_000_000})
    run_id, _attempt = api.running()
    assert put(api, run_id, b"x" * 1_000_001).status_code == 413
    assert put(api, run_id, b"x" * 1_000_000).status_code == 200
    assert len(on_disk(settings)) == 1


def test_a_full_disk_is_reported_and_leaves_nothing(
    api: Api, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, _attempt = api.running()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        answer = put(api, run_id)
    assert (answer.status_code, answer.json()["type"]) == (507, "/problems/disk-full")
    assert on_disk(settings) == []
    assert put(api, run_id).status_code == 200
