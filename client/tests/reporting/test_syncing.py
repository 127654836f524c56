"""`arcadia sync`: journals without an uploader."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import arcadia
import pytest
from arcadia.errors import ArcadiaError
from arcadia.reporting import uploader
from arcadia.reporting.journal import exclusive
from arcadia.reporting.layout import JournalDirectory
from reporting import scripts
from reporting.reported_server import Rejection, ReportedServer
from reporting.scripts import wait_until


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReportedServer]:
    """Serve reported runs at ARCADIA_URL."""
    server = ReportedServer()
    monkeypatch.setenv("ARCADIA_URL", server.url)
    yield server
    server.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Log two runs offline."""
    monkeypatch.setenv("ARCADIA_JOURNALS", str(tmp_path / "journals"))
    for number, key in enumerate(["one", "two"]):
        with arcadia.init(id=key, mode="offline") as run:
            run.log({"loss": float(number)})
    return tmp_path / "journals"


def run_sync(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "arcadia", "sync", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=scripts.WAIT_SECONDS, check=False)


def test_all_journals_are_uploaded_once(folder: Path, server: ReportedServer) -> None:
    done = run_sync()
    assert (done.returncode, done.stdout) == (0, f"one is at {server.url}/runs/7\ntwo is at {server.url}/runs/8\n")
    assert sorted(values["loss"] for _, values in server.metrics()) == [0.0, 1.0]
    again = run_sync()
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "Every journal is uploaded.\n")
    cleaned = run_sync("--clean")
    assert cleaned.stderr.endswith("Deleted 2 uploaded journals.\n")
    assert not list(folder.iterdir())


def test_one_journal_is_uploaded_by_its_folder(folder: Path, server: ReportedServer) -> None:
    (journal,) = uploader.find_journals([folder / "two"])
    result = uploader.sync(journal)
    assert (result.page, result.problem, result.is_running) == (f"{server.url}/runs/7", None, False)
    assert server.metrics() == [(0, {"loss": 1.0})]
    assert [each.key for each in uploader.find_journals([])] == ["one"]
    assert [each.key for each in uploader.find_journals([folder])] == ["one"]


def test_a_folder_that_does_not_exist_is_an_error(folder: Path) -> None:
    with pytest.raises(ArcadiaError, match="does not exist"):
        uploader.find_journals([folder / "three"])


def test_a_server_that_does_not_answer_is_a_problem(
    folder: Path, server: ReportedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    server.close()
    result = uploader.sync(JournalDirectory(folder / "one"))
    assert result.problem is not None
    assert result.problem.startswith(f"No Arcadia server answers at {server.url}")


def test_a_restarting_server_is_retried(folder: Path, server: ReportedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: server.open())
    server.close()
    assert uploader.sync(JournalDirectory(folder / "one")).problem is None


def test_a_rejected_run_does_not_stop_the_others(folder: Path, server: ReportedServer) -> None:
    def reject(_path: str, body: Any) -> None:
        if body.get("key") == "one":
            raise Rejection(409, "The id one is of a trained run.")

    server.before = reject
    done = run_sync(folder)
    assert done.returncode == 1
    assert done.stderr == "one is not uploaded. The id one is of a trained run.\n"
    assert done.stdout == f"two is at {server.url}/runs/7\n"


def test_a_journal_that_another_process_uploads_is_skipped(folder: Path, server: ReportedServer) -> None:
    with exclusive(folder / "one" / "lock", wait=False):
        result = uploader.sync(JournalDirectory(folder / "one"))
    assert result.problem == "Another process uploads it."
    assert not server.requests


def test_the_events_so_far_of_a_running_offline_script_are_uploaded(tmp_path: Path, server: ReportedServer) -> None:
    program = "run = arcadia.init(id='mine'); run.log({'loss': 1.0}); print('', flush=True); sys.stdin.read()"
    with scripts.start(program, tmp_path / "journals") as script:
        assert script.stdout is not None
        script.stdout.readline()
        journal = JournalDirectory(tmp_path / "journals" / "mine")
        wait_until(lambda: journal.writers()[0].provenance.exists())
        result = uploader.sync(journal)
        assert (result.is_running, result.problem) == (True, None)
        assert server.metrics() == [(0, {"loss": 1.0})]
        assert not server.of_kind("end")
        script.kill()
    assert not uploader.sync(journal).is_running
    assert list(server.killed) == [journal.writers()[0].writer]


@pytest.mark.nightly
def test_copies_of_a_journal_lose_nothing(folder: Path, server: ReportedServer, tmp_path: Path) -> None:
    """Upload a copy from the middle of a run, then copies that continued differently."""
    journal = JournalDirectory(folder / "one")
    (writer,) = journal.writers()
    wait_until(lambda: writer.provenance.exists())
    for name, values in (("short", []), ("left", [2.0, 3.0]), ("right", [4.0, 5.0, 6.0])):
        shutil.copytree(folder / "one", tmp_path / name / "one")
        copied = JournalDirectory(tmp_path / name / "one").of_writer(writer.writer).journal
        first, *_ = copied.read_bytes().splitlines(keepends=True)
        rest = [b'{"kind":"metrics","time":1.0,"step":1,"values":{"loss":%f}}\n' % value for value in values]
        copied.write_bytes(b"".join([first, *rest]))
    done = run_sync(tmp_path / "short")
    assert (done.returncode, done.stderr, len(server.killed)) == (0, "", 1)
    assert run_sync(tmp_path / "left").stderr == ""
    assert "other events under the numbers of 2." in run_sync(tmp_path / "right").stderr
    for _ in range(2):
        assert "other events under the numbers of 2." in run_sync(tmp_path / "left" / "one").stderr
    assert sorted(values["loss"] for _, values in server.metrics()) == [0.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_a_longer_journal_that_is_copied_over_an_uploaded_one_is_uploaded(folder: Path, server: ReportedServer) -> None:
    assert run_sync(folder).returncode == 0
    (writer,) = JournalDirectory(folder / "two").writers()
    with writer.journal.open("ab") as file:
        file.write(b'{"kind":"metrics","time":1.0,"step":1,"values":{"loss":7.0}}\n')
    assert [each.key for each in uploader.clean([folder])[0]] == ["one"], "the new event is only here"
    assert [each.key for each in uploader.find_journals([folder])] == ["two"]
    assert run_sync(folder).returncode == 0
    assert server.metrics()[-1] == (1, {"loss": 7.0})


def test_the_server_given_to_a_script_is_used(
    folder: Path, server: ReportedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARCADIA_URL")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    arcadia.init(id="three", mode="offline", url=server.url).finish()
    assert uploader.sync(JournalDirectory(folder / "three")).page == f"{server.url}/runs/7"


def test_what_the_server_rejects_is_reported_and_kept(tmp_path: Path, server: ReportedServer) -> None:
    def reject(path: str, _body: Any) -> None:
        if "/artifact-files/" in path and "missing" not in path:
            raise Rejection(413, "The file is larger than 1 MB")

    (tmp_path / "model.pt").write_bytes(b"x")
    with arcadia.init(id="mine", mode="offline", directory=tmp_path / "journals") as run:
        run.log_artifact(tmp_path / "model.pt")
    server.before = reject
    done = run_sync("--clean", tmp_path / "journals")
    assert (done.returncode, done.stdout) == (0, f"mine is at {server.url}/runs/7\n")
    assert done.stderr == (
        "mine: An event could not be stored and was left out. The artifact model.pt was left out. model.pt: "
        "The file is larger than 1 MB.\n"
        f"mine: The only copy of what was left out is in {run.directory}. `arcadia sync --clean` keeps it.\n"
        "Deleted 0 uploaded journals.\n"
        f"{run.directory} is kept, because the server has rejected parts of it. Delete it if you need none.\n"
    )
    assert run.directory.is_dir()
    assert uploader.sync(JournalDirectory(run.directory)).left_out == JournalDirectory(run.directory).read_left_out()


def test_a_field_that_the_server_rejects_does_not_lose_the_run(tmp_path: Path, server: ReportedServer) -> None:
    with arcadia.init("maze", id="mine", mode="offline", directory=tmp_path) as run:
        run.log({"loss": 1.0})
    (description,) = run.directory.glob("*-*.json")
    written = json.loads(description.read_text())
    written["registration"] |= {"total_steps": 0, "name": 5}
    description.write_text(json.dumps(written))

    def reject(_path: str, body: Any) -> None:
        wrong = {"total_steps": "Input should be greater than 0", "name": "Input should be text"}
        if found := [{"field": name, "message": why} for name, why in wrong.items() if name in body]:
            raise Rejection(422, "There are wrong fields", errors=found[:1])

    server.before = reject
    for _ in range(2):
        result = uploader.sync(JournalDirectory(run.directory))
        assert (result.problem, len(result.left_out)) == (None, 2)
        (run.directory / "complete").unlink()
    assert server.metrics() == [(0, {"loss": 1.0})]
    (registration, _) = server.registrations
    assert registration["project"] == "maze"
    assert [event["message"] for event in server.of_kind("log")] == [
        "total_steps was left out: 0. Input should be greater than 0. name was left out: 5. Input should be text."
    ]
    assert not any(server.conflicts.values())


def test_a_wrong_field_without_which_there_is_no_run_is_a_problem(folder: Path, server: ReportedServer) -> None:
    def reject(_path: str, _body: Any) -> None:
        raise Rejection(422, "key: too odd", errors=[{"field": "key", "message": "too odd"}])

    server.before = reject
    assert [uploader.sync(each).problem for each in uploader.find_journals([folder])] == ["key: too odd."] * 2
