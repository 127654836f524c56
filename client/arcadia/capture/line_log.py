"""Lines of an output for a log: without colors, and with only the last state of a progress bar."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

MAX_LINE = 10_000
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|[\x00-\x08\x0b\x0c\x0e-\x1f]"
)


class LineLog:
    """Splitter of an output into lines. Empty lines are left out."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def feed(self, data: bytes) -> None:
        """Write the lines that are complete now."""
        *lines, rest = (self._rest + self._decoder.decode(data)).split("\n")
        for line in lines:
            self._write_line(line)
        if len(rest) > MAX_LINE:
            # A progress bar overwrites its line without ever ending it.
            start, has_return, last = rest.rpartition("\r")
            if not has_return or len(last) > MAX_LINE:
                self._write_line(rest)
                rest = ""
            else:
                rest = last or start.rpartition("\r")[2] + "\r"
        self._rest = rest

    def finish(self) -> None:
        """Write the last line, which may lack a line feed."""
        self._write_line(self._rest + self._decoder.decode(b"", final=True))
        self._rest = ""

    def _write_line(self, line: str) -> None:
        shown = line.rstrip("\r").rpartition("\r")[2]
        if text := _CONTROL.sub("", shown).rstrip()[:MAX_LINE]:
            self._write(text)
