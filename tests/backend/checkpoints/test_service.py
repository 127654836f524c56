"""Checkpoints that a trainer reports, and that later attempts continue from."""

from typing import Any

from arcadia_backend.config import Settings
from arcadia_backend.files.storage import stored_files
from tests.factories import Api, checkpoint, checkpoint_path, started


def listed(api: Api, run_id: int) -> dict[tuple[int, int], dict[str, Any]]:
    """Return a run's checkpoints by attempt and step."""
    rows = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    return {(row["attempt"], row["step"]): row for row in rows}


def test_an_attempt_that_resumes_earlier_supersedes_later_checkpoints(api: Api) -> None:
    run_id, first = api.running()
    both = [checkpoint_path(100), checkpoint_path(200)]
    api.save(run_id, first, 2, 100, kept=both[:1], return_mean=1.0)
    api.save(run_id, first, 3, 200, kept=both, return_mean=99.0)
    api.release(run_id, first, "lost")
    second = api.claim()["attempt"]
    # The newest checkpoint was damaged, so the trainer used the one before.
    api.send(run_id, second, started(resumed_from=100))
    api.save(run_id, second, 2, 150, kept=[checkpoint_path(100), checkpoint_path(150)], return_mean=2.0)
    found = listed(api, run_id)
    assert {key: row["available"] for key, row in found.items()} == {(1, 100): True, (1, 200): False, (2, 150): True}
    assert [key for key, row in found.items() if row["best"]] == [(2, 150)]
    api.release(run_id, second, "lost")
    assert [row["step"] for row in api.claim()["checkpoints"]] == [150, 100]


def test_an_event_without_its_file_is_refused(api: Api) -> None:
    run_id, attempt = api.running()
    response = api.send(run_id, attempt, checkpoint(2, 100, b"never uploaded"))
    assert response.status_code == 422
    assert "was not uploaded" in response.json()["detail"]
    assert listed(api, run_id) == {}
    api.upload(run_id, attempt, checkpoint_path(100), b"never uploaded")
    assert api.send(run_id, attempt, checkpoint(2, 100, b"never uploaded")).json() == {"acknowledged": 2}


def test_a_checkpoint_damaged_in_the_upload_is_discarded_and_logged(api: Api, settings: Settings) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    api.upload(run_id, attempt, checkpoint_path(200), b"damaged on its way")
    kept = [checkpoint_path(100), checkpoint_path(200)]
    answer = api.send(run_id, attempt, checkpoint(3, 200, b"as the trainer wrote it", kept=kept))
    assert answer.json() == {"acknowledged": 3}
    assert list(listed(api, run_id)) == [(1, 100)]
    assert len(stored_files(settings.files_dir)) == 1
    line = api.user.get(f"/api/v1/runs/{run_id}/log").json()["items"][-1]
    reported = f"{checkpoint_path(200)} was discarded: the uploaded file differs from what the trainer wrote."
    assert (line["level"], line["message"]) == ("warning", reported)
    api.release(run_id, attempt, "lost")
    assert [offered["step"] for offered in api.claim()["checkpoints"]] == [100]


def test_a_fork_keeps_its_checkpoint_when_the_parent_is_purged(api: Api) -> None:
    run_id, attempt = api.running()
    checkpoint_id = api.save(run_id, attempt, 2, 100)
    api.release(run_id, attempt, "finished")
    fork = api.act(run_id, "fork", checkpoint_id=checkpoint_id)["id"]
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code in (200, 204)
    (row,) = api.user.get(f"/api/v1/runs/{fork}/checkpoints").json()
    assert api.user.get(f"/api/v1/files/{row['file_id']}").content == b"weights of attempt 1 at step 100"
