"""The trainer's event file as a spool: what is in it stays there until the backend has acknowledged it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

BATCH_EVENTS = 1_000
BATCH_BYTES = 500_000
LAST_BYTES = 1_000_000
NAMING_FILES = ("checkpoint", "video")


class BrokenSpoolError(Exception):
    """The event file holds a line that is no event."""


class _Mark(BaseModel):
    """How far the backend has acknowledged: the byte after the event `seq`."""

    offset: int = 0
    seq: int = 0


@dataclass(frozen=True)
class Batch:
    """Events in their order, and the offset after the last of them."""

    events: list[dict[str, Any]]
    end: int


class Spool:
    """Reads one attempt's events.jsonl from where the backend last acknowledged."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._events = directory / "events.jsonl"
        self._mark_file = directory / "acknowledged.json"
        self._mark = self._load_mark()

    def read(self) -> Batch:
        """Return the next events; one that names files comes first in its batch, for its files go before it."""
        events: list[dict[str, Any]] = []
        end = self._mark.offset
        for line in self._complete_lines():
            event = self._parse(line, end)
            if events and event["kind"] in NAMING_FILES:
                break
            end += len(line)
            events.append(event)
            if len(events) == BATCH_EVENTS:
                break
        return Batch(events, end)

    def acknowledge(self, batch: Batch) -> None:
        """Remember that the backend has these; a memory lost only costs sending them again."""
        self._mark = _Mark(offset=batch.end, seq=batch.events[-1]["seq"])
        fresh = self._mark_file.with_suffix(".new")
        fresh.write_text(self._mark.model_dump_json())
        fresh.replace(self._mark_file)

    def rewind(self, expected: int) -> None:
        """Go back to the event that the backend expects next."""
        offset = 0
        with self._events.open("rb") as file:
            for line in file:
                event = self._parse(line, offset)
                if event["seq"] == expected:
                    self._mark = _Mark(offset=offset, seq=expected - 1)
                    return
                offset += len(line)
        raise BrokenSpoolError(f"the backend expects event {expected}, which {self._events.name} does not have")

    def last_event(self) -> dict[str, Any] | None:
        """Return the last event written, which tells how the trainer ended."""
        try:
            with self._events.open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - LAST_BYTES))
                lines = file.read().splitlines(keepends=True)
        except FileNotFoundError:
            return None
        complete = [line for line in lines if line.endswith(b"\n")]
        return self._parse(complete[-1], self._mark.offset) if complete else None

    def _load_mark(self) -> _Mark:
        try:
            mark = _Mark.model_validate_json(self._mark_file.read_bytes())
        except (FileNotFoundError, ValidationError):
            return _Mark()
        size = self._events.stat().st_size if self._events.exists() else 0
        return mark if mark.offset <= size else _Mark()

    def _complete_lines(self) -> list[bytes]:
        """Return unread lines; the trainer may be in the midst of writing the last, which then waits."""
        try:
            with self._events.open("rb") as file:
                file.seek(self._mark.offset)
                block = file.read(BATCH_BYTES)
                if b"\n" not in block:
                    block += file.readline()
        except FileNotFoundError:
            return []
        return block[: block.rfind(b"\n") + 1].splitlines(keepends=True)

    def _parse(self, line: bytes, offset: int) -> dict[str, Any]:
        try:
            event = json.loads(line)
            if isinstance(event["seq"], int) and isinstance(event["kind"], str):
                return dict(event)
        except (ValueError, TypeError, KeyError) as error:
            raise BrokenSpoolError(f"{self._events.name} has no event at byte {offset}: {line[:200]!r}") from error
        raise BrokenSpoolError(f"{self._events.name} has no event at byte {offset}: {line[:200]!r}")
