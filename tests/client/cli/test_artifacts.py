"""`arcadia artifacts`."""

import json
from pathlib import Path

import pytest

from tests.backend.artifacts.conftest import ArtifactScript
from tests.client.cli.conftest import Arcadia
from tests.factories import Api


@pytest.fixture
def script(api: Api) -> ArtifactScript:
    """Return a script that has logged two versions of a model, and a reference."""
    script = ArtifactScript(api.user, key="trains-for-the-command")
    script.begin(name="trains", project="Shelf").raise_for_status()
    if not api.user.get("/api/v1/artifacts", params={"project": "Shelf"}).json()["items"]:
        for number in range(2):
            files = {"m.bin": f"{number}".encode(), "eval/s.csv": b"s"}
            script.log_artifact("model", files, kind="model", metadata={"score": number})
        script.log_entries("levels", [{"path": "far", "uri": "s3://bucket/far"}])
    return script


def test_artifacts_are_listed_and_shown(arcadia: Arcadia, script: ArtifactScript) -> None:
    listed = arcadia("artifacts", "list", "--project", "Shelf")
    assert [line.split()[:4] for line in listed.out.splitlines()[1:]] == [
        ["levels", "Shelf", "file", "v0"],
        ["model", "Shelf", "model", "v1"],
    ]
    assert len(json.loads(arcadia("artifacts", "list", "--project", "Shelf", "--kind", "model", "--json").out)) == 1
    shown = arcadia("artifacts", "show", "Shelf/model:v0").out
    for part in ("Shelf/model:v0", f"trains (run {script.run_id})", "eval/s.csv", "score"):
        assert part in shown
    assert "s3://bucket/far" in arcadia("artifacts", "show", "levels", "--project", "Shelf").out
    missing = arcadia("artifacts", "show", "Shelf/model:v8")
    assert (missing.status, "model has no version v8" in missing.err) == (1, True)


def test_an_artifact_of_another_project_is_named(arcadia: Arcadia, script: ArtifactScript) -> None:
    del script
    shown = arcadia("artifacts", "show", "model")
    assert (shown.status, "has no artifact model. Other projects have one: Shelf/model." in shown.err) == (1, True)
    assert "name an artifact, such as model" in arcadia("artifacts", "show", "").err
    unknown = arcadia("artifacts", "show", "nowhere/model").err
    assert "there is no project 'nowhere'" in unknown
    assert "POST" not in unknown


def test_an_empty_list_names_its_filters(arcadia: Arcadia, script: ArtifactScript) -> None:
    del script
    for arguments, reason in (
        (("--kind", "modle"), "There is no artifact with --kind modle."),
        (("--project", "shelf", "--search", "zzz"), "There is no artifact with --project shelf --search zzz."),
        (("--project", "shelv"), "There is no project named 'shelv'. Did you mean Shelf?"),
    ):
        assert reason in arcadia("artifacts", "list", *arguments).err


def test_a_version_is_named_and_downloaded(arcadia: Arcadia, script: ArtifactScript, tmp_path: Path) -> None:
    del script
    assert arcadia("artifacts", "alias", "Shelf/model:v0", "best").out.strip() == "model:best is model:v0."
    done = arcadia("artifacts", "download", "Shelf/model:best", tmp_path / "model")
    assert done.out.strip() == f"model:v0 is in {tmp_path / 'model'}.", done.err
    assert ((tmp_path / "model/m.bin").read_text(), (tmp_path / "model/eval/s.csv").read_text()) == ("0", "s")
    references = arcadia("artifacts", "download", "Shelf/levels", tmp_path / "levels")
    assert references.out.strip().endswith("1 reference left out.")


def test_a_version_is_deleted_after_confirmation(arcadia: Arcadia, script: ArtifactScript) -> None:
    script.events.extend([{}] * (3 - len(script.events)))
    script.log_artifact("short-lived", {"a": b"a"})
    refused = arcadia("artifacts", "delete", "Shelf/short-lived")
    assert (refused.status, "Add --yes" in refused.err) == (2, True)
    assert arcadia("artifacts", "delete", "Shelf/short-lived", "--yes").status == 0
    assert arcadia("artifacts", "show", "Shelf/short-lived").status == 1
