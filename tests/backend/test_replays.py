"""Stored and listed replays."""

import io
import zipfile
from typing import Any

import numpy as np
import pytest

from arcadia_workers.contract.protocols.document import SAMPLED
from arcadia_workers.contract.tracks import Track, TrackHead, packed
from tests.factories import Api, video


def test_a_replay_belongs_to_the_step_of_its_checkpoint_and_gives_the_thumbnail(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    mp4 = api.upload(run_id, attempt, "replays/100.mp4", b"film", "video")
    png = api.upload(run_id, attempt, "replays/100.png", b"still", "poster")
    assert api.send(run_id, attempt, video(3, step=180, played=100)).json() == {"acknowledged": 3}
    (row,) = api.user.get(f"/api/v1/runs/{run_id}/replays").json()
    assert (row["step"], row["frames"], row["file_id"], row["poster_file_id"]) == (100, 400, mp4, png)
    assert (row["episode_return"], row["length"], row["seconds"]) == (10.0, 100, 1.7)
    run = api.run(run_id)
    assert run["poster_file_id"] == png
    assert run["step"] == 100, "a replay does not advance the step of its run"


def test_a_replay_reported_again_replaces_the_first(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    api.upload(run_id, attempt, "replays/100.mp4", b"film", "video")
    api.upload(run_id, attempt, "replays/100.png", b"still", "poster")
    assert api.send(run_id, attempt, video(3, step=180, played=100)).status_code == 200
    assert api.send(run_id, attempt, video(4, step=190, played=100, episode_return=11.0)).status_code == 200
    (row,) = api.user.get(f"/api/v1/runs/{run_id}/replays").json()
    assert row["episode_return"] == 11.0
    assert api.user.get(f"/api/v1/files/{row['file_id']}").content == b"film"


def test_a_missing_run_is_not_found(api: Api) -> None:
    answer = api.user.get("/api/v1/runs/999/replays")
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is no run 999.")


def made_track() -> bytes:
    """Return a track file with two decisions."""
    head = TrackHead(
        env="ALE/Pong-v5",
        algorithm="paac",
        checkpoint_step=100,
        checkpoint_sha256="0" * 64,
        protocol="no-op-5min",
        acting=SAMPLED,
        seed=1,
        episode=0,
        gamma=0.99,
        clip_rewards=True,
        life_loss_ends_episode=False,
        numbers_kind="policy",
        action_names=("NOOP", "UP"),
        pictures=8,
        pictures_per_second=60,
        frames_per_action=4,
        ended="over",
        score=-1.0,
    )
    columns = {
        "picture": np.array([0, 4], dtype=np.int32),
        "action": np.array([1, 0]),
        "numbers": np.array([[0.25, 0.75], [1 / 3, 2 / 3]], dtype=np.float32),
        "value": np.array([-0.12345678, np.nan], dtype=np.float32),
        "obtained": np.array([-0.99, -1.0], dtype=np.float32),
        "reward": np.array([0.0, -1.0]),
        "score": np.array([0.0, 0.0]),
        "lives": np.array([-1, -1], dtype=np.int16),
        "life_lost": np.array([False, False]),
    }
    return packed(Track(head, columns))


def as_stored_before(file: bytes) -> bytes:
    """Return a track file with the name of a field in an earlier version."""
    with np.load(io.BytesIO(file)) as arrays:
        columns = dict(arrays)
    head = str(columns.pop("head")).replace("numbers_kind", "learnt")
    changed = io.BytesIO()
    np.savez_compressed(changed, head=np.array(head), **columns)
    return changed.getvalue()


def replay_with_track(api: Api, track: bytes) -> dict[str, Any]:
    """Report a replay with all its files and return its row."""
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    for name, kind in (("100.mp4", "video"), ("100.png", "poster"), ("100.seen.mp4", "video")):
        api.upload(run_id, attempt, f"replays/{name}", name.encode(), kind)
    api.upload(run_id, attempt, "replays/100.npz", track, "track")
    reported = video(3, step=180, played=100, seen="replays/100.seen.mp4", track="replays/100.npz")
    assert api.send(run_id, attempt, reported).status_code == 200
    (row,) = api.user.get(f"/api/v1/runs/{run_id}/replays").json()
    found: dict[str, Any] = row
    return found


def test_a_replay_has_the_track_of_its_decisions(api: Api) -> None:
    track = made_track()
    row = replay_with_track(api, track)
    assert api.user.get(f"/api/v1/files/{row['seen_file_id']}").content == b"100.seen.mp4"
    assert api.user.get(f"/api/v1/files/{row['track_file_id']}").content == track
    reported = api.user.get(f"/api/v1/replays/{row['id']}/track").json()
    assert reported["head"]["action_names"] == ["NOOP", "UP"]
    assert (reported["picture"], reported["action"], reported["lives"]) == ([0, 4], [1, 0], [-1, -1])
    assert reported["numbers"] == [[0.25, 0.75], [0.333333, 0.666667]]
    assert reported["value"] == [-0.123457, "NaN"]
    assert reported["obtained"] == [-0.99, -1.0]


def test_track_files_of_earlier_versions_are_read(api: Api) -> None:
    before = as_stored_before(made_track())
    assert b"learnt" in np.load(io.BytesIO(before))["head"].tobytes().replace(b"\0", b"")
    row = replay_with_track(api, before)
    assert api.user.get(f"/api/v1/replays/{row['id']}/track").json()["head"]["numbers_kind"] == "policy"


def with_member(name: str, content: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    """Return a track file with another content of one member."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(made_track())) as track, zipfile.ZipFile(file, "w") as changed:
        for each in track.namelist():
            changed.writestr(each, content if each == name else track.read(each), compression)
    return file.getvalue()


def array(header: bytes, content: bytes = b"") -> bytes:
    """Return a NumPy file with this header."""
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


BROKEN = {
    "no archive": b"no archive",
    "parentheses": with_member("action.npy", array(b"(" * 9_000)),
    "large shape": with_member(
        "action.npy", array(b"{'descr': '<i8', 'fortran_order': False, 'shape': (9000000000000,), }")
    ),
    "objects": with_member("action.npy", array(b"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", bytes(16))),
    "one action": with_member(
        "action.npy", array(b"{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", bytes(8))
    ),
    "nested head": with_member(
        "head.npy",
        array(b"{'descr': '<U100000', 'fortran_order': False, 'shape': (), }", "[".encode("utf-32-le") * 100_000),
    ),
    "list as head": with_member(
        "head.npy", array(b"{'descr': '<U2', 'fortran_order': False, 'shape': (), }", "[]".encode("utf-32-le"))
    ),
    "half a character in the head": with_member(
        "head.npy", array(b"{'descr': '<U1', 'fortran_order': False, 'shape': (), }", b"\x00\xd8\x00\x00")
    ),
    "other compression": with_member("action.npy", b"", zipfile.ZIP_LZMA),
    "bomb": with_member("action.npy", bytes(250_000_000), zipfile.ZIP_DEFLATED),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_missing_or_broken_track_is_explained(api: Api, kind: str) -> None:
    row = replay_with_track(api, BROKEN[kind])
    answer = api.user.get(f"/api/v1/replays/{row['id']}/track")
    assert (answer.status_code, "cannot be read" in answer.json()["detail"]) == (404, True)
    assert "no replay 999" in api.user.get("/api/v1/replays/999/track").json()["detail"]
