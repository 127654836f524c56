"""Saliency of a replay: how it is requested, computed by a job, shown, and removed with its replay."""

import base64
import io
from typing import Any

import numpy as np
import pytest

from arcadia_backend.config import Settings
from arcadia_backend.files.storage import stored_files
from arcadia_workers.contract.archives import Column
from arcadia_workers.contract.protocols.document import SAMPLED
from arcadia_workers.contract.tracks import Saliency, SaliencyHead, Track, TrackHead, packed_saliency
from arcadia_workers.contract.tracks import packed as packed_track
from tests.backend.test_recordings import film
from tests.factories import Api, checkpoint, checkpoint_path, event, limit_jobs, sha256, started, video

WEIGHTS = b"weights"
PONG = {"algorithm": "paac", "env": "ALE/Pong-v5", "total_steps": 1_000}
DECISIONS, SIDE = 3, 2


def made_track(played_by: bytes = WEIGHTS) -> bytes:
    """Return the file of a track with three decisions."""
    head = TrackHead(
        env="ALE/Pong-v5",
        algorithm="paac",
        checkpoint_step=100,
        checkpoint_sha256=sha256(played_by),
        protocol="no-op-5min",
        acting=SAMPLED,
        seed=7,
        episode=2,
        gamma=0.99,
        clip_rewards=True,
        life_loss_ends_episode=False,
        numbers_kind="policy",
        action_names=("NOOP", "UP"),
        pictures=12,
        pictures_per_second=60,
        frames_per_action=4,
        ended="over",
        score=-1.0,
    )
    columns: dict[str, Column] = {"picture": np.array([0, 4, 8]), "action": np.array([1, 0, 1])}
    columns |= {name: np.zeros(3, np.float32) for name in ("value", "reward", "obtained")}
    columns["score"] = np.array([0.0, 0.0, -1.0], dtype=np.float32)
    columns |= {"numbers": np.zeros((3, 2)), "lives": np.zeros(3, np.int16), "life_lost": np.zeros(3, bool)}
    return packed_track(Track(head, columns))


def made_saliency() -> bytes:
    """Return the file of a saliency."""
    head = SaliencyHead(
        env="ALE/Pong-v5",
        algorithm="paac",
        checkpoint_step=100,
        checkpoint_sha256=sha256(WEIGHTS),
        numbers_kind="policy",
        side=84,
        first=2,
        spacing=5,
        sigma=5,
        blur_sigma=3,
    )
    # Bytes that standard and URL-safe base64 encode differently.
    maps = np.arange(240, 252, dtype=np.uint8).reshape(DECISIONS, SIDE, SIDE)
    peaks = np.array([0.5, np.nan, 2.0], dtype=np.float32)
    columns: dict[str, Column] = {"policy": maps, "policy_peak": peaks, "value": maps + 1, "value_peak": peaks}
    return packed_saliency(Saliency(head, columns))


def replay(api: Api, config: dict[str, Any] = PONG, track: bytes | None = None) -> tuple[int, int]:
    """Report a replay with its track. Return the ids of the run and the replay."""
    run_id, attempt = api.running(config=config)
    api.upload(run_id, attempt, checkpoint_path(100), WEIGHTS)
    assert api.send(run_id, attempt, checkpoint(2, 100, WEIGHTS)).is_success
    files = {"replays/100.mp4": ("video", b"film"), "replays/100.png": ("poster", b"still")}
    files["replays/100.npz"] = ("track", made_track() if track is None else track)
    for path, (kind, content) in files.items():
        api.upload(run_id, attempt, path, content, kind)
    assert api.send(run_id, attempt, video(3, 180, 100, track="replays/100.npz")).is_success
    return run_id, api.user.get(f"/api/v1/runs/{run_id}/replays").json()[0]["id"]


def ask(api: Api, replay_id: int, status: int = 200) -> dict[str, Any]:
    """Request the saliency of a replay."""
    answer = api.user.post(f"/api/v1/replays/{replay_id}/saliency")
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def compute(api: Api, content: bytes, outcome: str = "finished") -> dict[str, Any]:
    """Do the oldest queued saliency job as a worker does. Return the claim."""
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    query = {"attempt": held[1], "kind": "saliency", "path": "saliency.npz", "sha256": sha256(content)}
    assert api.worker.put(f"/api/v1/worker/jobs/{held[0]}/files", params=query, content=content).is_success
    reported = event(2, "advanced", 100, done=2, total=3), event(3, "saliency", 100, file="saliency.npz")
    assert api.send_of_job(*held, started(1), *reported, event(4, "finished")).is_success
    assert api.release_job(*held, outcome).is_success
    return claimed


def state(api: Api, replay_id: int) -> dict[str, Any]:
    """Return the state of a replay's saliency."""
    found: dict[str, Any] = api.user.get(f"/api/v1/replays/{replay_id}/saliency").json()
    return found


def test_a_worker_computes_saliency_from_the_recorded_actions(api: Api) -> None:
    _, replay_id = replay(api)
    assert "Request it first" in state(api, replay_id)["detail"]
    asked = ask(api, replay_id)
    assert (asked["state"], asked["done"], asked["total"], asked["file_id"]) == ("queued", 0, DECISIONS, None)
    assert "start one with" in asked["reason"]
    assert api.user.get(f"/api/v1/replays/{replay_id}/saliency/maps").status_code == 404
    claimed = compute(api, made_saliency())
    assert claimed["kind"] == "saliency"
    assert claimed["parameters"] == {
        "protocol": "no-op-5min",
        "seed": 7,
        "episode": 2,
        "actions": [1, 0, 1],
        "score": -1.0,
    }
    done = state(api, replay_id)
    assert (done["state"], done["done"]) == ("done", 2)
    assert api.user.get(f"/api/v1/files/{done['file_id']}").content == made_saliency()
    assert ask(api, replay_id) == done, "a second request does not compute it again"


def test_the_page_reads_saliency_as_bytes(api: Api) -> None:
    _, replay_id = replay(api)
    ask(api, replay_id)
    compute(api, made_saliency())
    maps = api.user.get(f"/api/v1/replays/{replay_id}/saliency/maps").json()
    assert (maps["rows"], maps["head"]["first"], maps["policy_peak"]) == (SIDE, 2, [0.5, "NaN", 2.0])
    assert base64.b64decode(maps["policy"], validate=True) == bytes(range(240, 252))
    assert base64.b64decode(maps["value"], validate=True) == bytes(range(241, 253))


def packed_array(array: Column) -> bytes:
    """Return a file with one array instead of the columns."""
    file = io.BytesIO()
    with np.load(io.BytesIO(made_saliency())) as arrays:
        np.savez(file, head=arrays["head"], policy=array)
    return file.getvalue()


@pytest.mark.parametrize("content", [b"no archive", packed_array(np.zeros(3)), packed_array(np.array(["x"]))])
def test_a_broken_file_is_explained(api: Api, content: bytes) -> None:
    _, replay_id = replay(api)
    ask(api, replay_id)
    compute(api, content)
    answer = api.user.get(f"/api/v1/replays/{replay_id}/saliency/maps")
    assert (answer.status_code, "cannot be read" in answer.json()["detail"]) == (404, True)


def test_saliency_is_deleted_when_its_replay_is_replaced(api: Api, settings: Settings) -> None:
    run_id, replay_id = replay(api)
    before = len(stored_files(settings.files_dir))
    ask(api, replay_id)
    compute(api, made_saliency())
    assert len(stored_files(settings.files_dir)) == before + 1
    # Reporting the same replay again replaces the first.
    for path, kind in (("100.mp4", "video"), ("100.png", "poster"), ("100.npz", "track")):
        api.upload(run_id, 1, f"replays/{path}", b"another", kind)
    assert api.send(run_id, 1, video(4, 190, 100, track="replays/100.npz")).is_success
    (row,) = api.user.get(f"/api/v1/runs/{run_id}/replays").json()
    assert "Request it first" in state(api, row["id"])["detail"]
    assert len(stored_files(settings.files_dir)) == before


def test_purging_a_run_deletes_its_recordings_saliency_and_live_game(api: Api, settings: Settings) -> None:
    run_id, replay_id = replay(api)
    ask(api, replay_id)
    compute(api, made_saliency())
    recording = api.user.post(f"/api/v1/runs/{run_id}/recordings", json={}).json()["id"]
    assert film(api)["job_id"] == recording
    live = api.user.post(f"/api/v1/runs/{run_id}/live", json={}).json()["id"]
    assert len(api.user.get(f"/api/v1/runs/{run_id}/replays").json()) == 2
    assert api.release(run_id, 1, "finished").is_success
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert stored_files(settings.files_dir) == []
    for gone in (f"replays/{replay_id}/saliency", f"recordings/{recording}", f"live/{live}"):
        assert api.user.get(f"/api/v1/{gone}").status_code == 404
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"}).status_code == 204


def test_saliency_can_be_deleted_and_requested_again(api: Api, settings: Settings) -> None:
    _, replay_id = replay(api)
    before = len(stored_files(settings.files_dir))
    ask(api, replay_id)
    compute(api, made_saliency())
    assert api.user.delete(f"/api/v1/replays/{replay_id}/saliency").status_code == 204
    assert len(stored_files(settings.files_dir)) == before
    assert api.user.delete(f"/api/v1/replays/{replay_id}/saliency").status_code == 404
    assert ask(api, replay_id)["state"] == "queued"


def test_a_failed_saliency_can_be_requested_again(api: Api) -> None:
    _, replay_id = replay(api)
    ask(api, replay_id)
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    failed = event(2, "failed", message="the actions brought 3 points", traceback="")
    assert api.send_of_job(*held, started(1), failed).is_success
    assert api.release_job(*held, "failed").json() == {"state": "failed"}
    assert state(api, replay_id)["reason"] == "the actions brought 3 points"
    assert ask(api, replay_id)["state"] == "queued"


def test_a_process_without_a_result_fails_its_saliency(api: Api) -> None:
    _, replay_id = replay(api)
    ask(api, replay_id)
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    assert api.send_of_job(*held, started(1), event(2, "finished")).is_success
    assert api.release_job(*held, "finished").json() == {"state": "failed"}


def test_invalid_saliency_requests_are_refused_with_the_reason(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no replay 999" in ask(api, 999, 404)["detail"]
    _, readings = replay(api, {"algorithm": "paac", "env": "CartPole-v1", "total_steps": 1_000, "num_envs": 4})
    assert "do not see pictures" in ask(api, readings, 409)["detail"]
    _, broken = replay(api, track=b"no archive")
    assert "cannot be read" in ask(api, broken, 409)["detail"]
    _, pruned = replay(api, track=made_track(played_by=b"other weights"))
    assert "was deleted" in ask(api, pruned, 409)["detail"]
    limit_jobs(monkeypatch, "saliency", 0)
    _, replay_id = replay(api)
    assert "already wait" in ask(api, replay_id, 409)["detail"]
