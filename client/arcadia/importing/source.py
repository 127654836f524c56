"""Runs to import, each with its files. A file is a writer of its run."""

from __future__ import annotations

import csv
import hashlib
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from arcadia.errors import ArcadiaError

# Errors that the parsers of damaged files raise.
DAMAGED = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
# An event of the API without its number. Media have their bytes as `content`. An event without a time has none in its
# file: a time of the file's would change with the file, so that its events would no longer be recognized.
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


def key_of(*parts: str) -> str:
    """Return a key that is always the same for the same parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


@contextmanager
def damage_reported(path: Path, noun: str) -> Iterator[None]:
    """Raise ArcadiaError if a damaged file makes the block fail."""
    try:
        yield
    except (*DAMAGED, struct.error, csv.Error) as error:
        reason = str(error)[:200] or type(error).__name__
        raise ArcadiaError(f"{path} is not {noun}, or it is damaged ({reason}).") from None


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
