"""Reader of a writer's events, in order and with their sequence numbers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from arcadia.reporting.layout import JournalDirectory, WriterFiles

_START, _END = b'{"kind":"', b"}\n"
END_OF_RUN = b'{"kind":"end"'
_WITH_STEP = (b'{"kind":"metrics"', b'{"kind":"media"')
_SYSTEM_METRICS = b'"values":{"system/'
# The last step is searched for in this many bytes at the end of a journal.
TAIL_BYTES = 65_536


class JournalReader:
    """Reader of a writer's events. The first event is the provenance. Corrections of the registration may follow.

    The others are the lines of the journal.

    Only complete lines are read. Lines that are not events are skipped and have no number.
    """

    def __init__(self, files: WriterFiles) -> None:
        self._files = files
        self.number = 0
        self.has_ended = False
        self._offset = 0

    def seek(self, number: int) -> None:
        """Continue after the event with this number, or after the last one if a power failure removed it."""
        self.number, self._offset, self.has_ended = 0, 0, False
        while self.number < number and self.read(min(1_000, number - self.number), 2**30):
            pass

    def position(self) -> tuple[int, int, bool]:
        """Return the position for `return_to`."""
        return self.number, self._offset, self.has_ended

    def return_to(self, position: tuple[int, int, bool]) -> None:
        """Read again from an earlier position."""
        self.number, self._offset, self.has_ended = position

    def read(self, limit: int, limit_bytes: int) -> list[tuple[int, bytes]]:
        """Return the next events with their numbers, within the limits. A larger event is returned alone."""
        found: list[tuple[int, bytes]] = []
        size = 0
        for line, offset in self._lines():
            if found and (len(found) == limit or size + len(line) > limit_bytes):
                break
            self._offset = offset
            if line.startswith(_START) and line.endswith(_END):
                self.number += 1
                size += len(line)
                self.has_ended = self.has_ended or line.startswith(END_OF_RUN)
                found.append((self.number, line[:-1]))
        return found

    def _lines(self) -> Iterator[tuple[bytes, int]]:
        """Yield complete lines after the current offset, each with the offset of the next one."""
        if self.number == 0:
            yield self._files.provenance.read_bytes(), 0
        if self.number == 1 and self._offset == 0 and self._files.corrections.exists():
            yield self._files.corrections.read_bytes(), 0
        if not self._files.journal.exists():
            return
        offset = self._offset
        with self._files.journal.open("rb") as journal:
            journal.seek(offset)
            for line in journal:
                if not line.endswith(b"\n"):
                    return
                offset += len(line)
                yield line, offset


def numbered(number: int, line: bytes) -> bytes:
    """Return an event with its sequence number, as the API expects it."""
    return b'{"seq":%d,' % number + line[1:]


def read_last_step(directory: JournalDirectory) -> int:
    """Return the last step in the journals of a run, or -1 if they have none."""
    for files in reversed(directory.writers()):
        for line in reversed(read_tail(files)):
            if (step := step_of(line)) is not None:
                return step
    return -1


def read_tail(files: WriterFiles) -> list[bytes]:
    """Return the last lines of a writer's journal. The first one may lack its beginning."""
    if not files.journal.exists():
        return []
    with files.journal.open("rb") as journal:
        journal.seek(-min(TAIL_BYTES, files.journal.stat().st_size), os.SEEK_END)
        return journal.read().split(b"\n")


def step_of(line: bytes) -> int | None:
    """Return the step that a script has logged with a line. System metrics are not logged by the script."""
    if not line.startswith(_WITH_STEP) or _SYSTEM_METRICS in line:
        return None
    try:
        return int(json.loads(line)["step"])
    except (ValueError, LookupError, TypeError):  # for example, a killed process has not finished its last line
        return None
