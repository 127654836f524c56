"""The event file, read from the last acknowledged event."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from workers.contract import layout
from workers.contract.earlier_names import with_current_names
from workers.contract.worker_api import MOST_EVENTS
from workers.worker.lines import EventLine, last_line_start, read_line, replacement_event

BATCH_BYTES = 500_000
KINDS_WITH_FILES = ("checkpoint", "video", "saliency", "futures", "film")


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
            if events and (is_full or event["kind"] in KINDS_WITH_FILES):
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
                return _with_current_names(event)
        except (ValueError, TypeError, KeyError) as error:
            raise self._broken(line, offset) from error
        raise self._broken(line, offset)

    def _broken(self, line: EventLine, offset: int) -> BrokenSpoolError:
        return BrokenSpoolError(f"{self._events.name} has no event at byte {offset}: {line.text[:200]!r}")


def _with_current_names(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event that an earlier version may have written before the upgrade."""
    document = event.get("document")
    return {**event, "document": with_current_names(document)} if isinstance(document, dict) else dict(event)
