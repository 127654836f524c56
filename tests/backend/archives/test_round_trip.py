"""Archives of runs. Nothing is lost, and nothing is stored twice."""

import io
import json
import zipfile
from collections.abc import Callable

from tests.backend.archives.conftest import Archives
from tests.backend.reported.conftest import PNG, Script
from tests.factories import Api, metrics, sha256

Purge = Callable[[int], None]


def test_an_imported_run_is_equal_in_every_response(api: Api, archives: Archives, rich_run: int, purge: Purge) -> None:
    archive, before = archives.export(rich_run), archives.read(rich_run)
    unfinished = next(each for each in before["evaluations"] if each["state"] == "queued")
    assert len(before["points"]["series"]["train/loss"]["x"]) == 72, "only the points of the second attempt"
    assert len(before["checkpoints"]) == 2
    assert before["replays"][0]["file_id"] == (b"film", "video/mp4")
    purge(rich_run)
    result = archives.load(archive)
    assert (len(result["runs"]), result["already"], result["notes"]) == (1, [], [])
    (imported,) = result["runs"]
    after = archives.read(imported)
    cancelled = next(each for each in after["evaluations"] if each["state"] == "cancelled")
    assert cancelled["reason"] == "It had not ended when its run was exported."
    for each in (unfinished, cancelled):
        for changed in ("state", "reason", "finished_at"):
            each.pop(changed)
    assert after == before
    log = api.user.get(f"/api/v1/runs/{imported}/log").json()["items"]
    assert log[-1]["message"].endswith(f"There it was run {rich_run}.")


def test_superseded_points_are_imported_too(archives: Archives, rich_run: int, purge: Purge) -> None:
    archive = archives.export(rich_run)
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        lines = opened.read("runs/1/rows/series.jsonl").splitlines()
    segments = {each["name"]: each["segments"] for each in map(json.loads, lines)}
    assert segments["train/loss"] == [[1, 140], [2, 40]]
    assert segments["episode/return"] == [[1, 840], [2, 40]]
    purge(rich_run)
    (imported,) = archives.load(archive)["runs"]
    again = archives.export(imported)
    with zipfile.ZipFile(io.BytesIO(archive)) as one, zipfile.ZipFile(io.BytesIO(again)) as other:
        points = [name for name in one.namelist() if "/points/" in name]
        assert len(points) == 4
        assert [one.read(name) for name in points] == [other.read(name) for name in points]


def test_the_same_archive_is_imported_once(archives: Archives, api: Api, rich_run: int, purge: Purge) -> None:
    archive = archives.export(rich_run)
    assert archives.load(archive)["already"] == [rich_run], "the original run still exists"
    purge(rich_run)
    (imported,) = archives.load(archive)["runs"]
    again = archives.load(archive)
    assert (again["runs"], again["already"]) == ([], [imported])
    assert [run["id"] for run in api.user.get("/api/v1/runs").json()["items"]] == [imported]
    purge(imported)
    assert archives.load(archive)["runs"] == [imported + 1], "a deleted run can be imported again"


def test_a_changed_run_is_imported_as_a_second_run(archives: Archives, api: Api, purge: Purge) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 10, {"train/loss": 1.0}))
    early = archives.export(run_id)
    api.send(run_id, attempt, metrics(3, 20, {"train/loss": 2.0}))
    late = archives.export(run_id)
    api.release(run_id, attempt, "finished")
    purge(run_id)
    (first,) = archives.load(early)["runs"]
    result = archives.load(late)
    assert result["notes"] == [f"Run {first + 1}: An earlier state of this run was imported as run {first}."]
    assert [api.run(each)["step"] for each in (first, first + 1)] == [10, 20]


def test_an_active_run_is_stopped_when_it_is_imported(archives: Archives, api: Api, purge: Purge) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 10, {"train/loss": 1.0}))
    archive = archives.export(run_id)
    api.release(run_id, attempt, "finished")
    purge(run_id)
    (imported,) = archives.load(archive)["runs"]
    run = api.run(imported)
    assert (run["state"], run["step"], run["finished_at"] is not None) == ("stopped", 10, True)
    assert run["state_reason"] == "It had not ended when it was exported from another installation."


def test_an_imported_run_can_be_forked(archives: Archives, api: Api, rich_run: int, purge: Purge) -> None:
    archive = archives.export(rich_run)
    purge(rich_run)
    (imported,) = archives.load(archive)["runs"]
    newest = api.user.get(f"/api/v1/runs/{imported}/checkpoints").json()[-1]
    child = api.act(imported, "fork", checkpoint_id=newest["id"])
    assert (child["step"], child["parent"]["run_id"]) == (600, imported)


def test_an_archive_can_leave_out_files(archives: Archives, rich_run: int, purge: Purge) -> None:
    sizes = {files: len(archives.export(rich_run, files=files)) for files in ("none", "best", "all")}
    assert sizes["none"] < sizes["best"] < sizes["all"]
    archive = archives.export(rich_run, files="best")
    purge(rich_run)
    (imported,) = archives.load(archive)["runs"]
    after = archives.read(imported)
    assert [row["available"] for row in after["checkpoints"]] == [False, True]
    assert after["replays"][0]["poster_file_id"] == (b"still", "image/png")


def test_a_reported_run_keeps_its_media(archives: Archives, api: Api, purge: Purge) -> None:
    script = Script(api.user)
    script.begin(method="PPO", env="anything", name="mine", origin_label="Python", project="p")
    script.upload(PNG)
    script.log("media", step=3, name="screen", media="image", sha256=sha256(PNG), caption="first")
    script.log("media", step=4, name="weights", media="histogram", data={"edges": [0, 1], "counts": [3]})
    script.log("metrics", step=-5, values={"loss ä": 0.5, "acc": "NaN"})
    script.log("end", outcome="finished")
    archive, before = archives.export(script.run_id), archives.read(script.run_id)
    assert before["media"][0]["file_id"] == (PNG, "image/png")
    purge(script.run_id)
    (imported,) = archives.load(archive)["runs"]
    after = archives.read(imported)
    assert before["run"].pop("reported_key") == "key-1"
    assert after["run"].pop("reported_key") is None, "its script still reports to the first installation"
    assert after == before


def test_an_imported_reported_run_says_where_its_script_is(archives: Archives, api: Api, purge: Purge) -> None:
    script = Script(api.user)
    script.begin(method="PPO", env="anything")
    script.log("end", outcome="paused")
    archive = archives.export(script.run_id)
    purge(script.run_id)
    (script.run_id,) = archives.load(archive)["runs"]
    resumed = api.user.post(f"/api/v1/runs/{script.run_id}/resume")
    sentence = "was imported without its script, which still reports to the other installation. Resume it there."
    assert (resumed.status_code, resumed.json()["detail"]) == (409, f"Run {script.run_id} {sentence}")
    assert api.run(script.run_id)["actions"]["resume"] == f"This run {sentence}"
    logged = script.post()
    assert (logged.status_code, "was imported from an archive" in logged.json()["detail"]) == (409, True)


def test_runs_of_one_archive_remain_parent_and_fork(archives: Archives, api: Api, purge: Purge) -> None:
    parent, attempt = api.running()
    checkpoint = api.save(parent, attempt, 2, 100)
    api.release(parent, attempt, "finished")
    child = api.act(parent, "fork", checkpoint_id=checkpoint)["id"]
    api.act(child, "stop")
    both = api.user.get("/api/v1/archives", params={"runs": f"{child},{parent}"})
    assert both.headers["content-disposition"] == 'attachment; filename="2-runs.arcadia"'
    alone = archives.export(child)
    purge(parent)
    purge(child)
    new_child, new_parent = archives.load(both.content)["runs"]
    assert api.run(new_child)["parent"] == {"run_id": new_parent, "checkpoint_id": None, "step": 100}
    assert archives.load(alone)["already"] == [new_child]
    purge(new_child)
    (lonely,) = archives.load(alone)["runs"]
    assert api.run(lonely)["parent"] is None, "the run with its parent's id may be unrelated here"
