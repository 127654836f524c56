"""The archive of examples: it has what visitors look at, the weights of the best checkpoints, and no host's name."""

import io
import zipfile
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arcadia_workers.contract import tracks
from arcadia_workers.contract.agents import weights
from arcadia_workers.contract.layout import METADATA, CheckpointMetadata
from bench.example_archive import Limits, prepare
from bench.examples import blocks_of, joined
from tests.backend.futures.test_futures import request as request_futures
from tests.backend.futures.test_futures import simulate_with_videos
from tests.backend.test_saliency import PONG, made_track
from tests.factories import Api, checkpoint_path, event, metrics, sha256, video
from tests.provenance import PROVENANCE

FOLDER = "/home/somebody/arcadia"


def checkpoint_file(step: int) -> bytes:
    """Return a checkpoint with the weights of a network and the statistics of its optimizer."""
    metadata = CheckpointMetadata(step=step, frames=4 * step, facts={"updates": 7}, config={"algorithm": "paac"})
    tensors = {name: weights.of_array(np.full(50, step)) for name in ("network.body", "optimizer.body", "target.body")}
    return weights.pack(tensors, {METADATA: metadata.model_dump_json()})


@pytest.fixture
def exported(api: Api, tmp_path: Path) -> Path:
    """Export a run with two checkpoints, whose provenance and log name a host and folders. Delete the run."""
    run, attempt = api.running(name="Cart")
    facts = PROVENANCE.model_dump(mode="json") | {
        "host": "sun",
        "command": [f"{FOLDER}/python", "-m", "arcadia_workers.trainer", f"--dir={FOLDER}/runs/1"],
        "environment": {"OMP_NUM_THREADS": "2"},
    }
    api.send(run, attempt, event(2, "provenance", provenance=facts), metrics(3, 10, {"train/loss": 1 / 3}, [1.0]))
    both = [checkpoint_path(100), checkpoint_path(200)]
    api.save(run, attempt, 4, 100, checkpoint_file(100), best=True, kept=both[:1], return_mean=9.0)
    api.save(run, attempt, 5, 200, checkpoint_file(200), kept=both, return_mean=1.0)
    api.send(run, attempt, event(6, "log", message=f"Saved in {FOLDER}/run-1/checkpoint, all is well"))
    api.release(run, attempt, "finished")
    path = tmp_path / "exported.arcadia"
    path.write_bytes(api.user.get("/api/v1/archives", params={"runs": run, "files": "best"}).content)
    assert api.user.delete(f"/api/v1/runs/{run}").status_code == 204
    return path


def test_a_prepared_archive_is_imported_without_the_name_of_the_machine(
    api: Api, exported: Path, tmp_path: Path
) -> None:
    target = tmp_path / "examples.arcadia"
    prepare(exported, target, Limits())
    with zipfile.ZipFile(target) as opened:
        texts = [opened.read(name) for name in opened.namelist() if name.endswith(".jsonl")]
    assert not any(b"/home" in text or b"sun" in text or b"testhost" in text for text in texts)
    answer = api.user.post("/api/v1/archives", content=target.read_bytes())
    assert answer.status_code == 201, answer.text
    (run,) = answer.json()["runs"]
    provenance = api.user.get(f"/api/v1/runs/{run}/provenance").json()["provenance"]
    assert (provenance["host"], provenance["environment"]) == ("example", {})
    assert provenance["command"] == ["python", "-m", "arcadia_workers.trainer", "--dir=1"]
    messages = [line["message"] for line in api.user.get(f"/api/v1/runs/{run}/log").json()["items"]]
    assert "Saved in checkpoint, all is well" in messages
    series = api.user.get(f"/api/v1/runs/{run}/metrics").json()["series"]
    assert series["train/loss"]["mean"] == [1 / 3]
    assert [each["available"] for each in api.user.get(f"/api/v1/runs/{run}/checkpoints").json()] == [True, False]
    exported_again = api.user.post("/api/v1/archives", content=target.read_bytes()).json()
    assert exported_again["already"] == [run]


def test_the_best_checkpoint_remains_with_only_its_weights(api: Api, exported: Path, tmp_path: Path) -> None:
    target = tmp_path / "examples.arcadia"
    prepare(exported, target, Limits())
    (run,) = api.user.post("/api/v1/archives", content=target.read_bytes()).json()["runs"]
    best, other = api.user.get(f"/api/v1/runs/{run}/checkpoints").json()
    content = api.user.get(f"/api/v1/files/{best['file_id']}").content
    tensors = weights.read(content)
    assert (best["best"], list(tensors), best["bytes"]) == (True, ["network.body"], len(content))
    assert tensors["network.body"].to_float32().tolist() == [100.0] * 50
    metadata = CheckpointMetadata.model_validate_json(weights.read_metadata(content)[METADATA])
    assert metadata.facts == {"updates": 7, "weights_only": True}
    assert (metadata.step, metadata.frames, metadata.config) == (100, 400, {"algorithm": "paac"})
    assert (other["available"], other["bytes"]) == (False, len(checkpoint_file(200)))


def shipped_replay(api: Api, tmp_path: Path) -> tuple[int, Path]:
    """Ship a report with a replay of a run whose number in the archive is not its id. Return its id there."""
    first, attempt = api.running(name="Not shipped")
    api.release(first, attempt, "finished")
    run, attempt = api.running(name="Seen")
    content = checkpoint_file(100)
    api.save(run, attempt, 2, 100, content, best=True)
    files = {"mp4": ("video", b"film"), "png": ("poster", b"still"), "npz": ("track", made_track(content))}
    for ending, (kind, each) in files.items():
        api.upload(run, attempt, f"replays/100.{ending}", each, kind)
    assert api.send(run, attempt, video(3, 100, played=100, track="replays/100.npz")).is_success
    api.release(run, attempt, "finished")
    replay = api.user.get(f"/api/v1/runs/{run}/replays").json()[0]["id"]
    report = {"title": "Shown", "blocks": [{"kind": "replay", "replay": replay}]}
    made = api.user.post("/api/v1/reports", json=report).json()["id"]
    source, target = tmp_path / "exported.arcadia", tmp_path / "examples.arcadia"
    source.write_bytes(api.user.get("/api/v1/archives", params={"reports": made}).content)
    for path in (f"reports/{made}", f"runs/{run}"):
        api.user.delete(f"/api/v1/{path}").raise_for_status()
    prepare(source, target, Limits(replays=0, replay_bytes=0))
    return run, target


def test_a_replay_in_the_report_is_kept_with_the_checkpoint_that_played_it(api: Api, tmp_path: Path) -> None:
    former, target = shipped_replay(api, tmp_path)
    imported = api.user.post("/api/v1/archives", content=target.read_bytes()).json()
    (run,), (report,) = imported["runs"], imported["reports"]
    assert run != former
    (replay,) = api.user.get(f"/api/v1/runs/{run}/replays").json()
    (block,) = api.user.get(f"/api/v1/reports/{report}").json()["blocks"]
    assert block["replay"] == replay["id"]
    assert api.user.get(f"/api/v1/files/{replay['file_id']}").content == b"film"
    (checkpoint,) = api.user.get(f"/api/v1/runs/{run}/checkpoints").json()
    stripped = api.user.get(f"/api/v1/files/{checkpoint['file_id']}").content
    track = tracks.read(io.BytesIO(api.user.get(f"/api/v1/files/{replay['track_file_id']}").content))
    assert track.head.checkpoint_sha256 == sha256(stripped) != sha256(checkpoint_file(100))
    request = {"decision": 0, "futures": 8}
    assert api.user.post(f"/api/v1/replays/{replay['id']}/futures", json=request).status_code == 201


def test_many_points_are_thinned(api: Api, tmp_path: Path) -> None:
    run, attempt = api.running(name="Long")
    for seq in range(2, 12):
        api.send(run, attempt, metrics(seq, seq, {"train/loss": float(seq)}, []))
    source, target = tmp_path / "exported.arcadia", tmp_path / "examples.arcadia"
    source.write_bytes(api.user.get("/api/v1/archives", params={"runs": run}).content)
    api.release(run, attempt, "finished")
    assert api.user.delete(f"/api/v1/runs/{run}").status_code == 204
    prepare(source, target, Limits(points=4))
    (run,) = api.user.post("/api/v1/archives", content=target.read_bytes()).json()["runs"]
    assert api.user.get(f"/api/v1/runs/{run}/metrics").json()["series"]["train/loss"]["mean"] == [2.0, 5.0, 8.0, 11.0]


@pytest.mark.parametrize(
    ("limits", "kept"), [(Limits(replays=3), [100, 300, 500]), (Limits(replay_bytes=50), [100, 500])]
)
def test_the_first_and_the_last_replay_are_kept(api: Api, tmp_path: Path, limits: Limits, kept: list[int]) -> None:
    run, attempt = api.running(name="Seen")
    steps = range(100, 600, 100)
    for seq, step in zip(count(2, 2), steps, strict=False):
        kept_by_then = [checkpoint_path(each) for each in steps if each <= step]
        api.save(run, attempt, seq, step, checkpoint_file(step), kept=kept_by_then)
        for ending, kind in (("mp4", "video"), ("png", "poster")):
            api.upload(run, attempt, f"replays/{step}.{ending}", f"{kind} of {step}".encode(), kind)
        assert api.send(run, attempt, video(seq + 1, step, played=step)).is_success
    api.release(run, attempt, "finished")
    source, target = tmp_path / "exported.arcadia", tmp_path / "examples.arcadia"
    source.write_bytes(api.user.get("/api/v1/archives", params={"runs": run}).content)
    assert api.user.delete(f"/api/v1/runs/{run}").status_code == 204
    prepare(source, target, limits)
    (run,) = api.user.post("/api/v1/archives", content=target.read_bytes()).json()["runs"]
    replays = api.user.get(f"/api/v1/runs/{run}/replays").json()
    assert [each["step"] for each in replays if each["file_id"] is not None] == kept


def record_run(api: Api, *recordings: int) -> int:
    """Create a run whose checkpoints at these steps were recorded, those at repeated steps repeatedly."""
    run, attempt = api.running(name="Recorded", config=PONG)
    seq = count(2)
    saved: list[str] = []
    for number, step in enumerate(recordings):
        content = checkpoint_file(step)
        if checkpoint_path(step) not in saved:
            saved.append(checkpoint_path(step))
            api.save(run, attempt, next(seq), step, content, best=step == max(recordings), kept=[*saved])
        files = {"mp4": ("video", b"film"), "png": ("poster", b"still"), "npz": ("track", made_track(content))}
        for ending, (kind, each) in files.items():
            distinct = each if kind == "track" else each + str(number).encode()
            api.upload(run, attempt, f"replays/{number}.{ending}", distinct, kind)
        names = {"file": f"replays/{number}.mp4", "poster": f"replays/{number}.png", "track": f"replays/{number}.npz"}
        assert api.send(run, attempt, video(next(seq), step, played=step, **names)).is_success
    api.release(run, attempt, "finished")
    return run


def ship(api: Api, run: int, tmp_path: Path, limits: Limits) -> int:
    """Prepare the archive of a run, delete the run and import the archive. Return the id of the imported run."""
    source, target = tmp_path / "exported.arcadia", tmp_path / "examples.arcadia"
    source.write_bytes(api.user.get("/api/v1/archives", params={"runs": run}).content)
    assert api.user.delete(f"/api/v1/runs/{run}").status_code == 204
    prepare(source, target, limits)
    (imported,) = api.user.post("/api/v1/archives", content=target.read_bytes()).json()["runs"]
    return int(imported)


def shown_replays(api: Api, run: int) -> list[dict[str, Any]]:
    """Return the replays of a run that have a video."""
    return [each for each in api.user.get(f"/api/v1/runs/{run}/replays").json() if each["file_id"] is not None]


def test_a_replay_with_futures_is_kept_with_the_checkpoint_that_played_it(api: Api, tmp_path: Path) -> None:
    recorded = record_run(api, 100, 200, 300)
    request_futures(api, shown_replays(api, recorded)[1]["id"])
    simulate_with_videos(api)
    run = ship(api, recorded, tmp_path, Limits(replays=1))
    checkpoints = api.user.get(f"/api/v1/runs/{run}/checkpoints").json()
    assert [each["step"] for each in checkpoints if each["available"]] == [200, 300]
    shown = shown_replays(api, run)
    assert [(each["step"], each["actions"]["simulate"]) for each in shown] == [(200, None), (300, None)]
    (listed,) = api.user.get(f"/api/v1/replays/{shown[0]['id']}/futures").json()
    assert len(api.user.get(f"/api/v1/futures/{listed['id']}").json()["videos"]) == 2


def test_a_checkpoint_that_was_recorded_twice_counts_once(api: Api, tmp_path: Path) -> None:
    run = ship(api, record_run(api, 100, 200, 300, 300, 300), tmp_path, Limits(replays=3))
    assert [each["step"] for each in shown_replays(api, run)] == [100, 200, 300]


def test_the_report_starts_with_a_text_for_visitors() -> None:
    first, last = blocks_of([], {})
    assert "trained with Arcadia" in first["markdown"]
    assert "`example`" in last["markdown"]


def test_a_replay_with_futures_is_shown_once_in_the_report() -> None:
    best, chart = {"kind": "replay", "replay": 3, "caption": "The best."}, {"kind": "chart", "address": "/a"}
    more = {"kind": "replay", "replay": 3, "caption": "See its futures."}
    review = {"kind": "review", "replay": 3, "caption": "Lost."}
    assert joined([chart, best], [more, review]) == [chart, {**best, "caption": "The best. See its futures."}, review]
