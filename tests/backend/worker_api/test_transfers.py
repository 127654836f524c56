"""Files that workers upload and download."""

import os
import random
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastapi import FastAPI
from starlette.requests import ClientDisconnect

from arcadia_backend.config import Settings
from arcadia_backend.files import pieces
from arcadia_backend.files.pieces import UploadOffset, append
from arcadia_backend.files.storage import BLOCK_BYTES, PART, stored_files
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


WHOLE = random.Random(7).randbytes(10_000)


def send(api: Api, run_id: int, offset: int, end: int, content: bytes = WHOLE, **changed: Any) -> Any:
    """Send a piece of a file with some parts of the request changed."""
    query = {"attempt": 1, "kind": "checkpoint", "path": PATH, "sha256": sha256(content), **changed}
    place = {"offset": offset, "size": changed.get("size", len(content))}
    return api.worker.patch(f"/api/v1/worker/runs/{run_id}/files", params=query | place, content=content[offset:end])


def progress(api: Api, run_id: int, **changed: Any) -> Any:
    """Return how much of the file the backend has."""
    query = {"attempt": 1, "kind": "checkpoint", "path": PATH, "sha256": sha256(WHOLE), **changed}
    return api.worker.get(f"/api/v1/worker/runs/{run_id}/files", params=query)


def test_a_file_arrives_in_pieces_and_a_repeated_piece_changes_nothing(api: Api, settings: Settings) -> None:
    run_id, _attempt = api.running()
    assert progress(api, run_id).json() == {"file_id": None, "offset": 0}
    assert send(api, run_id, 0, 4_000).json() == {"file_id": None, "offset": 4_000}
    for offset, end in ((0, 4_000), (3_999, 8_000), (4_001, 8_000)):
        refused = send(api, run_id, offset, end)
        assert (refused.status_code, refused.json()["type"]) == (409, "/problems/upload-offset")
    assert progress(api, run_id).json()["offset"] == 4_000
    done = send(api, run_id, 4_000, 10_000).json()
    # The answer to the last piece may be lost.
    assert done == send(api, run_id, 4_000, 10_000).json() == progress(api, run_id).json() | {"offset": 10_000}
    assert put(api, run_id, WHOLE).json()["file_id"] == done["file_id"]
    (stored,) = on_disk(settings)
    assert stored.read_bytes() == WHOLE


def test_pieces_of_a_lost_attempt_are_refused_and_not_continued(api: Api, settings: Settings) -> None:
    run_id, attempt = api.running()
    send(api, run_id, 0, 4_000)
    api.release(run_id, attempt, "lost")
    api.claim()
    for late in (send(api, run_id, 4_000, 10_000), progress(api, run_id)):
        assert (late.status_code, late.json()["type"]) == (409, "/problems/stale-attempt")
    assert progress(api, run_id, attempt=2).json() == {"file_id": None, "offset": 0}
    assert send(api, run_id, 0, 10_000, attempt=2).json()["file_id"] is not None
    assert [path.stat().st_size for path in on_disk(settings) if path.name.startswith(PART)] == [4_000]


def test_a_damaged_file_is_sent_again_from_its_start(api: Api, settings: Settings) -> None:
    run_id, _attempt = api.running()
    send(api, run_id, 0, 4_000)
    (part,) = on_disk(settings)
    part.write_bytes(bytes(4_000))
    assert send(api, run_id, 4_000, 10_000).json()["type"] == "/problems/upload-offset"
    assert progress(api, run_id).json() == {"file_id": None, "offset": 0}
    assert send(api, run_id, 0, 10_000).json()["file_id"] is not None


def test_pieces_beyond_a_limit_are_refused(settings: Settings, app: FastAPI, api: Api) -> None:
    app.state.settings = settings.model_copy(update={"max_file_bytes": 9_000})
    run_id, _attempt = api.running()
    assert send(api, run_id, 0, 4_000).status_code == 413
    assert send(api, run_id, 0, 4_000, size=3_000).status_code == 413
    assert on_disk(settings) == [] or all(path.stat().st_size == 0 for path in on_disk(settings))


def test_a_full_disk_keeps_the_received_pieces(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, _attempt = api.running()
    send(api, run_id, 0, 4_000)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        answer = send(api, run_id, 4_000, 10_000)
    assert (answer.status_code, answer.json()["type"]) == (507, "/problems/disk-full")
    assert "The server's disk is full" in answer.json()["detail"]
    assert send(api, run_id, progress(api, run_id).json()["offset"], 10_000).json()["file_id"] is not None


def test_abandoned_pieces_are_removed_after_a_day(
    api: Api, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, _attempt = api.running()
    send(api, run_id, 0, 4_000)
    pieces.remove_abandoned(settings.files_dir)
    assert len(on_disk(settings)) == 1
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + pieces.ABANDONED_SECONDS + 60)
    pieces.remove_abandoned(settings.files_dir)
    assert on_disk(settings) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_cut_connection_continues_where_it_was_cut(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    content, part = chance.randbytes(3 * BLOCK_BYTES + 17), tmp_path / "part"

    async def cut(start: int, end: int) -> AsyncIterator[bytes]:
        while start < end:
            until = min(end, start + chance.randint(1, 300_000))
            yield content[start:until]
            start = until
        if end < len(content):
            raise ClientDisconnect

    async def send_all() -> int:
        cuts, offset = 0, 0
        while offset < len(content):
            end = min(len(content), offset + chance.randint(1, BLOCK_BYTES * 2))
            try:
                offset = await append(cut(offset, end), part, offset, len(content))
            except ClientDisconnect:
                cuts, offset = cuts + 1, part.stat().st_size
                assert offset == end
        return cuts

    assert anyio.run(send_all) > 1
    assert part.read_bytes() == content


def test_two_connections_do_not_mix_their_pieces(tmp_path: Path) -> None:
    part = tmp_path / "part"

    async def slow() -> AsyncIterator[bytes]:
        yield WHOLE[:5_000]
        # The connection is still open while the worker tries again.
        with pytest.raises(UploadOffset, match="Another connection"):
            await append(fast(), part, 0, len(WHOLE))
        yield WHOLE[5_000:]

    async def fast() -> AsyncIterator[bytes]:
        yield WHOLE

    async def send_both() -> int:
        return await append(slow(), part, 0, len(WHOLE))

    assert anyio.run(send_both) == len(WHOLE)
    assert part.read_bytes() == WHOLE
