"""The archive of examples: it has what visitors look at, but no large checkpoints and no name of the machine."""

import zipfile
from itertools import count
from pathlib import Path

import pytest

from bench.example_archive import Limits, prepare
from bench.examples import blocks_of
from tests.factories import Api, checkpoint_path, event, metrics, video, weights
from tests.provenance import PROVENANCE

FOLDER = "/home/somebody/arcadia"


@pytest.fixture
def exported(api: Api, tmp_path: Path) -> Path:
    """Export a run with two checkpoints, whose provenance and log name a host and folders. Delete the run."""
    run, attempt = api.running(name="Cart")
    facts = PROVENANCE.model_dump(mode="json") | {
        "host": "sun",
        "command": [f"{FOLDER}/python", "-m", "workers.trainer", f"--dir={FOLDER}/runs/1"],
        "environment": {"OMP_NUM_THREADS": "2"},
    }
    api.send(run, attempt, event(2, "provenance", provenance=facts), metrics(3, 10, {"train/loss": 1 / 3}, [1.0]))
    both = [checkpoint_path(100), checkpoint_path(200)]
    api.save(run, attempt, 4, 100, best=True, kept=both[:1])
    api.save(run, attempt, 5, 200, kept=both)
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
    prepare(exported, target, Limits(checkpoint_bytes=1_000))
    with zipfile.ZipFile(target) as opened:
        texts = [opened.read(name) for name in opened.namelist() if name.endswith(".jsonl")]
    assert not any(b"/home" in text or b"sun" in text or b"testhost" in text for text in texts)
    answer = api.user.post("/api/v1/archives", content=target.read_bytes())
    assert answer.status_code == 201, answer.text
    (run,) = answer.json()["runs"]
    provenance = api.user.get(f"/api/v1/runs/{run}/provenance").json()["provenance"]
    assert (provenance["host"], provenance["environment"]) == ("example", {})
    assert provenance["command"] == ["python", "-m", "workers.trainer", "--dir=1"]
    messages = [line["message"] for line in api.user.get(f"/api/v1/runs/{run}/log").json()["items"]]
    assert "Saved in checkpoint, all is well" in messages
    series = api.user.get(f"/api/v1/runs/{run}/metrics").json()["series"]
    assert series["train/loss"]["mean"] == [1 / 3]
    assert [each["available"] for each in api.user.get(f"/api/v1/runs/{run}/checkpoints").json()] == [False, True]
    exported_again = api.user.post("/api/v1/archives", content=target.read_bytes()).json()
    assert exported_again["already"] == [run]


def test_large_checkpoints_are_left_out(api: Api, exported: Path, tmp_path: Path) -> None:
    target = tmp_path / "examples.arcadia"
    prepare(exported, target, Limits(checkpoint_bytes=len(weights(1, 100)) - 1))
    (run,) = api.user.post("/api/v1/archives", content=target.read_bytes()).json()["runs"]
    assert [each["available"] for each in api.user.get(f"/api/v1/runs/{run}/checkpoints").json()] == [False, False]


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
        api.save(run, attempt, seq, step, kept=[checkpoint_path(each) for each in steps if each <= step])
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


def test_the_report_starts_with_a_text_for_visitors() -> None:
    first, last = blocks_of([])
    assert "trained with Arcadia" in first["markdown"]
    assert "`example`" in last["markdown"]
