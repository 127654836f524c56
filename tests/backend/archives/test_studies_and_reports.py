"""Archives of studies and reports. They include their runs, and all references point at the imported objects."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.studies.scheduler import StudyScheduler
from tests.backend.archives.conftest import Archives
from tests.backend.archives.test_refusals import packed
from tests.backend.studies.conftest import Studies
from tests.factories import PONG, Api, metrics, video

Purge = Callable[[int], None]
SHIFT = 7


@pytest.fixture
def studies(api: Api, database: Database, settings: Settings) -> Studies:
    """Return helpers for studies."""
    return Studies(api, lambda: StudyScheduler(database, settings, Doorbell("")).run_once())


@pytest.fixture
def finished(api: Api, studies: Studies) -> dict[str, Any]:
    """Return a finished study of three points with two runs each. It starts after another run."""
    api.act(api.launch(name="another")["id"], "stop")
    study = studies.start(question="Which rate **learns**?", max_concurrent_runs=3)
    studies.train_all(lambda config: 1e4 * config["learning_rate"] + config["seed"])
    studies.schedule()
    return studies.read(study["id"])


def runs_of(study: dict[str, Any]) -> list[int]:
    """Return the ids of a study's runs."""
    return [run["run_id"] for point in study["table"] for run in point["runs"]]


def without_ids(study: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a study that an import keeps."""
    table = [{**point, "runs": [{**run, "run_id": None} for run in point["runs"]]} for point in study["table"]]
    return {**study, "id": None, "table": table, "actions": None}


def remove(api: Api, study: dict[str, Any], purge: Purge) -> None:
    """Delete a study with its runs."""
    assert api.user.delete(f"/api/v1/studies/{study['id']}").status_code == 204
    for run_id in runs_of(study):
        purge(run_id)


def create_report(api: Api, *blocks: dict[str, Any]) -> int:
    """Create a report, and return its id."""
    answer = api.user.post("/api/v1/reports", json={"title": "Rates", "blocks": blocks})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


def blocks_of(api: Api, report_id: int) -> list[dict[str, Any]]:
    """Return the blocks of a report."""
    found: list[dict[str, Any]] = api.user.get(f"/api/v1/reports/{report_id}").json()["blocks"]
    return found


def content(api: Api, block: dict[str, Any]) -> dict[str, Any]:
    """Return the current content of a block."""
    answer = api.user.post("/api/v1/reports/preview", json={"block": block})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def run_with_replay(api: Api) -> tuple[int, dict[str, Any], int]:
    """Return the id of a run with a replay and an evaluation, the replay, and the id of the evaluation."""
    run, attempt = api.running(name="Rally", config=PONG)
    api.save(run, attempt, 2, 100)
    for kind, ending, written in (("video", "mp4", b"film"), ("poster", "png", b"picture")):
        api.upload(run, attempt, f"replays/100.{ending}", written, kind)
    api.send(run, attempt, metrics(3, 100, returns=[1.0, 3.0]), video(4, 100, 100)).raise_for_status()
    (found,) = api.user.get(f"/api/v1/runs/{run}/replays").json()
    api.beat(job_slots=1)
    evaluation = int(api.evaluate(run, seed=3)["id"])
    api.play([1.5, 2.5])
    assert api.release(run, attempt, "finished").is_success
    return run, found, evaluation


def test_an_archived_study_includes_its_runs(
    api: Api, archives: Archives, studies: Studies, finished: dict[str, Any], purge: Purge
) -> None:
    archive = archives.export_items(studies=finished["id"])
    remove(api, finished, purge)
    result = archives.load(archive)
    assert (len(result["runs"]), len(result["studies"]), result["notes"]) == (6, 1, [])
    imported = studies.read(result["studies"][0])
    assert without_ids(imported) == without_ids(finished)
    assert [point["mean"] for point in imported["table"]] == [2.5, 4.5, 11.5]
    assert sorted(runs_of(imported)) == sorted(result["runs"])
    listed = api.user.get("/api/v1/runs", params={"study": imported["id"]}).json()["items"]
    assert {run["id"] for run in listed} == set(result["runs"])


def test_the_same_study_is_imported_once(api: Api, archives: Archives, finished: dict[str, Any], purge: Purge) -> None:
    archive = archives.export_items(studies=finished["id"])
    here = archives.load(archive)
    assert (here["studies"], here["already_studies"], len(here["already"])) == ([], [finished["id"]], 6)
    remove(api, finished, purge)
    first = archives.load(archive)
    again = archives.load(archive)
    assert (again["runs"], again["studies"], again["already_studies"]) == ([], [], first["studies"])
    (study,) = api.user.get("/api/v1/studies").json()["items"]
    assert study["id"] == first["studies"][0]


def test_deleted_runs_are_restored_into_their_study(
    archives: Archives, studies: Studies, finished: dict[str, Any], purge: Purge
) -> None:
    archive = archives.export_items(studies=finished["id"])
    lost = runs_of(finished)[0]
    purge(lost)
    assert studies.read(finished["id"])["runs"]["removed"] == 1
    result = archives.load(archive)
    assert (len(result["runs"]), result["already_studies"]) == (1, [finished["id"]])
    restored = studies.read(finished["id"])
    assert (restored["runs"]["removed"], runs_of(restored)[0]) == (0, result["runs"][0])
    assert archives.load(archive)["already_studies"] == [finished["id"]], "it is still the same study"


def test_a_changed_study_is_imported_as_a_second_study_of_the_same_runs(
    api: Api, archives: Archives, studies: Studies, finished: dict[str, Any]
) -> None:
    archive = archives.export_items(studies=finished["id"])
    api.user.patch(f"/api/v1/studies/{finished['id']}", json={"name": "Renamed"}).raise_for_status()
    result = archives.load(archive)
    assert (result["runs"], len(result["studies"])) == ([], 1)
    assert runs_of(studies.read(result["studies"][0])) == runs_of(finished)
    api.user.patch(f"/api/v1/studies/{finished['id']}", json={"name": "Again"}).raise_for_status()
    third = archives.load(archives.export_items(studies=result["studies"][0]))
    assert third["already_studies"] == result["studies"]


def test_an_unfinished_study_is_stopped_when_it_is_imported(
    api: Api, archives: Archives, studies: Studies, purge: Purge
) -> None:
    study = studies.start(max_concurrent_runs=2)
    studies.schedule()
    trained = studies.train(lambda _config: 1.0)
    assert trained is not None
    archive = archives.export_items(studies=study["id"])
    purge(trained["run_id"])
    later = archives.export_items(studies=study["id"])
    studies.act(study["id"], "stop")
    remove(api, {"id": study["id"], "table": []}, purge)
    (imported,) = archives.load(later)["studies"]
    found = studies.read(imported)
    assert (found["state"], found["state_reason"]) == ("stopped", None)
    assert {state: count for state, count in found["runs"].items() if count} == {
        "planned": 4,
        "stopped": 1,
        "removed": 1,
    }, "a purged run is not planned again"
    result = archives.load(archive)
    assert (result["already_studies"], len(result["runs"])) == ([imported], 1)
    restored = studies.read(imported)["runs"]
    assert (restored["finished"], restored["removed"]) == (1, 0)


def test_an_imported_study_can_be_extended(
    api: Api, archives: Archives, studies: Studies, finished: dict[str, Any], purge: Purge
) -> None:
    archive = archives.export_items(studies=finished["id"])
    remove(api, finished, purge)
    (imported,) = archives.load(archive)["studies"]
    studies.act(imported, "extend", seeds=1, best=1)
    studies.schedule()
    studies.train_all(lambda _config: 11.0)
    studies.schedule()
    extended = studies.read(imported)
    assert (extended["state"], [point["n"] for point in extended["table"]]) == ("finished", [2, 2, 3])


def test_a_report_brings_its_content(api: Api, archives: Archives, finished: dict[str, Any], purge: Purge) -> None:
    run, replay, evaluation = run_with_replay(api)
    lost = api.launch(name="lost")["id"]
    api.act(lost, "stop")
    blocks: list[dict[str, Any]] = [
        {"kind": "text", "markdown": f"![A picture](/api/v1/files/{replay['poster_file_id']})"},
        {"kind": "chart", "address": f"/api/v1/figures/curves?runs={run},{lost}&smoothing=0.5", "caption": "Both"},
        {"kind": "chart", "address": f"/api/v1/studies/{finished['id']}/figure?kind=scatter"},
        {"kind": "chart", "address": f"/api/v1/figures/evaluation-scores?evaluation={evaluation}"},
        {"kind": "table", "of": "runs", "numbers": [run, lost]},
        {"kind": "table", "of": "study", "numbers": [finished["id"]]},
        {"kind": "replay", "replay": replay["id"]},
        {"kind": "chart", "address": f"/api/v1/figures/curves?runs={lost}"},
        {"kind": "draft", "content": json.dumps({"kind": "replay", "replay": replay["id"], "caption": ""})},
        {"kind": "draft", "content": json.dumps({"kind": "table", "of": "runs", "numbers": [], "caption": "C"})},
    ]
    report = create_report(api, *blocks)
    purge(lost)
    before = [content(api, block) for block in blocks_of(api, report)[:7]]
    archive = archives.export_items(reports=report)
    api.user.delete(f"/api/v1/reports/{report}").raise_for_status()
    remove(api, finished, purge)
    purge(run)
    for _ in range(SHIFT):
        api.act(api.launch(name="occupies a number")["id"], "stop")
    result = archives.load(archive)
    assert (len(result["runs"]), len(result["studies"]), len(result["reports"])) == (7, 1, 1)
    imported = blocks_of(api, result["reports"][0])
    new_run = next(run_id for run_id in result["runs"] if api.run(run_id)["name"] == "Rally")
    (new_replay,) = api.user.get(f"/api/v1/runs/{new_run}/replays").json()
    (new_evaluation,) = api.evaluations(new_run)
    assert imported[0]["markdown"] == f"![A picture](/api/v1/files/{new_replay['poster_file_id']})"
    assert imported[1]["address"] == f"/api/v1/figures/curves?runs={new_run}&smoothing=0.5"
    assert imported[2]["address"] == f"/api/v1/studies/{result['studies'][0]}/figure?kind=scatter"
    assert imported[3]["address"] == f"/api/v1/figures/evaluation-scores?evaluation={new_evaluation['id']}"
    assert (imported[4]["numbers"], imported[5]["numbers"]) == ([new_run], result["studies"])
    assert imported[6]["replay"] == new_replay["id"]
    assert imported[7]["kind"] == "text", "a chart of deleted runs must not show other runs"
    assert imported[7]["markdown"].startswith("*The chart is missing")
    assert json.loads(imported[8]["content"]) == {"kind": "replay", "replay": new_replay["id"], "caption": ""}
    assert json.loads(imported[9]["content"]) == {"kind": "table", "of": "runs", "caption": "C"}
    after = [content(api, block) for block in imported[:7]]
    assert [each["problem"] for each in after] == [None] * 7
    assert [each["table"] for each in after if each["table"]][1] == before[5]["table"]
    assert after[6]["replay"]["episode_return"] == before[6]["replay"]["episode_return"]


def test_a_report_is_imported_once_and_shows_restored_runs(api: Api, archives: Archives, purge: Purge) -> None:
    run, replay, _evaluation = run_with_replay(api)
    report = create_report(api, {"kind": "replay", "replay": replay["id"]})
    archive = archives.export_items(reports=report)
    assert archives.load(archive)["already_reports"] == [report]
    purge(run)
    assert content(api, blocks_of(api, report)[0])["problem"] is not None
    result = archives.load(archive)
    assert (len(result["runs"]), result["reports"], result["already_reports"]) == (1, [], [report])
    assert content(api, blocks_of(api, report)[0])["replay"]["run_id"] == result["runs"][0]
    assert archives.load(archive)["already_reports"] == [report]
    assert len(api.user.get("/api/v1/reports").json()) == 1


def test_an_edited_report_keeps_its_text(api: Api, archives: Archives, purge: Purge) -> None:
    run, attempt = api.running()
    api.send(run, attempt, metrics(2, 10, {"train/loss": 1.0}))
    api.release(run, attempt, "finished")
    report = create_report(api, {"kind": "table", "of": "runs", "numbers": [run]})
    archive = archives.export_items(reports=report)
    api.user.delete(f"/api/v1/reports/{report}").raise_for_status()
    purge(run)
    first = archives.load(archive)
    (imported,) = first["reports"]
    mine = [{"kind": "text", "markdown": "Mine"}]
    api.user.patch(f"/api/v1/reports/{imported}", json={"version": 1, "blocks": mine}).raise_for_status()
    purge(first["runs"][0])
    assert archives.load(archive)["already_reports"] == [imported]
    assert blocks_of(api, imported) == mine


def test_an_archive_has_each_run_once(api: Api, archives: Archives, finished: dict[str, Any]) -> None:
    runs = runs_of(finished)
    report = create_report(api, {"kind": "table", "of": "runs", "numbers": runs[:2]})
    query = {"runs": runs[0], "studies": finished["id"], "reports": report}
    response = api.user.get("/api/v1/archives", params=query)
    assert response.headers["content-disposition"] == 'attachment; filename="archive.arcadia"'
    with zipfile.ZipFile(io.BytesIO(response.content)) as opened:
        manifest = json.loads(opened.read("archive.json"))
    assert (manifest["version"], manifest["kind"]) == (2, "runs")
    assert sorted(each["id"] for each in manifest["runs"]) == sorted(runs)
    with zipfile.ZipFile(io.BytesIO(archives.export_items(runs=runs[0]))) as opened:
        assert json.loads(opened.read("archive.json"))["version"] == 1, "an earlier Arcadia can import it"


def test_an_export_names_missing_items(api: Api) -> None:
    for query, status, words in (
        ({}, 422, "for example runs=1,2,3, studies=1 or reports=1"),
        ({"studies": "x"}, 422, "list study ids"),
        ({"reports": ""}, 422, "list report ids"),
        ({"studies": 5}, 404, "There is no study 5."),
        ({"reports": 5}, 404, "There is no report 5."),
    ):
        response = api.user.get("/api/v1/archives", params=query)
        assert response.status_code == status, query
        assert words in response.text


WRONG_STUDIES: list[tuple[str, dict[str, Any], str]] = [
    ("study", {"state": "flying"}, "state"),
    ("study", {"specification": {}}, "is not valid: preset"),
    ("study", {"specification": {"axes": 3}}, "is not valid: axes"),
    ("points", {"number": 9}, "must have numbered points"),
    ("points", {"draw": [9]}, "is not consistent"),
    ("points", {"draw": ["NaN"]}, "is not consistent"),
    ("planned_runs", {"point": 9}, "must have numbered points"),
    ("planned_runs", {"seed": -1}, "has a seed that is not between"),
]


@pytest.mark.nightly
def test_a_study_with_a_wrong_value_is_refused(
    api: Api, archives: Archives, finished: dict[str, Any], purge: Purge
) -> None:
    with zipfile.ZipFile(io.BytesIO(archives.export_items(studies=finished["id"]))) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    remove(api, finished, purge)
    for table, changes, reason in WRONG_STUDIES:
        path = f"studies/1/rows/{table}.jsonl"
        first, *others = members[path].splitlines(keepends=True)
        changed = json.dumps(json.loads(first) | changes).encode() + b"\n"
        assert reason in archives.refusal(packed({**members, path: changed + b"".join(others)})), changes
    assert api.user.get("/api/v1/studies").json()["items"] == []


def test_a_report_with_a_wrong_block_is_refused(api: Api, archives: Archives) -> None:
    report = create_report(api, {"kind": "text", "markdown": "Hello"})
    with zipfile.ZipFile(io.BytesIO(archives.export_items(reports=report))) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    api.user.delete(f"/api/v1/reports/{report}").raise_for_status()
    path = "reports/1/rows/report.jsonl"
    row = json.loads(members[path])
    for block in ({"kind": "chart", "address": "/api/v1/runs"}, {"kind": "script"}, 3):
        changed = {**members, path: json.dumps({**row, "blocks": [block]}).encode() + b"\n"}
        assert f"{path} is not valid: " in archives.refusal(packed(changed))
    assert api.user.get("/api/v1/reports").json() == []
