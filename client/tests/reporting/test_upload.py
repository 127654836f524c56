"""Upload of journals: every event arrives once, even if the server fails."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import arcadia
import pytest
from arcadia.reporting import upload as upload_module
from arcadia.reporting.connection import Connection, RejectedError
from arcadia.reporting.layout import JournalDirectory
from arcadia.reporting.upload import Upload
from reporting.reported_server import Rejection, ReportedServer


@pytest.fixture
def server() -> Iterator[ReportedServer]:
    """Serve reported runs."""
    server = ReportedServer()
    yield server
    server.close()


@pytest.fixture
def folder(tmp_path: Path) -> JournalDirectory:
    """Log a finished run of 50 points with an image, offline."""
    with arcadia.init("maze", "first", {"rate": 0.1}, mode="offline", directory=tmp_path, id="mine") as run:
        for number in range(50):
            run.log({"loss": number / 3, "return": number})
        run.log({"screen": arcadia.Image([[0, 255]]), "text": arcadia.Table(["a"], [["é"]])})
    return JournalDirectory(tmp_path / "mine")


POINTS = [(number, {"loss": number / 3, "return": number}) for number in range(50)]


def start_upload(folder: JournalDirectory, server: ReportedServer) -> Upload:
    return Upload(folder, Connection(server.url, "secret"))


def no_pauses(_seconds: float) -> None:
    """Skip the pauses."""


def test_an_offline_run_arrives_whole(folder: JournalDirectory, server: ReportedServer) -> None:
    start_upload(folder, server).run(no_pauses)
    assert server.metrics() == POINTS
    (events,) = server.events.values()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["kind"] == "provenance"
    assert events[0]["provenance"]["packages"]["pytest"] == pytest.__version__
    assert events[-1] == {"seq": len(events), "kind": "end", "time": events[-1]["time"], "outcome": "finished"}
    (image,) = server.files.values()
    assert image == arcadia.Image([[0, 255]]).content()
    (registration,) = server.registrations
    assert registration | {"host": "", "command": [], "started_at": "", "writer": ""} == {
        "key": "mine",
        "writer": "",
        "name": "first",
        "project": "maze",
        "config": {"rate": 0.1},
        "tags": [],
        "origin": "reported",
        "origin_label": "Python",
        "host": "",
        "command": [],
        "started_at": "",
        "resume": "allow",
    }
    assert folder.is_complete()
    assert folder.read_status()["path"] == "/runs/7"


def test_a_second_upload_only_sends_the_last_event_again(folder: JournalDirectory, server: ReportedServer) -> None:
    start_upload(folder, server).run(no_pauses)
    before = dict(server.events)
    folder.complete.unlink()
    received: list[Any] = []
    server.before = lambda path, body: received.extend(body["events"] if path.endswith("/events") else ())
    start_upload(folder, server).run(no_pauses)
    assert server.events == before
    assert [event["kind"] for event in received] == ["end"]


@pytest.mark.parametrize("limit", [1, 7, 1_000])
def test_batches_of_every_size_arrive_once(
    folder: JournalDirectory, server: ReportedServer, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(upload_module, "MAX_EVENTS", limit)
    start_upload(folder, server).run(no_pauses)
    assert server.metrics() == POINTS


@pytest.mark.parametrize("kind", ["before", "after"])
def test_a_lost_connection_neither_loses_nor_doubles_events(
    folder: JournalDirectory, server: ReportedServer, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(upload_module, "MAX_EVENTS", 10)
    counts = iter(range(1_000))

    def fail(*_arguments: Any) -> None:
        if next(counts) % 2:
            raise ConnectionError

    setattr(server, kind, fail)
    start_upload(folder, server).run(no_pauses)
    assert server.metrics() == POINTS
    assert folder.read_status()["problem"] is None


@pytest.mark.parametrize("status", [403, 429, 500, 503, 507])
def test_an_unavailable_server_is_retried(folder: JournalDirectory, server: ReportedServer, status: int) -> None:
    problems = []

    def note(_seconds: float) -> None:
        problems.append(folder.read_status()["problem"])
        server.before = lambda _path, _body: None

    def refuse(_path: str, _body: Any) -> None:
        raise Rejection(status, "Not now.")

    server.before = refuse
    start_upload(folder, server).run(note)
    assert problems[0].endswith("Not now.")
    assert server.metrics() == POINTS


def test_pauses_grow_and_end_with_the_failures(
    folder: JournalDirectory, server: ReportedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", lambda _low, high: high)
    pauses: list[float] = []

    def note(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 8:
            server.open()

    server.close()
    start_upload(folder, server).run(note)
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert server.metrics() == POINTS


@pytest.mark.parametrize(("seconds", "pause"), [(0.01, 0.5), (0.2, 2.0), (30.0, 10.0)])
def test_a_slow_server_gets_fewer_requests_but_always_heartbeats(
    folder: JournalDirectory, server: ReportedServer, monkeypatch: pytest.MonkeyPatch, seconds: float, pause: float
) -> None:
    monkeypatch.setattr(upload_module, "is_writer_alive", lambda _file: True)
    now = itertools.count(step=seconds / 5)  # the clock is read five times while events are sent
    monkeypatch.setattr(upload_module, "time", SimpleNamespace(monotonic=lambda: next(now)))
    pauses: list[float] = []

    def note(seconds: float) -> None:
        pauses.append(seconds)
        shutil.rmtree(folder.path)

    start_upload(folder, server).run(note)
    assert pauses == [pytest.approx(pause)]


def test_an_uploader_gives_up_when_script_and_server_are_gone(
    folder: JournalDirectory, server: ReportedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.close()
    waits: list[float] = []

    def note(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            monkeypatch.setattr(upload_module, "is_writer_alive", lambda _file: False)

    monkeypatch.setattr(upload_module, "GIVE_UP_SECONDS", 0.0)
    monkeypatch.setattr(upload_module, "is_writer_alive", lambda _file: True)
    start_upload(folder, server).run(note)
    assert len(waits) == 3
    assert not folder.is_complete()


def test_an_uploader_ends_when_its_journal_is_deleted(folder: JournalDirectory, server: ReportedServer) -> None:
    server.close()
    start_upload(folder, server).run(lambda _seconds: shutil.rmtree(folder.path))
    assert not folder.path.exists()


def test_a_server_that_lost_events_gets_them_again(folder: JournalDirectory, server: ReportedServer) -> None:
    upload = start_upload(folder, server)
    assert upload.send()
    folder.complete.unlink()
    (events,) = server.events.values()
    del events[20:]
    # As after the restoration of a backup, the server expects earlier events than the uploader sends.
    (writer,) = upload._writers.values()
    writer._reader.seek(40)
    writer.is_complete = False
    upload.send()
    assert server.metrics() == POINTS


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_rejected_event_becomes_a_warning_and_does_not_block_others(
    folder: JournalDirectory, server: ReportedServer, status: int
) -> None:
    def reject(_path: str, body: Any) -> None:
        if isinstance(body, dict) and any(event.get("step") == 13 for event in body.get("events", ())):
            raise Rejection(status, "13 is unlucky.")

    server.before = reject
    start_upload(folder, server).run(no_pauses)
    assert server.metrics() == POINTS[:13] + POINTS[14:]
    (warning,) = server.of_kind("log")
    assert warning["level"] == "warning"
    assert warning["message"] == "An event could not be stored and was left out. 13 is unlucky."


def test_a_file_that_the_server_rejects_becomes_a_warning(folder: JournalDirectory, server: ReportedServer) -> None:
    def reject(path: str, _body: Any) -> None:
        if "/files/" in path:
            raise Rejection(422, "This is no image.")

    server.before = reject
    start_upload(folder, server).run(no_pauses)
    assert [event["media"] for event in server.of_kind("media")] == ["table"]
    (warning,) = server.of_kind("log")
    assert warning["message"].endswith("A file was rejected: This is no image.")


def test_a_journal_cannot_name_files_outside_of_it(
    folder: JournalDirectory, server: ReportedServer, tmp_path: Path
) -> None:
    private = tmp_path / "private"
    private.write_text("secret")
    (journal,) = folder.path.glob("*.jsonl")
    other = f'"sha256":"{private}"'.encode()
    journal.write_bytes(re.sub(rb'"sha256":"[0-9a-f]{64}"', other, journal.read_bytes()))
    start_upload(folder, server).run(no_pauses)
    assert server.files == {}
    assert server.of_kind("log")[0]["message"].endswith("The journal names a file that it cannot have.")


@pytest.mark.parametrize("status", [404, 409])
def test_a_run_that_the_server_rejects_is_a_problem_with_its_reason(
    folder: JournalDirectory, server: ReportedServer, status: int
) -> None:
    def reject(_path: str, _body: Any) -> None:
        raise Rejection(status, "Use another id.")

    server.before = reject
    with pytest.raises(RejectedError):
        start_upload(folder, server).run(no_pauses)
    found = folder.read_status()
    assert (found["rejected"], found["problem"]) == (True, "The server rejects this run: Use another id.")
    assert not folder.is_complete()


def test_lines_that_are_not_events_are_skipped(folder: JournalDirectory, server: ReportedServer) -> None:
    (file,) = folder.path.glob("*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:9], b"\0\0\0\n", b'{"kind":"metr\n', *lines[9:]]))
    start_upload(folder, server).run(no_pauses)
    assert server.metrics() == POINTS


def test_a_killed_script_is_ended_as_failed_at_the_time_of_its_last_event(
    folder: JournalDirectory, server: ReportedServer
) -> None:
    (file,) = folder.path.glob("*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:20]) + lines[20][:30])
    before = file.stat().st_mtime
    start_upload(folder, server).run(no_pauses)
    assert server.metrics() == POINTS[:20]
    assert not server.of_kind("end"), "the end is no event, since a complete copy may have one under its number"
    assert list(server.killed.values()) == [pytest.approx(before, abs=0.01)]
    assert file.read_bytes() == b"".join(lines[:20]) + lines[20][:30], "the script may still write to this file"


def test_a_killed_script_is_reported_although_the_disk_lost_events_that_the_server_has(
    folder: JournalDirectory, server: ReportedServer
) -> None:
    upload = start_upload(folder, server)
    upload.send()
    (events,) = server.events.values()
    del events[-1]
    (file,) = folder.path.glob("*.jsonl")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:20]))
    assert not folder.is_complete()
    start_upload(folder, server).run(no_pauses)
    assert server.metrics() == POINTS
    assert len(server.killed) == 1
    assert list(server.conflicts.values()) == [[]]


def test_a_journal_of_another_host_has_no_provenance_of_this_one(
    folder: JournalDirectory, server: ReportedServer
) -> None:
    (writer,) = folder.writers()
    description = json.loads(writer.description.read_text())
    description["registration"]["host"] = "another"
    writer.description.write_text(json.dumps(description))
    writer.provenance.unlink(missing_ok=True)
    start_upload(folder, server).run(no_pauses)
    assert not server.of_kind("provenance")
    assert "unknown" in server.of_kind("log")[0]["message"]
    assert server.metrics() == POINTS


def test_both_writers_of_a_resumed_run_are_uploaded_in_order(folder: JournalDirectory, server: ReportedServer) -> None:
    with arcadia.init(id="mine", mode="offline", directory=folder.path.parent) as run:
        run.log({"loss": 7.0})
    start_upload(folder, server).run(no_pauses)
    assert server.metrics() == [*POINTS, (51, {"loss": 7.0})]
    assert [each["key"] for each in server.registrations] == ["mine", "mine"]
    assert server.registrations[1]["writer"] == run.writer


def test_a_silent_script_is_reported_as_alive(
    folder: JournalDirectory, server: ReportedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_module, "is_writer_alive", lambda _file: True)
    upload = start_upload(folder, server)
    upload.send()
    monkeypatch.setattr(upload_module, "HEARTBEAT_SECONDS", 0.0)
    server.desired = "stop"
    before = len(server.requests)
    upload.send()
    assert len(server.requests) == before + 1
    assert folder.read_status()["desired"] == "stop"
    assert not folder.is_complete()


def test_requests_are_compressed_and_bounded(folder: JournalDirectory, server: ReportedServer) -> None:
    start_upload(folder, server).run(no_pauses)
    sizes = [size for _, path, size in server.requests if path.endswith("/events")]
    assert max(sizes) < 2_500_000


def test_a_file_that_a_journal_cannot_have_becomes_a_warning(folder: JournalDirectory, server: ReportedServer) -> None:
    (files,) = folder.writers()
    lines = files.journal.read_text().splitlines(keepends=True)
    first = next(index for index, line in enumerate(lines) if '"sha256":"' in line)
    event = json.loads(lines[first])
    lines[first] = json.dumps(event | {"sha256": "../private"}, separators=(",", ":")) + "\n"
    files.journal.write_text("".join(lines))
    start_upload(folder, server).run(no_pauses)
    (warning,) = server.of_kind("log")
    assert warning["message"].endswith("The journal names a file that it cannot have.")
