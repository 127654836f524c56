"""Runs to import, each with its files. A file is a writer of its run."""

from __future__ import annotations

import csv
import hashlib
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from arcadia.errors import ArcadiaError

# Errors that the parsers of damaged files raise.
DAMAGED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    csv.Error,
    struct.error,
)
# An event of the API without its number. Media have their bytes as `content`. An event without a time has none in its
# file: a time of the file's would change with the file, so that its events would no longer be recognized. An event with
# `omits` stands for a part of the file that is left out, so that the numbers of later events are always the same.
Event = dict[str, Any]


class SourceFile(Protocol):
    """A file whose events have an order that never changes."""

    path: Path

    def read(self) -> Iterator[Event]:
        """Yield the events that were added since the last call."""
        ...


@dataclass(frozen=True)
class SourceRun:
    """A run to import. Its key depends on its files only, so that importing it again finds it."""

    key: str
    name: str
    origin_label: str
    files: list[SourceFile]
    # More fields of the registration.
    facts: dict[str, Any] = field(default_factory=dict)


def omission(time: float | None, message: str) -> Event:
    """Return the event for a part of a file that is left out: a warning in the run's log."""
    return {"kind": "log", "time": time, "level": "warning", "message": message, "omits": True}


def describe_each(paths: Iterable[Path], describe: Callable[[Path], SourceRun], problems: list[str]) -> list[SourceRun]:
    """Return the runs of these paths. Add a sentence to the problems for each that cannot be read."""

    def try_to_describe(path: Path) -> SourceRun | None:
        try:
            return describe(path)
        except (ArcadiaError, OSError) as error:
            problems.append(str(error))
        except DAMAGED as error:
            problems.append(f"{path} is damaged ({_reason(error)}).")
        return None

    return [run for run in map(try_to_describe, paths) if run is not None]


def read_events(file: SourceFile) -> Iterator[Event]:
    """Yield the new events of a file. Raise ArcadiaError if it is damaged."""
    count = 0
    try:
        for event in file.read():
            yield event
            count += 1
    except DAMAGED as error:
        before = f" after {count:,} events, which are imported" if count else ""
        raise ArcadiaError(f"{file.path} is damaged{before} ({_reason(error)}).") from error


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}" if str(error) else type(error).__name__


def key_of(*parts: str) -> str:
    """Return a key that is always the same for the same parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def find_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder. Leave out links to files elsewhere, which the folder may come with."""
    found = []
    for path in sorted(folder.rglob(pattern)):
        if not path.is_file():
            continue
        if is_inside(path, folder):
            found.append(path)
        else:
            _report_left_out(path)
    return found


def is_inside(path: Path, folder: Path) -> bool:
    """Return True if a file is in a folder, also after all links are followed."""
    return path.resolve().is_relative_to(folder.resolve())


@cache
def _report_left_out(path: Path) -> None:
    """Print that a link is left out, once for each."""
    print(f"arcadia: {path} is left out, because it links to a file outside of its folder.", file=sys.stderr)
