"""Artifacts of a script: snapshots, uploads and rejections."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import arcadia
import pytest
from arcadia.errors import ArcadiaError
from arcadia.reporting import uploader
from arcadia.reporting.layout import JournalDirectory
from arcadia.reporting.run import ReportedRun
from reporting import scripts
from reporting.reported_server import Rejection, ReportedServer


def digest(content: bytes) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReportedServer]:
    """Serve reported runs at ARCADIA_URL."""
    server = ReportedServer()
    monkeypatch.setenv("ARCADIA_URL", server.url)
    yield server
    server.close()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReportedRun]:
    """Start an offline run in an empty working folder."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    with arcadia.init(id="mine", mode="offline", directory=tmp_path / "journals") as run:
        yield run


def logged(run: ReportedRun) -> list[dict[str, Any]]:
    """Return the artifacts in the journal."""
    events = scripts.events(run.directory.parent)
    return [event["artifact"] for event in events if event["kind"] == "artifact"]


def paths(artifact: dict[str, Any]) -> list[str]:
    """Return the paths of an artifact."""
    return [entry["path"] for entry in artifact["entries"]]


def sync(run: ReportedRun) -> uploader.SyncResult:
    """Upload what the journal has."""
    return uploader.sync(JournalDirectory(run.directory))


def test_later_changes_of_a_file_do_not_change_what_was_logged(run: ReportedRun, server: ReportedServer) -> None:
    model = Path("model.pt")
    model.write_bytes(b"first")
    run.log({"loss": 1.0}, step=7)
    run.log_artifact(model, kind="model", aliases=["best"], metadata={"loss": 1.0})
    # In place, as torch.save writes.
    model.write_bytes(b"second, longer")
    run.log_artifact("model.pt", kind="model")
    model.unlink()
    run.finish()
    assert sync(run).problem is None
    first, second = (event["artifact"] for event in server.of_kind("artifact"))
    assert first == {
        "name": "model.pt",
        "kind": "model",
        "aliases": ["best"],
        "metadata": {"loss": 1.0},
        "entries": [{"path": "model.pt", "sha256": digest(b"first"), "bytes": 5}],
        "step": 7,
    }
    assert sorted(server.files.values()) == [b"first", b"second, longer"]
    assert (second["aliases"], second["metadata"]) == ([], {})


def test_a_folder_is_logged_with_the_paths_in_it(run: ReportedRun) -> None:
    for name in ("data/train/a.csv", "data/b.csv"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(name)
    run.log_artifact("data")
    run.log_artifact({"all": "data", "one.csv": "data/b.csv", "far": "s3://bucket/far"}, name="mixed")
    run.log_artifact("s3://bucket/raw/", name="raw")
    folder, mixed, raw = logged(run)
    assert (folder["name"], paths(folder)) == ("data", ["b.csv", "train/a.csv"])
    assert paths(mixed) == ["all/b.csv", "all/train/a.csv", "far", "one.csv"]
    assert raw["entries"] == [{"path": "raw", "uri": "s3://bucket/raw/"}]


def test_a_list_of_files_is_logged_by_their_names(run: ReportedRun) -> None:
    Path("data").mkdir()
    for name in ("a.pt", "data/b.csv"):
        Path(name).write_text(name)
    run.log_artifact(["a.pt", Path("data/b.csv"), "s3://bucket/far"])
    run.log_artifact(("a.pt", "data"), name="both")
    first, both = logged(run)
    assert (first["name"], paths(first)) == ("files", ["a.pt", "b.csv", "far"])
    assert (both["name"], paths(both)) == ("both", ["a.pt", "data/b.csv"])


def test_odd_options_do_not_lose_an_artifact(run: ReportedRun, capsys: pytest.CaptureFixture[str]) -> None:
    Path("model.pt").write_bytes(b"x")
    odd: Any = run
    odd.log_artifact("model.pt", 5, kind=None, aliases=3, metadata=[1])
    (artifact,) = logged(run)
    found = {name: artifact[name] for name in ("name", "kind", "aliases", "metadata")}
    assert found == {"name": "5", "kind": "file", "aliases": ["3"], "metadata": {}}
    assert capsys.readouterr().err == (
        "arcadia: The metadata of the artifact 5 was left out. The metadata is a list. "
        "Use a mapping, a dataclass or a namespace of argparse.\n"
    )


def test_names_come_from_files(run: ReportedRun) -> None:
    Path("my model (1).pt").write_bytes(b"x")
    run.log_artifact("my model (1).pt")
    run.log_artifact(".")
    assert [artifact["name"] for artifact in logged(run)] == ["my-model-1-.pt", "work"]


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ("none.pt", {}, "none.pt does not exist"),
        ("empty", {}, "empty has no files"),
        ("linked", {}, "is a link to a folder"),
        ("model.pt", {"name": "my model"}, "cannot be the name of an artifact"),
        ("model.pt", {"aliases": ["v3"]}, "'v3' cannot be an alias"),
        ("model.pt", {"metadata": {"text": "x" * 3_600_000}}, "too long"),
        ({"a.pt": "model.pt"}, {}, "needs a name"),
        ({"../a.pt": "model.pt"}, {"name": "model"}, "cannot be a path"),
        (None, {}, "None cannot be logged as an artifact. Use a file, a folder, a list of files"),
        (3, {"name": "model"}, "3 cannot be logged as an artifact"),
        ({"a.pt": 3}, {"name": "model"}, "3 cannot be logged as an artifact"),
        (["model.pt", 3], {}, "3 is not a path"),
        (["model.pt", "./model.pt"], {}, "Two files have the name model.pt"),
        ([], {}, "has no files"),
    ],
)
def test_what_cannot_be_logged_is_an_error(run: ReportedRun, files: Any, options: dict[str, Any], message: str) -> None:
    Path("model.pt").write_bytes(b"x")
    Path("empty").mkdir()
    Path("linked").mkdir()
    Path("linked", "inner").symlink_to(Path("empty").absolute())
    with pytest.raises(ArcadiaError, match=message):
        run.log_artifact(files, **options)
    assert logged(run) == []


def test_a_disk_that_takes_no_copy_does_not_stop_the_script(
    run: ReportedRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("model.pt").write_bytes(b"x")

    def fail(*_arguments: Any, **_named: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("tempfile.mkstemp", fail)
        run.log_artifact("model.pt")
    assert "model.pt was left out: its files cannot be copied (No space left on device)" in capsys.readouterr().err
    assert logged(run) == []


def test_only_missing_files_are_uploaded(run: ReportedRun, server: ReportedServer) -> None:
    server.files[digest(b"known")] = b"known"
    for name in ("known", "new"):
        Path(name).write_text(name)
    run.log_artifact({"a": "known", "b": "new", "c": "new"}, name="data")
    run.finish()
    assert sync(run).problem is None
    uploads = [path for method, path, _ in server.requests if method == "PUT"]
    assert [digest(b"new") in path for path in uploads] == [True]


def test_an_interrupted_upload_continues_with_the_missing_files(
    run: ReportedRun, server: ReportedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    for name in ("one", "two"):
        Path(name).write_text(name)
    run.log_artifact({"a": "one", "b": "two"}, name="data")
    run.finish()

    def lose(path: str, _body: Any) -> None:
        if digest(b"two") in path:
            raise ConnectionError

    server.before = lose
    assert sync(run).problem is not None
    server.before = lambda _path, _body: None
    assert sync(run).problem is None
    uploads = [path for method, path, _ in server.requests if method == "PUT"]
    assert sum(digest(b"one") in path for path in uploads) == 1
    assert [paths(event["artifact"]) for event in server.of_kind("artifact")] == [["a", "b"]]


@pytest.mark.parametrize(
    ("status", "problem", "reason"),
    [
        (413, "The file is larger than allowed.", "model.pt: The file is larger than allowed."),
        (404, "no-such-path", "This server has no artifacts. Update it."),
    ],
)
def test_a_rejected_artifact_is_left_out_with_a_warning(
    run: ReportedRun, server: ReportedServer, status: int, problem: str, reason: str
) -> None:
    Path("model.pt").write_bytes(b"x")
    run.log_artifact("model.pt")
    run.log({"loss": 1.0})
    run.finish()

    def reject(path: str, _body: Any) -> None:
        if "artifact-files" in path and (status == 404 or digest(b"x") in path):
            raise Rejection(status, problem, type=f"/problems/{problem}")

    server.before = reject
    assert sync(run).problem is None
    (warning,) = server.of_kind("log")
    assert warning["message"].endswith(f"The artifact model.pt was left out. {reason}")
    assert server.metrics() == [(0, {"loss": 1.0})]


def test_a_disabled_run_checks_and_copies_nothing(tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(b"x")
    run = arcadia.init(mode="disabled", directory=tmp_path / "journals")
    run.log_artifact(tmp_path / "model.pt")
    with pytest.raises(ArcadiaError, match="does not exist"):
        run.log_artifact(tmp_path / "none.pt")
    assert [each.name for each in tmp_path.iterdir()] == ["model.pt"]


def test_an_offline_run_cannot_use_an_artifact(run: ReportedRun) -> None:
    with pytest.raises(ArcadiaError, match="this run is not online"):
        run.use_artifact("model:best")


def test_a_killed_script_has_logged_its_artifact(tmp_path: Path, server: ReportedServer) -> None:
    (tmp_path / "model.pt").write_bytes(b"weights")
    program = (
        f"run = arcadia.init(id='mine'); run.log_artifact({str(tmp_path / 'model.pt')!r}, name='model')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    scripts.run(program, tmp_path / "journals")
    (tmp_path / "model.pt").unlink()
    result = uploader.sync(JournalDirectory(tmp_path / "journals" / "mine"))
    assert (result.problem, result.is_running) == (None, False)
    assert [event["artifact"]["name"] for event in server.of_kind("artifact")] == ["model"]
    assert server.files == {digest(b"weights"): b"weights"}
    assert len(server.killed) == 1
