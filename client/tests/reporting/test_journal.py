"""The journal's file on a disk that is full, and after a process that was killed."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from arcadia.reporting import journal as module
from arcadia.reporting.journal import Journal


class Disk:
    """A disk with a number of free bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free = 10**9
        self._write = os.write
        monkeypatch.setattr(os, "write", self.write)

    def write(self, descriptor: int, data: bytes) -> int:
        """Write as much as fits, as Linux does."""
        if not self.free:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = self._write(descriptor, data[: self.free])
        self.free -= written
        return written


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """Count the free space."""
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)
    return Disk(monkeypatch)


def numbers(file: Path) -> list[int]:
    return [json.loads(line)["n"] for line in file.read_text().splitlines()]


@pytest.mark.parametrize("free", [0, 1, 20])
def test_events_of_a_full_disk_are_written_later_in_order(
    tmp_path: Path, disk: Disk, free: int, capfd: pytest.CaptureFixture[str]
) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append({"kind": "test", "n": 0})
    disk.free = free
    for number in range(1, 4):
        journal.append({"kind": "test", "n": number})
    assert numbers(journal.file) == [0]
    disk.free = 10**9
    journal.append({"kind": "test", "n": 4})
    assert numbers(journal.file) == [0, 1, 2, 3, 4]
    assert journal.close() == 0
    assert capfd.readouterr().err.count("arcadia:") == 2


def test_closing_a_journal_waits_for_space_and_counts_lost_events(
    tmp_path: Path, disk: Disk, capfd: pytest.CaptureFixture[str]
) -> None:
    journal = Journal(tmp_path / "journal")
    disk.free = 0
    journal.append({"kind": "test", "n": 0})
    journal.append({"kind": "test", "n": 1})
    assert journal.close(0.0) == 2
    assert "2 events are lost" in capfd.readouterr().err


def test_a_forked_process_does_not_write_waiting_events_of_its_parent(tmp_path: Path, disk: Disk) -> None:
    journal = Journal(tmp_path / "journal")
    disk.free = 0
    journal.append({"kind": "test", "n": 0})
    disk.free = 10**9
    if (child := os.fork()) == 0:
        journal.append({"kind": "test", "n": 1})
        journal.close()
        os._exit(0)
    os.waitpid(child, 0)
    journal.close()
    assert numbers(journal.file) == [1, 0]
