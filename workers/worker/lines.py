"""Lines of the event file. A line that is too long costs neither memory nor the run."""

import json
import re
from dataclasses import dataclass
from typing import IO, Any

from workers.contract.events import LONGEST_LINE

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
    found = _MESSAGE.search(line.text.decode(errors="ignore"))
    return str(json.loads(found[1] + '"'))[: HEAD_BYTES // 2] if found else ""
