"""Lines of the trainer's event file, read so that one without end costs neither memory nor the run."""

import json
import re
from dataclasses import dataclass
from typing import IO, Any

from workers.contract.events import LONGEST_LINE

BLOCK = 1_000_000
HEAD_BYTES = 10_000

_NUMBER = re.compile(rb'"(seq|step|frames|time)": ?([0-9.e+-]+)')
_KIND = re.compile(rb'"kind": ?"([a-z]+)"')
_WORDS = re.compile(r'"(?:message|reason)": ?("(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*)')


@dataclass(frozen=True)
class Line:
    """A complete line, or the beginning of one that is too long to be an event."""

    text: bytes
    length: int

    @property
    def whole(self) -> bool:
        """Say whether all of the line was read."""
        return len(self.text) == self.length


def read_line(file: IO[bytes]) -> Line | None:
    """Read the next line; None when there is none, or when the trainer is still writing it."""
    text = file.readline(LONGEST_LINE + 1)
    if text.endswith(b"\n"):
        return Line(text, len(text))
    length = len(text)
    while length > LONGEST_LINE and (part := file.readline(BLOCK)):
        length += len(part)
        if part.endswith(b"\n"):
            return Line(text[:HEAD_BYTES], length)
    return None


def start_of_last(file: IO[bytes]) -> int | None:
    """Find where the last complete line begins."""
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


def in_place_of(line: Line) -> dict[str, Any]:
    """Make an event in the place of one that is too long: how a trainer ended must not be lost with its words."""
    kept: dict[str, Any] = {}
    for name, number in _NUMBER.findall(line.text):
        kept.setdefault(name.decode(), json.loads(number))
    kind = _KIND.search(line.text)
    if kind is None or kept.keys() != {"seq", "step", "frames", "time"}:
        raise ValueError("the line is not of an event")
    words, cut = _words(line), f"… (cut: {line.length:,} bytes)"
    match kind[1].decode():
        case "failed":
            return {**kept, "kind": "failed", "message": words + cut, "traceback": ""}
        case "stopped":
            return {**kept, "kind": "stopped", "reason": words + cut}
        case "log":
            return {**kept, "kind": "log", "level": "info", "message": words + cut}
        case other:
            told = f"An event ({other}) was left out: {line.length:,} bytes are more than an event may have."
            return {**kept, "kind": "log", "level": "warning", "message": told}


def _words(line: Line) -> str:
    found = _WORDS.search(line.text.decode(errors="ignore"))
    return str(json.loads(found[1] + '"'))[: HEAD_BYTES // 2] if found else ""
