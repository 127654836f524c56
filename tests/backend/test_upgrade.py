"""A new version that starts on the data folder of the oldest supported version, and keeps everything in it."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from tests.earlier_installation import METHODS, unpack


@pytest.fixture
def upgraded(tmp_path: Path) -> Iterator[TestClient]:
    """Yield a client of the application on the earlier folder."""
    unpack(tmp_path)
    with TestClient(create_app(Settings(data_dir=tmp_path / "data")), base_url="http://127.0.0.1") as client:
        yield client


def test_runs_keep_their_state_curves_and_log(upgraded: TestClient) -> None:
    page = upgraded.get("/api/v1/runs").json()
    runs = {run["id"]: run for run in page["items"] if run["id"] in METHODS}
    assert {number: run["algorithm"] for number, run in runs.items()} == METHODS
    for number, run in runs.items():
        assert (run["state"], page["actions"][run["actions"]]["purge"]) == ("finished", None)
        assert run["step"] >= run["total_steps"] == 3_000
        series = upgraded.get(f"/api/v1/runs/{number}/metrics", params={"names": "episode/return"}).json()["series"]
        assert series["episode/return"]["total"] >= run["episodes"] > 10
        assert upgraded.get(f"/api/v1/runs/{number}/log").json()["items"][-1]["message"] == "Finished."


def test_settings_of_runs_are_found(upgraded: TestClient) -> None:
    for method in METHODS.values():
        query = {"filter": f"method = {method} and total_steps = 3000 and seed >= 0", "sort": "seed"}
        assert upgraded.get("/api/v1/runs", params=query).json()["total"] >= 1, method


def test_everything_else_is_kept(upgraded: TestClient) -> None:
    def read(path: str) -> Any:
        answer = upgraded.get(f"/api/v1/{path}")
        assert answer.is_success, answer.text
        return answer.json()

    assert [each["name"] for each in read("aliases")] == ["balanced/best"]
    assert [each["name"] for each in read("views")] == ["Carts"]
    assert [each["title"] for each in read("projects/2/board")["panels"]] == ["Return"]
    assert [point["mean"] for point in read("studies/1")["table"]] == [10.0, 20.0]
    assert len(read("reports/1")["blocks"]) == 6
    assert "<svg" in upgraded.get("/api/v1/reports/1/export").text
    (evaluation,) = read("runs/4/evaluations")["items"]
    assert (evaluation["state"], evaluation["episodes_total"]) == ("done", 3)
    hours = {row["kind"]: row for row in read("usage?by=kind")["rows"]}
    assert (hours["training"]["attempts"], hours["evaluation"]["attempts"]) == (8, 2)
    assert hours["training"]["core_hours"] > 0 == hours["training"]["gpu_hours"]
    assert read("runs/4/provenance")["provenance"]["packages"]["torch"]


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("number", METHODS)
def test_files_are_complete_and_a_checkpoint_can_be_forked_and_pinned(upgraded: TestClient, number: int) -> None:
    rows = upgraded.get(f"/api/v1/runs/{number}/checkpoints").json()
    checkpoint = [row for row in rows if row["available"]][-1]
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


def test_the_token_works_until_the_first_account_which_gets_all_runs(tmp_path: Path) -> None:
    unpack(tmp_path)
    app = create_app(Settings(data_dir=tmp_path / "data", token=SecretStr("installation")))
    with TestClient(app, base_url="http://127.0.0.1") as owner:
        assert owner.get("/api/v1/runs").status_code == 401
        owner.headers["Authorization"] = "Bearer installation"
        runs = owner.get("/api/v1/runs").json()["total"]
        assert runs > len(METHODS)
        ana = {"name": "Ana", "email": "ana@example.org", "password": "correct horse battery"}
        created = owner.post("/api/v1/people/first", json=ana)
        assert (created.status_code, created.json()["is_administrator"]) == (201, True)
        # From here on the cookie of the account counts.
        refused = owner.get("/api/v1/runs")
        assert refused.status_code == 401
        assert refused.json()["detail"].startswith("ARCADIA_TOKEN opens a server without accounts.")
        del owner.headers["Authorization"]
        page = owner.get("/api/v1/runs").json()
        assert page["total"] == runs
        mine = owner.get("/api/v1/runs", params={"filter": "person = me"}).json()
        assert mine["total"] == runs
