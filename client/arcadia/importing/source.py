"""Runs to import, each with its files. A file is a writer of its run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

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
