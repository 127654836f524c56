"""Output of `arcadia up`. Lines are written in order, and a blocked reader never blocks their writers."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from arcadia_backend.startup import parts
from arcadia_backend.startup.parts import Output
from tests.workers.waiting import PATIENCE_SECONDS


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Yield both ends of a pipe."""
    reading, writing = os.pipe()
    yield reading, writing
    os.close(writing)


def test_lines_are_written_in_order(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file:
        written = Output(file.fileno())
        for number in range(100):
            written.say("backend", f"line {number}")
        written.close()
    assert (tmp_path / "out").read_text() == "".join(f"backend  | line {number}\n" for number in range(100))


def test_with_a_log_only_problems_are_shown_and_all_lines_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "arcadia.log"
    with (tmp_path / "out").open("w") as file:
        written = Output(file.fileno(), log)
        for part, line in (
            ("arcadia", "Arcadia is at the address"),
            ("redis", "WARNING Memory overcommit must be enabled!"),
            ("backend", "2026-01-01 10:00:00 INFO    Application startup complete."),
            ("backend", "2026-01-01 10:00:01 ERROR   It failed"),
            ("backend", "Traceback (most recent call last):"),
            ("backend", "2026-01-01 10:00:02 INFO    It works again"),
            ("worker", "arcadia worker: no token"),
        ):
            written.say(part, line)
        written.close()
    assert (tmp_path / "out").read_text().splitlines() == [
        "arcadia  | Arcadia is at the address",
        "backend  | 2026-01-01 10:00:01 ERROR   It failed",
        "backend  | Traceback (most recent call last):",
        "worker   | arcadia worker: no token",
    ]
    assert len(log.read_text().splitlines()) == 7


def test_a_reader_that_stalls_blocks_nobody(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "CLOSE_TIMEOUT_SECONDS", 0.01)
    reading, writing = pipe
    stalled = Output(writing)

    def say_much() -> None:
        for _ in range(2 * parts.MAX_WAITING_LINES):
            stalled.say("backend", "x" * 100)
        stalled.close()

    saying = threading.Thread(target=say_much, daemon=True)
    saying.start()
    saying.join(timeout=PATIENCE_SECONDS)
    assert not saying.is_alive()
    os.close(reading)


def test_lines_are_written_again_once_the_disk_has_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, full = os.write, [True, True]

    with (tmp_path / "out").open("w") as file:

        def write_unless_full(descriptor: int, rest: bytes) -> int:
            # Other threads of the test process write to other file descriptors.
            if full and descriptor == file.fileno():
                full.pop()
                raise OSError(28, "No space left on device")
            return write(descriptor, rest)

        lines = Output(file.fileno())
        monkeypatch.setattr(os, "write", write_unless_full)
        for line in ("lost", "lost too", "kept"):
            lines.say("backend", line)
        lines.close()
    assert (tmp_path / "out").read_text() == "backend  | kept\n"
