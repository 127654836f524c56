"""`arcadia export` and `arcadia import`."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.client.cli.conftest import Arcadia, train
from tests.factories import Api


@pytest.mark.nightly
def test_runs_are_exported_deleted_and_imported(arcadia: Arcadia, api: Api, tmp_path: Path) -> None:
    ids = [train(api, name=f"exported {number}") for number in (1, 2)]
    target = tmp_path / "both.arcadia"
    exported = arcadia("export", *ids, "-o", target, "--files", "best")
    assert (exported.status, exported.out.strip()) == (0, str(target)), exported.err
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [target.name]
    with zipfile.ZipFile(target) as archive:
        assert json.loads(archive.read("archive.json"))["files"] == "best"
    assert "exists" in arcadia("export", *ids, "-o", target).err
    for run_id in ids:
        api.user.delete(f"/api/v1/runs/{run_id}").raise_for_status()
    imported = json.loads(arcadia("import", target, "--json").out)[str(target)]
    assert [api.run(run_id)["name"] for run_id in imported["runs"]] == ["exported 1", "exported 2"]
    again = arcadia("import", target)
    assert (again.status, "already there: runs " in again.err) == (0, True)


def test_a_run_is_exported_under_its_number(arcadia: Arcadia, trained: int, tmp_path: Path) -> None:
    exported = arcadia("export", trained, "-o", tmp_path)
    assert exported.out.strip() == str(tmp_path / f"run-{trained}.arcadia")


def test_deleted_runs_of_a_range_are_left_out(
    arcadia: Arcadia, api: Api, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, deleted, last = (train(api, name=f"of a range {number}") for number in range(3))
    api.user.delete(f"/api/v1/runs/{deleted}").raise_for_status()
    target = tmp_path / "range.arcadia"
    exported = arcadia("export", f"{first}-{last}", "-o", target)
    assert exported.status == 0, exported.err
    assert f"Left out of {first}-{last}, because they do not exist: {deleted}." in caplog.text
    with zipfile.ZipFile(target) as archive:
        runs = {name.split("/")[1] for name in archive.namelist() if name.startswith("runs/")}
    assert len(runs) == 2
    assert "There is no run in" in arcadia("export", f"{deleted}-{deleted}", "-o", target, "--overwrite").err


def test_a_study_and_a_report_are_exported_with_their_runs(
    arcadia: Arcadia, api: Api, trained: int, tmp_path: Path
) -> None:
    study = start_study(api)
    table = {"kind": "table", "of": "runs", "numbers": [trained]}
    report = api.user.post("/api/v1/reports", json={"title": "Rates", "blocks": [table]}).json()["id"]
    assert arcadia("export", "--study", study, "-o", tmp_path).out.strip() == str(tmp_path / f"study-{study}.arcadia")
    target = tmp_path / "both.arcadia"
    exported = arcadia("export", "--study", study, "--report", report, "-o", target)
    assert exported.status == 0, exported.err
    api.user.delete(f"/api/v1/reports/{report}").raise_for_status()
    imported = arcadia("import", target)
    assert f"imported report {report + 1}." in imported.out
    assert re.search(rf"already there: runs? (\d+, )*{trained}(, \d+)* and study {study}\.", imported.err)
    assert "--study 3 or --report 2" in arcadia("export", "-o", target, "--overwrite").err


def start_study(api: Api) -> int:
    """Start a study of one run and stop it. The scheduler may have created the run before."""
    asked = {"name": "Which rate?", "preset": "paac-cartpole", "total_steps": 1_000, "seeds": 1}
    steps = api.user.post("/api/v1/studies/preview", json=asked).json()["steps"]
    study = int(api.user.post("/api/v1/studies", json={**asked, "confirm_steps": steps}).json()["id"])
    api.user.post(f"/api/v1/studies/{study}/stop").raise_for_status()
    return study


def test_a_refused_archive_is_an_error(arcadia: Arcadia, tmp_path: Path) -> None:
    broken = tmp_path / "broken.arcadia"
    broken.write_bytes(b"no zip")
    refused = arcadia("import", broken)
    assert (refused.status != 0, "not an Arcadia archive" in refused.err) == (True, True)
    assert arcadia("import", tmp_path / "none.arcadia").status == 2
    assert "none of all, best, none" in arcadia("export", 1, "--files", "some").err
