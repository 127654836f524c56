"""The event file, read from the last acknowledged event, and events that the backend fails on."""

import json
import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ValidationError

from arcadia_workers.contract import layout
from arcadia_workers.contract.events import LONGEST_LINE, files_named
from arcadia_workers.contract.worker_api import MOST_EVENTS

BLOCK = 1_000_000
HEAD_BYTES = 10_000

_NUMBER = re.compile(rb'"(seq|step|frames|time)": ?([0-9.e+-]+)')
_KIND = re.compile(rb'"kind": ?"([a-z]+)"')
_MESSAGE = re.compile(r'"(?:message|reason)": ?("(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*)')


@dataclass(frozen=True)
class EventLine:
    """A complete line, or the start of a line that is too long for an event."""

    text: bytes
    length: int

    @property
    def is_whole(self) -> bool:
        """Return True if the whole line was read."""
        return len(self.text) == self.length


def read_line(file: IO[bytes]) -> EventLine | None:
    """Read the next line. Return None if there is none, or if it is still being written."""
    text = file.readline(LONGEST_LINE + 1)
    if text.endswith(b"\n"):
        return EventLine(text, len(text))
    length = len(text)
    while length > LONGEST_LINE and (part := file.readline(BLOCK)):
        length += len(part)
        if part.endswith(b"\n"):
            return EventLine(text[:HEAD_BYTES], length)
    return None


def last_line_start(file: IO[bytes]) -> int | None:
    """Return the offset of the last complete line."""
    position, ends = file.seek(0, 2), 0
    while position > 0:
        begin = max(0, position - BLOCK)
        file.seek(begin)
        block = file.read(position - begin)
        index = len(block)
        while (index := block.rfind(b"\n", 0, index)) >= 0:
            ends += 1
            if ends == 2:
                return begin + index + 1
        position = begin
    return 0 if ends else None


def replacement_event(line: EventLine) -> dict[str, Any]:
    """Return an event to replace one that is too long, so that the ending of a trainer is not lost."""
    kept: dict[str, Any] = {}
    for name, number in _NUMBER.findall(line.text):
        kept.setdefault(name.decode(), json.loads(number))
    kind = _KIND.search(line.text)
    if kind is None or kept.keys() != {"seq", "step", "frames", "time"}:
        raise ValueError("the line is not an event")
    text, cut = _message(line), f"… (cut: {line.length:,} bytes)"
    match kind[1].decode():
        case "failed":
            return {**kept, "kind": "failed", "message": text + cut, "traceback": ""}
        case "stopped":
            return {**kept, "kind": "stopped", "reason": text + cut}
        case "log":
            return {**kept, "kind": "log", "level": "info", "message": text + cut}
        case other:
            message = f"An event ({other}) was skipped: its {line.length:,} bytes exceed the limit."
            return {**kept, "kind": "log", "level": "warning", "message": message}


def _message(line: EventLine) -> str:
    match = _MESSAGE.search(line.text.decode(errors="ignore"))
    return str(json.loads(match[1] + '"'))[: HEAD_BYTES // 2] if match else ""


BATCH_BYTES = 500_000


class BrokenSpoolError(Exception):
    """A line of the event file is not an event."""


class _Mark(BaseModel):
    """The position after the last acknowledged event."""

    offset: int = 0
    seq: int = 0


@dataclass(frozen=True)
class Batch:
    """Successive events, and the offset after the last one."""

    events: list[dict[str, Any]]
    end: int

    @property
    def first_seq(self) -> int:
        """Return the number of the first event."""
        return int(self.events[0]["seq"])

    @property
    def last_seq(self) -> int:
        """Return the number of the last event."""
        return int(self.events[-1]["seq"])


class Spool:
    """Reader of an attempt's events.jsonl that starts after the last acknowledged event."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._events = directory / layout.EVENTS
        self._mark_file = directory / "acknowledged.json"
        self._mark = self._load_mark()

    def read(self, limit: int = MOST_EVENTS) -> Batch:
        """Return the next events. An event with files starts a new batch, because its files are uploaded first."""
        events: list[dict[str, Any]] = []
        end = self._mark.offset
        for line in self._unread():
            event = self._parse(line, end)
            is_full = end + line.length - self._mark.offset > BATCH_BYTES
            if events and (is_full or files_named(event)):
                break
            end += line.length
            events.append(event)
            if len(events) == limit:
                break
        return Batch(events, end)

    def acknowledge(self, batch: Batch) -> None:
        """Mark events as stored. If the mark is lost, they are sent again."""
        self._mark = _Mark(offset=batch.end, seq=batch.last_seq)
        new = self._mark_file.with_suffix(".new")
        new.write_text(self._mark.model_dump_json())
        new.replace(self._mark_file)

    def rewind(self, expected: int) -> None:
        """Return to the event that the backend expects next."""
        offset = 0
        with self._events.open("rb") as file:
            while line := read_line(file):
                event = self._parse(line, offset)
                if event["seq"] == expected:
                    self._mark = _Mark(offset=offset, seq=expected - 1)
                    return
                offset += line.length
        raise BrokenSpoolError(f"the backend expects event {expected}, which {self._events.name} does not have")

    def last_event(self) -> dict[str, Any] | None:
        """Return the last written event, which has the trainer's ending, or None if the line is not an event."""
        try:
            with self._events.open("rb") as file:
                start = last_line_start(file)
                if start is None:
                    return None
                file.seek(start)
                line = read_line(file)
                return self._parse(line, start) if line else None
        except (FileNotFoundError, BrokenSpoolError):
            return None

    def _load_mark(self) -> _Mark:
        try:
            mark = _Mark.model_validate_json(self._mark_file.read_bytes())
        except (FileNotFoundError, ValidationError):
            return _Mark()
        size = self._events.stat().st_size if self._events.exists() else 0
        return mark if mark.offset <= size else _Mark()

    def _unread(self) -> Iterator[EventLine]:
        """Yield the unread complete lines."""
        try:
            with self._events.open("rb") as file:
                file.seek(self._mark.offset)
                while line := read_line(file):
                    yield line
        except FileNotFoundError:
            return

    def _parse(self, line: EventLine, offset: int) -> dict[str, Any]:
        try:
            event = json.loads(line.text) if line.is_whole else replacement_event(line)
            if isinstance(event["seq"], int) and isinstance(event["kind"], str):
                return dict(event)
        except (ValueError, TypeError, KeyError) as error:
            raise self._broken(line, offset) from error
        raise self._broken(line, offset)

    def _broken(self, line: EventLine, offset: int) -> BrokenSpoolError:
        return BrokenSpoolError(f"{self._events.name} has no event at byte {offset}: {line.text[:200]!r}")


# The backend gets this many attempts before an event is suspected.
EVENT_ATTEMPTS = 10
# Files get more attempts, for about a minute.
UPLOAD_ATTEMPTS = 25


class FailingEvents:
    """Search for the event that the backend fails on, by halving the batch after repeated failures.

    A backend that fails on everything says nothing about an event. So the backend must have accepted something else
    between two failures on the single event. Otherwise an event would be lost whenever a backend recovers.
    """

    def __init__(self) -> None:
        self.batch_limit = MOST_EVENTS
        self._failures = 0
        self._until = 0  # the last event of the batch that failed first
        self._single, self._failed_at = 0, math.inf  # the event that failed in a batch of one, and when

    def should_skip(self, first: int, last: int, accepted_at: float) -> bool:
        """Record a failed batch. Return True if its only event should be skipped.

        `accepted_at` is when the backend last accepted something else, before this batch.
        """
        if self._failures == 0:
            self._until = last
        self._failures += 1
        if self._failures < EVENT_ATTEMPTS:
            return False
        if first < last:
            self.batch_limit = (last - first + 1) // 2
            return False
        accepted_another = first == self._single and accepted_at > self._failed_at
        self._single, self._failed_at = first, time.monotonic()
        return accepted_another

    def delivered(self, last: int) -> None:
        """Record a delivered batch. After the end of the batch that failed first, use full batches again."""
        if last >= self._until:
            self.batch_limit, self._failures = MOST_EVENTS, 0


class FailingUploads:
    """Counter of a file's failed uploads. A failure counts if the backend accepted something else since the last one.

    A proxy may always reject large bodies. Failures of an unreachable backend do not count.
    """

    def __init__(self) -> None:
        self._path: str | None = None
        self._failures, self._failed_at = 0, math.inf

    def should_skip(self, path: str, accepted_at: float) -> bool:
        """Record a failed upload. Return True if there were too many."""
        if path != self._path:
            self._path, self._failures, self._failed_at = path, 0, math.inf
        self._failures += accepted_at > self._failed_at
        self._failed_at = time.monotonic()
        return self._failures >= UPLOAD_ATTEMPTS
