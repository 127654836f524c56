"""Artifacts: versions, aliases, lineage, downloads and deletion."""

import io
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from arcadia_backend.artifacts.service import UNUSED_KEPT, delete_unused_files
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables import File
from tests.backend.artifacts.conftest import ArtifactScript, start_script
from tests.factories import Api, sha256

MODEL = {"model.bin": b"weights", "eval/scores.csv": b"episode,return\n0,21\n"}


def stored(app: FastAPI) -> list[Path]:
    """Return the files of artifacts on the disk."""
    return sorted((app.state.database.files_dir / "artifacts").glob("*"))


def versions(api: Api, artifact_id: int) -> list[tuple[str, list[str]]]:
    """Return the versions of an artifact with their aliases, newest first."""
    found = api.user.get(f"/api/v1/artifacts/{artifact_id}").json()["versions"]
    return [(f"v{each['version']}", each["aliases"]) for each in found]


def warnings(api: Api, script: ArtifactScript) -> list[str]:
    """Return the warnings in a run's log."""
    lines = api.user.get(f"/api/v1/runs/{script.run_id}/log").json()["items"]
    return [line["message"] for line in lines if line["level"] == "warning"]


def test_a_logged_artifact_is_listed_with_its_files_and_its_run(api: Api, script: ArtifactScript) -> None:
    script.log_artifact("model", MODEL, kind="model", aliases=["best"], metadata={"score": 21.0}, step=500)
    (listed,) = api.user.get("/api/v1/artifacts").json()["items"]
    assert (listed["name"], listed["kind"], listed["project"], listed["version_count"]) == ("model", "model", "Main", 1)
    version = api.user.get(f"/api/v1/artifacts/{listed['id']}/versions/0").json()
    assert [(entry["path"], entry["bytes"]) for entry in version["entries"]] == [
        ("eval/scores.csv", 20),
        ("model.bin", 7),
    ]
    assert (version["aliases"], version["metadata"], version["step"]) == (["latest", "best"], {"score": 21.0}, 500)
    assert (version["bytes"], version["file_count"]) == (27, 2)
    assert [run["id"] for run in version["made_by"]] == [script.run_id]
    of_run = api.user.get(f"/api/v1/runs/{script.run_id}/artifacts").json()
    assert [(each["name"], each["version"]) for each in of_run["made"]] == [("model", 0)]
    assert of_run["used"] == []


def test_equal_contents_add_no_version_but_aliases_and_metadata(api: Api, script: ArtifactScript) -> None:
    other = start_script(api, "again")
    script.log_artifact("model", MODEL, metadata={"score": 20, "seed": 1})
    other.log_artifact("model", dict(reversed(MODEL.items())), aliases=["best"], metadata={"score": 21})
    version = script.resolve("model:v0")
    assert version["aliases"] == ["latest", "best"]
    assert version["metadata"] == {"score": 21, "seed": 1}
    assert [run["id"] for run in version["made_by"]] == [script.run_id, other.run_id]
    assert version["run_id"] == script.run_id
    assert len(versions(api, version["artifact_id"])) == 1


def test_other_contents_add_a_version_and_move_aliases(api: Api, script: ArtifactScript) -> None:
    script.log_artifact("model", {"m": b"1"}, aliases=["best", "first"])
    script.log_artifact("model", {"m": b"2"}, aliases=["best"])
    script.log_artifact("model", {"m": b"1"})
    artifact = script.resolve("model")["artifact_id"]
    assert versions(api, artifact) == [("v2", ["latest"]), ("v1", ["best"]), ("v0", ["first"])]
    assert [script.resolve(f"model:{alias}")["version"] for alias in ("latest", "best", "v0")] == [2, 1, 0]


def test_equal_files_are_stored_and_uploaded_once(api: Api, app: FastAPI, script: ArtifactScript) -> None:
    assert script.missing(b"weights", b"other") == [sha256(b"weights"), sha256(b"other")]
    script.log_artifact("model", {"a.bin": b"weights", "b.bin": b"weights"})
    other = start_script(api, "elsewhere", project="Maze")
    other.log_artifact("copy", {"c.bin": b"weights"})
    assert [path.read_bytes() for path in stored(app)] == [b"weights"]
    assert other.missing(b"weights", b"other") == [sha256(b"other")]


def test_a_repeated_upload_with_other_contents_is_refused(script: ArtifactScript) -> None:
    first = script.upload_file(b"weights")
    assert script.upload_file(b"weights").json() == first.json()
    for response in (script.upload_file(b"other", sha256(b"weights")), script.upload_file(b"x", sha256(b"y"))):
        assert response.status_code == 422
        assert "does not match" in response.json()["detail"]


def test_a_repeated_event_adds_nothing(api: Api, script: ArtifactScript) -> None:
    script.upload_file(b"weights")
    entries = [{"path": "m", "sha256": sha256(b"weights")}]
    event = script.event("artifact", artifact={"name": "model", "entries": entries})
    assert [script.post(event).json()["acknowledged"] for _ in range(2)] == [1, 1]
    assert versions(api, script.resolve("model")["artifact_id"]) == [("v0", ["latest"])]


@pytest.mark.parametrize(
    ("artifact", "reason"),
    [
        ({"name": "m", "entries": [{"path": "m", "sha256": "a" * 64}]}, "its file m was not uploaded"),
        ({"name": "m", "entries": []}, "at least 1 item"),
        ({"name": "a b", "entries": [{"path": "m", "uri": "s3://x"}]}, "artifact.name: use up to 128 letters"),
        ({"name": "m", "entries": [{"path": "../m", "uri": "s3://x"}]}, "must be relative"),
        ({"name": "m", "entries": [{"path": "/m", "uri": "s3://x"}]}, "must be relative"),
        ({"name": "m", "entries": [{"path": "m"}]}, "either a hash or an address"),
        ({"name": "m", "entries": [{"path": "m", "uri": "s3://x"}] * 2}, "same path"),
        (
            {"name": "m", "entries": [{"path": "m", "uri": "s"}, {"path": "m/n", "uri": "s"}]},
            "both a file and a folder",
        ),
    ],
)
def test_an_artifact_that_cannot_be_stored_is_left_out(
    api: Api, script: ArtifactScript, artifact: dict[str, Any], reason: str
) -> None:
    assert script.log("artifact", artifact=artifact)["acknowledged"] == 1
    (warning,) = warnings(api, script)
    assert reason in warning
    assert api.user.get("/api/v1/artifacts").json()["items"] == []


def test_odd_aliases_and_metadata_do_not_lose_the_artifact(api: Api, script: ArtifactScript) -> None:
    aliases = ["latest", "best", "best", "v7", "two words"]
    script.log_artifact("model", MODEL, aliases=aliases, metadata={"loss": "\0", "nested": {"deep": [1, None]}})
    version = script.resolve("model")
    assert version["aliases"] == ["latest", "best"]
    assert version["metadata"] == {"loss": "\ufffd", "nested": {"deep": [1, None]}}
    assert "Left out the alias 'v7' of model" in warnings(api, script)[0]


def test_another_kind_of_an_artifact_is_mentioned(api: Api, script: ArtifactScript) -> None:
    for kind in ("model", "model", "file", "dataset"):
        script.log_artifact("agent", {"a": kind.encode()}, kind=kind)
    (warning,) = api.run(script.run_id)["warnings"]
    assert warning.startswith("agent stays of the kind model, not 'dataset'. All versions")


def test_a_run_that_uses_a_version_is_in_its_lineage(api: Api, script: ArtifactScript) -> None:
    script.log_artifact("data", {"d": b"data"})
    version = script.resolve("data")
    other = start_script(api, "uses")
    other.log("artifact_use", version_id=version["id"], digest=version["digest"])
    other.log("artifact_use", version_id=version["id"], digest="0" * 64)
    assert [run["id"] for run in script.resolve("data")["used_by"]] == [other.run_id]
    assert "does not have" in warnings(api, other)[0]
    (used,) = api.user.get(f"/api/v1/runs/{other.run_id}/artifacts").json()["used"]
    assert used["name"] == "data"


def test_references_name_projects_versions_and_aliases(api: Api, script: ArtifactScript) -> None:
    other = start_script(api, "elsewhere", project="Maze")
    other.log_artifact("model", {"m": b"1"}, aliases=["best"])
    assert script.resolve("Maze/model:best")["project"] == "Maze"
    assert script.resolve("model", project="maze")["version"] == 0
    for reference, detail in (
        ("other", "The project Main has no artifact other. It has no artifacts."),
        ("model", "The project Main has no artifact model. Other projects have one: Maze/model."),
        ("Maze/data", "The project Maze has no artifact data. It has model."),
        ("Maze/model:v9", "model has no version v9. Its aliases are best, latest."),
        ("Maze/model:newest", "model has no version newest. Its aliases are best, latest."),
    ):
        response = api.user.get("/api/v1/artifacts/resolve", params={"reference": reference})
        assert (response.status_code, response.json()["detail"]) == (404, detail)
    response = api.user.get("/api/v1/artifacts/resolve", params={"reference": "Nowhere/model"})
    assert response.status_code == 422


def test_files_are_downloaded_one_by_one_and_together(api: Api, script: ArtifactScript) -> None:
    script.log_artifact("model", {**MODEL, "page.html": b"<script>", "screen.PNG": b"picture"})
    script.log_entries("remote", [{"path": "data", "uri": "s3://bucket/data", "bytes": 7}])
    path = f"/api/v1/artifacts/{script.resolve('model')['artifact_id']}/versions/0"
    for name, media_type in (("page.html", "application/octet-stream"), ("screen.PNG", "image/png")):
        served = api.user.get(f"{path}/file", params={"path": name})
        assert served.headers["content-type"] == media_type
        assert served.headers["content-disposition"] == f'attachment; filename="{name}"'
        assert served.headers["x-content-type-options"] == "nosniff"
    part = api.user.get(f"{path}/file", params={"path": "eval/scores.csv"}, headers={"Range": "bytes=0-6"})
    assert (part.status_code, part.content) == (206, b"episode")
    whole = api.user.get(f"{path}/zip")
    assert whole.headers["content-disposition"].endswith("model-v0.zip")
    with zipfile.ZipFile(io.BytesIO(whole.content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            **MODEL,
            "page.html": b"<script>",
            "screen.PNG": b"picture",
        }
    assert api.user.get(f"{path}/file", params={"path": "none"}).status_code == 404
    remote = script.resolve("remote")
    assert (remote["bytes"], remote["entries"][0]["uri"]) == (0, "s3://bucket/data")
    response = api.user.get(f"/api/v1/artifacts/{remote['artifact_id']}/versions/0/file", params={"path": "data"})
    assert "is a reference to s3://bucket/data" in response.json()["detail"]


def test_aliases_are_set_moved_and_removed(api: Api, script: ArtifactScript) -> None:
    for number in range(2):
        script.log_artifact("model", {"m": str(number).encode()})
    path = f"/api/v1/artifacts/{script.resolve('model')['artifact_id']}/aliases"
    for version in (0, 1):
        assert api.user.put(f"{path}/best", json={"version": version}).status_code == 200
        assert script.resolve("model:best")["version"] == version
    assert api.user.put(f"{path}/latest", json={"version": 0}).status_code == 422
    assert api.user.put(f"{path}/v3", json={"version": 0}).status_code == 422
    assert api.user.put(f"{path}/best", json={"version": 9}).status_code == 404
    assert [api.user.delete(f"{path}/best").status_code for _ in range(2)] == [204, 404]


def test_an_alias_that_cannot_be_set_is_explained_without_a_pattern(api: Api, script: ArtifactScript) -> None:
    script.log_artifact("agent", {"a": b"a"})
    artifact = script.resolve("agent")["artifact_id"]
    refused = api.user.put(f"/api/v1/artifacts/{artifact}/aliases/a b", json={"version": 0}).json()
    assert refused["detail"].startswith("alias: use up to 100 letters, digits, dots, hyphens and underscores")


def test_a_deleted_version_takes_only_its_own_files(api: Api, app: FastAPI, script: ArtifactScript) -> None:
    script.log_artifact("model", {"m": b"1", "shared": b"both"})
    script.log_artifact("model", {"m": b"2", "shared": b"both"}, aliases=["best"])
    path = f"/api/v1/artifacts/{script.resolve('model')['artifact_id']}"
    assert api.user.delete(f"{path}/versions/1").status_code == 204
    assert sorted(each.read_bytes() for each in stored(app)) == [b"1", b"both"]
    assert script.resolve("model")["aliases"] == ["latest"]
    script.log_artifact("model", {"m": b"3"})
    assert script.resolve("model")["version"] == 2
    assert api.user.delete(path).status_code == 204
    assert stored(app) == []
    assert api.user.get(path).status_code == 404


def test_a_purged_run_leaves_its_artifacts(api: Api, script: ArtifactScript) -> None:
    script.log_artifact("model", MODEL)
    script.log("end", outcome="finished")
    assert api.user.post(f"/api/v1/runs/{script.run_id}/archive").is_success
    assert api.user.delete(f"/api/v1/runs/{script.run_id}").is_success
    version = start_script(api, "later").resolve("model")
    assert (version["made_by"], version["run_id"], version["run_name"]) == ([], script.run_id, "trains")


def test_artifacts_keep_a_project_until_it_is_merged(api: Api, script: ArtifactScript) -> None:
    other = start_script(api, "elsewhere", project="Maze")
    script.log_artifact("model", {"m": b"1"})
    other.log_artifact("model", {"m": b"2"})
    api.user.post("/api/v1/projects/1/items", json={"runs": [other.run_id]})
    projects = {each["name"]: each["id"] for each in api.user.get("/api/v1/projects").json()}
    refused = api.user.delete(f"/api/v1/projects/{projects['Maze']}")
    assert (refused.status_code, "1 artifact" in refused.json()["detail"]) == (409, True)
    assert api.user.post(f"/api/v1/projects/{projects['Maze']}/merge", json={"into": "Main"}).is_success
    listed = api.user.get("/api/v1/artifacts").json()["items"]
    assert {(each["project"], each["name"]) for each in listed} == {("Main", "model"), ("Main", "model-2")}


def test_the_list_is_filtered_and_paged(api: Api, script: ArtifactScript) -> None:
    for name in ("model-a", "Model_b", "data"):
        script.log_artifact(name, {"m": name.encode()}, kind="dataset" if name == "data" else "model")
    script.log_artifact("model-a", {"m": b"new"}, kind="model")

    def listed(**query: str) -> list[str]:
        items = api.user.get("/api/v1/artifacts", params=query).json()["items"]
        return [each["name"] for each in items]

    assert listed() == ["model-a", "data", "Model_b"]
    assert listed(search="MODEL") == ["model-a", "Model_b"]
    assert listed(search="_") == ["Model_b"]
    assert listed(kind="dataset") == ["data"]
    assert listed(project="Maze") == []
    page = api.user.get("/api/v1/artifacts", params={"limit": 2}).json()
    assert listed(before=page["next_cursor"]) == ["Model_b"]


def test_files_without_an_artifact_are_deleted_after_a_day(app: FastAPI, script: ArtifactScript) -> None:
    script.log_artifact("model", {"m": b"named"})
    script.upload_file(b"forgotten")
    database = app.state.database
    delete_unused_files(database, utc_now())
    assert len(stored(app)) == 2
    with database.write() as session:
        for file in session.query(File).filter(File.kind == "artifact"):
            file.created_at = utc_now() - UNUSED_KEPT - timedelta(minutes=1)
    # A script that is about to name the file renews it.
    assert script.missing(b"forgotten") == []
    delete_unused_files(database, utc_now())
    assert len(stored(app)) == 2
    delete_unused_files(database, utc_now() + UNUSED_KEPT + timedelta(minutes=1))
    assert [path.read_bytes() for path in stored(app)] == [b"named"]
