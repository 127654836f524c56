"""The trainer's event file, read from where the backend last acknowledged."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from workers.contract import layout
from workers.contract.worker_api import MOST_EVENTS
from workers.worker.lines import Line, in_place_of, read_line, start_of_last

BATCH_BYTES = 500_000
NAMING_FILES = ("checkpoint", "video", "saliency", "film")


class BrokenSpoolError(Exception):
    """A line of the event file is no event."""


class _Mark(BaseModel):
    """How far the backend has acknowledged: the byte after the event `seq`."""

    offset: int = 0
    seq: int = 0


@dataclass(frozen=True)
class Batch:
    """Events in their order, and the offset after the last of them."""

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
    """Reads one attempt's events.jsonl from where the backend last acknowledged."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._events = directory / layout.EVENTS
        self._mark_file = directory / "acknowledged.json"
        self._mark = self._load_mark()

    def read(self, most: int = MOST_EVENTS) -> Batch:
        """Return the next events; one that names files begins a batch, because its files are uploaded before it."""
        events: list[dict[str, Any]] = []
        end = self._mark.offset
        for line in self._unread():
            event = self._parse(line, end)
            too_many = end + line.length - self._mark.offset > BATCH_BYTES
            if events and (too_many or event["kind"] in NAMING_FILES):
                break
            end += line.length
            events.append(event)
            if len(events) == most:
                break
        return Batch(events, end)

    def acknowledge(self, batch: Batch) -> None:
        """Note that the backend has these events; should the note be lost, they are sent again."""
        self._mark = _Mark(offset=batch.end, seq=batch.last_seq)
        fresh = self._mark_file.with_suffix(".new")
        fresh.write_text(self._mark.model_dump_json())
        fresh.replace(self._mark_file)

    def rewind(self, expected: int) -> None:
        """Go back to the event that the backend expects next."""
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
        """Return the last event written, which tells how the trainer ended; None when the last line is no event."""
        try:
            with self._events.open("rb") as file:
                start = start_of_last(file)
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

    def _unread(self) -> Iterator[Line]:
        """Yield unread lines, without a last one that the trainer is still writing."""
        try:
            with self._events.open("rb") as file:
                file.seek(self._mark.offset)
                while line := read_line(file):
                    yield line
        except FileNotFoundError:
            return

    def _parse(self, line: Line, offset: int) -> dict[str, Any]:
        try:
            event = json.loads(line.text) if line.whole else in_place_of(line)
            if isinstance(event["seq"], int) and isinstance(event["kind"], str):
                return dict(event)
        except (ValueError, TypeError, KeyError) as error:
            raise self._broken(line, offset) from error
        raise self._broken(line, offset)

    def _broken(self, line: Line, offset: int) -> BrokenSpoolError:
        return BrokenSpoolError(f"{self._events.name} has no event at byte {offset}: {line.text[:200]!r}")
