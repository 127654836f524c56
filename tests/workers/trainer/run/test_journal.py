"""Tests that the event file stays intact over crashes, resumes and full disks."""

import errno
import json
import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from arcadia_workers.contract import events
from arcadia_workers.trainer.run import journal as journals
from arcadia_workers.trainer.run.journal import DirectoryBusyError, Journal
from tests.workers.trainer.trainers import assert_unbroken, read_events
from tests.workers.waiting import PATIENCE_SECONDS, wait_until


def test_seq_starts_at_one_and_increases_by_one(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        for step in range(3):
            journal.emit(events.Log, step=step, frames=4 * step, message=f"line {step}")
    assert [(event.seq, event.step, event.frames) for event in read_events(tmp_path)] == [
        (1, 0, 0),
        (2, 1, 4),
        (3, 2, 8),
    ]


def test_an_event_is_readable_before_the_journal_closes(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.emit(events.Log, step=0, frames=0, message="now")
        assert len(read_events(tmp_path)) == 1


def test_seq_continues_when_the_file_is_reopened(tmp_path: Path) -> None:
    for message in ("first", "second"):
        with Journal(tmp_path) as journal:
            journal.emit(events.Log, step=0, frames=0, message=message)
    assert_unbroken(tmp_path)
    assert len(read_events(tmp_path)) == 2


@pytest.mark.parametrize("torn", [b'{"seq":2,"time":1.0,"st', b"\0\0\0\0", b"\0\0\0\0\n", b'{"seq":2\n{"se'])
def test_a_torn_last_line_is_removed(tmp_path: Path, torn: bytes) -> None:
    with Journal(tmp_path) as journal:
        journal.emit(events.Log, step=0, frames=0, message="whole")
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(torn)
    with Journal(tmp_path) as journal:
        journal.emit(events.Log, step=0, frames=0, message="after the crash")
    assert_unbroken(tmp_path)
    assert [event.message for event in read_events(tmp_path) if event.kind == "log"] == ["whole", "after the crash"]


def test_a_file_torn_in_its_first_line_starts_over(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b'{"seq":1,"ti')
    with Journal(tmp_path) as journal:
        journal.emit(events.Log, step=0, frames=0, message="first")
    assert [event.seq for event in read_events(tmp_path)] == [1]


def test_nan_and_infinity_are_written_as_strings(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.emit(events.Metrics, step=0, frames=0, values={"a": math.nan, "b": math.inf, "c": -math.inf})
    line = json.loads((tmp_path / "events.jsonl").read_text())
    assert line["values"] == {"a": "NaN", "b": "Infinity", "c": "-Infinity"}


def test_a_second_trainer_in_the_directory_is_refused(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(DirectoryBusyError, match="another trainer is at work"):
        Journal(tmp_path)


FULL_DISK = """
import resource, sys
from pathlib import Path
from arcadia_workers.contract import events
from arcadia_workers.trainer.run.journal import Journal
with Journal(Path(sys.argv[1])) as journal:
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
    for step in range(10):
        journal.emit(events.Log, step=step, frames=0, message="a line of some length")
    print(journal.path.stat().st_size, journal.path.read_bytes().endswith(b"}\\n"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


def test_events_of_a_full_disk_are_written_completely_once_there_is_space(tmp_path: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    size, whole_lines = shown.stdout.split()
    assert 0 < int(size) <= 300
    assert whole_lines == "True"
    assert [event.step for event in read_events(tmp_path)] == list(range(10))
    assert_unbroken(tmp_path)


class Disk:
    """A disk on which the user's share is full until `has_space` is set, or until the reserve is released."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_space, self.refusals, self._write = False, 0, os.write
        self._reserve = directory / ".reserve"
        monkeypatch.setattr(os, "write", self.write)
        monkeypatch.setattr(journals, "SPACE_SECONDS", 0.01)

    def write(self, file: int, line: bytes) -> int:
        if self.has_space or not self._reserve.exists():
            return self._write(file, line)
        self.refusals += 1
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))


def test_a_run_waits_on_a_full_disk_and_continues_when_there_is_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal(tmp_path) as journal:
        journal.wait_for_space(lambda: False)
        disk = Disk(tmp_path, monkeypatch)
        log = threading.Thread(target=lambda: journal.emit(events.Log, step=1, frames=1, message="waits"))
        log.start()
        wait_until(lambda: disk.refusals > 3)
        assert log.is_alive()
        disk.has_space = True
        log.join(PATIENCE_SECONDS)
        assert [event.step for event in read_events(tmp_path)] == [1]
    assert not (tmp_path / ".reserve").exists()


def test_a_stop_on_a_full_disk_uses_the_reserve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    with Journal(tmp_path) as journal:
        journal.wait_for_space(stop.is_set)
        assert (tmp_path / ".reserve").stat().st_blocks * 512 >= 1_000_000
        disk = Disk(tmp_path, monkeypatch)
        log = threading.Thread(target=lambda: journal.emit(events.Log, step=1, frames=1, message="waits"))
        log.start()
        wait_until(lambda: disk.refusals > 3)
        stop.set()
        log.join(PATIENCE_SECONDS)
        assert [event.step for event in read_events(tmp_path)] == [1]


def test_a_line_is_written_completely_by_partial_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with Journal(tmp_path) as journal:
        monkeypatch.setattr(os, "write", lambda file, line: write(file, line[:7]))
        for step in range(3):
            journal.emit(events.Log, step=step, frames=0, message="a line of some length")
        monkeypatch.undo()
    assert [event.step for event in read_events(tmp_path)] == [0, 1, 2]
    assert_unbroken(tmp_path)


def test_long_texts_are_truncated_and_an_event_too_long_to_send_becomes_a_warning(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.emit(events.EvaluationEvent, step=1, frames=1, returns=[1 / 3] * 200_000)
        journal.emit(events.Log, step=2, frames=2, message="\ud800" + "m" * 50_000)
        journal.emit(events.Failed, step=3, frames=3, message="m" * 10**7, traceback="t" * 10**7 + "the end")
    left_out, log, failed = read_events(tmp_path)
    assert left_out.kind == "log"
    assert (left_out.seq, left_out.step, left_out.level) == (1, 1, "warning")
    assert "An event (evaluation) was skipped" in left_out.message
    assert log.kind == "log"
    assert log.message == "\ufffd" + "m" * 9_999
    assert failed.kind == "failed"
    assert (len(failed.message), len(failed.traceback)) == (10_000, 100_000)
    assert failed.traceback.endswith("the end")
    assert (tmp_path / "events.jsonl").stat().st_size < 200_000


def test_times_of_metrics_are_monotonic_although_the_clock_jumps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall, gone_by = [1_000_000.0], [50.0]
    monkeypatch.setattr("arcadia_workers.trainer.run.journal.time.time", lambda: wall[0])
    monkeypatch.setattr("arcadia_workers.trainer.run.journal.time.monotonic", lambda: gone_by[0])
    with Journal(tmp_path) as journal:
        for jumped in (0.0, 86_400.0, -172_800.0):
            wall[0] += jumped
            gone_by[0] += 10
            journal.emit(events.Metrics, step=1, frames=1)
        journal.emit(events.Log, step=1, frames=1, message="at what the clock says")
    assert [event.time for event in read_events(tmp_path)] == [1_000_010.0, 1_000_020.0, 1_000_030.0, 913_600.0]
