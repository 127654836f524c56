"""A new version that starts on the data folder of an earlier version, and keeps everything in it."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from backend.app import create_app
from backend.config import Settings
from tests.earlier_installation import unpack

METHODS = {1: "paac", 2: "a3c", 3: "ga3c", 4: "gorila"}


@pytest.fixture
def upgraded(tmp_path: Path) -> Iterator[TestClient]:
    """Yield a client of the application on the earlier folder."""
    unpack(tmp_path)
    with TestClient(create_app(Settings(data_dir=tmp_path)), base_url="http://127.0.0.1") as client:
        yield client


def test_runs_keep_their_state_curves_and_log(upgraded: TestClient) -> None:
    page = upgraded.get("/api/v1/runs").json()
    runs = {run["id"]: run for run in page["items"]}
    assert {number: run["algorithm"] for number, run in runs.items()} == METHODS
    for number, run in runs.items():
        assert (run["state"], page["actions"][run["actions"]]["purge"]) == ("finished", None)
        assert run["step"] >= run["total_steps"] == 60_000
        series = upgraded.get(f"/api/v1/runs/{number}/metrics", params={"names": "episode/return"}).json()["series"]
        assert series["episode/return"]["total"] >= run["episodes"] > 100
        assert upgraded.get(f"/api/v1/runs/{number}/log").json()["items"][-1]["message"] == "Finished."


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("number", METHODS)
def test_files_are_complete_and_a_checkpoint_can_be_forked_and_pinned(upgraded: TestClient, number: int) -> None:
    kept = [row for row in upgraded.get(f"/api/v1/runs/{number}/checkpoints").json() if row["available"]]
    (checkpoint,) = kept
    assert len(upgraded.get(f"/api/v1/files/{checkpoint['file_id']}").content) == checkpoint["bytes"]
    for video in upgraded.get(f"/api/v1/runs/{number}/replays").json():
        assert upgraded.get(f"/api/v1/files/{video['file_id']}").content[4:8] == b"ftyp"
    place = f"/api/v1/runs/{number}/checkpoints/{checkpoint['id']}"
    assert upgraded.patch(place, json={"pinned": True}).is_success
    fork = upgraded.post(
        f"/api/v1/runs/{number}/fork",
        json={"checkpoint_id": checkpoint["id"], "overrides": {"total_steps": 70_000}},
    )
    assert fork.status_code == 201
    (copied,) = upgraded.get(f"/api/v1/runs/{fork.json()['id']}/checkpoints").json()
    content = upgraded.get(f"/api/v1/files/{copied['file_id']}").content
    assert (
        hashlib.sha256(content).digest()
        == hashlib.sha256(upgraded.get(f"/api/v1/files/{checkpoint['file_id']}").content).digest()
    )
