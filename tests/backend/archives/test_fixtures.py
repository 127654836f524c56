"""Imports of archives of every format version, made by the code of the oldest data folders that can be opened."""

from pathlib import Path
from typing import Any

import pytest

from tests.backend.archives.conftest import Archives
from tests.factories import Api

FOLDER = Path(__file__).parents[2] / "fixtures" / "archives"
VERSIONS = (1, 2)


def archive_of(version: int) -> bytes:
    """Return the archive of a version."""
    return (FOLDER / f"v{version}.arcadia").read_bytes()


def check_rich_run(run: dict[str, Any]) -> None:
    """Check the content that the run has in both archives."""
    row = run["run"]
    assert (row["name"], row["notes"], row["tags"]) == ("All of it", "Notes\nof two lines", ["paper", "α"])
    assert (row["state"], row["algorithm"], row["env"], row["step"]) == ("finished", "paac", "ALE/Pong-v5", 600)
    assert row["config"]["total_steps"] == 10_000
    points = run["csv"].splitlines()[1:]
    names = [line.split(",")[5] for line in points]
    assert {name: names.count(name) for name in set(names)} == {
        "episode/return": 880,
        "episode/length": 880,
        "train/loss": 180,
        "train/odd": 140,
    }
    loss = run["points"]["series"]["train/loss"]
    assert (loss["x"][:3], loss["mean"][1], loss["mean"][-1]) == ([0, 10, 20], 0.5, -39)
    assert [row["step"] for row in run["checkpoints"]] == [300, 600]
    assert run["replays"][0]["file_id"] == (b"film", "video/mp4")
    assert run["replays"][0]["episode_return"] == "Infinity"
    assert [(each["state"], each["protocol"]) for each in run["evaluations"]] == [
        ("cancelled", "human-starts"),
        ("done", "no-op-5min"),
    ]
    assert "Über" in [line["message"] for line in run["log"]]
    assert run["first provenance"]["provenance"]["host"] == "sun"
    assert run["first provenance"]["provenance"]["packages"] == {"numpy": "2.3.1", "torch": "2.13.0"}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_archive_is_small(version: int) -> None:
    assert len(archive_of(version)) < 100_000


@pytest.mark.parametrize("version", VERSIONS)
def test_a_run_of_an_earlier_version_is_complete(archives: Archives, version: int) -> None:
    result = archives.load(archive_of(version))
    assert result["notes"] == []
    runs = [archives.read(run_id) for run_id in result["runs"]]
    (rich,) = (run for run in runs if run["run"]["name"] == "All of it")
    check_rich_run(rich)
    assert archives.load(archive_of(version))["already"] == result["runs"]


def test_a_study_and_a_report_of_version_2_are_complete(api: Api, archives: Archives) -> None:
    result = archives.load(archive_of(2))
    *trained, rich = result["runs"]
    (study_id,), (report_id,) = result["studies"], result["reports"]
    study = api.user.get(f"/api/v1/studies/{study_id}").json()
    assert (study["name"], study["question"], study["state"]) == ("Which rate?", "Q", "finished")
    assert [(point["mean"], point["values"]) for point in study["table"]] == [
        (10.0, {"learning_rate": 0.0001}),
        (20.0, {"learning_rate": 0.001}),
    ]
    assert [run["run_id"] for point in study["table"] for run in point["runs"]] == trained
    report = api.user.get(f"/api/v1/reports/{report_id}").json()
    text, curve, points, runs, table, replay = report["blocks"]
    assert report["title"] == "Rates of all"
    assert curve["address"] == f"/api/v1/figures/curves?runs={rich}"
    assert points["address"] == f"/api/v1/studies/{study_id}/figure?kind=scatter&axis=0"
    assert (runs["numbers"], table["numbers"]) == ([rich], [study_id])
    (shown,) = api.user.get(f"/api/v1/runs/{rich}/replays").json()
    assert replay["replay"] == shown["id"]
    assert text["markdown"] == f"# Rates\n\n![A picture](/api/v1/files/{shown['poster_file_id']})"
