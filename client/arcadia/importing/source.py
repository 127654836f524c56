"""Runs to import, each with its files. A file is a writer of its run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from arcadia.errors import ArcadiaError

# An event of the API without its number. Media have their bytes as `content`. An event with `omits` stands for a part
# of the file that is left out, so that the numbers of later events are always the same.
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


def omission(time: float, message: str) -> Event:
    """Return the event for a part of a file that is left out: a warning in the run's log."""
    return {"kind": "log", "time": time, "level": "warning", "message": message, "omits": True}


def describe_each(paths: Iterable[Path], describe: Callable[[Path], SourceRun], problems: list[str]) -> list[SourceRun]:
    """Return the runs of these paths. Add a sentence to the problems for each that cannot be read."""

    def try_to_describe(path: Path) -> SourceRun | None:
        try:
            return describe(path)
        except (ArcadiaError, OSError) as error:
            problems.append(str(error))
        except Exception as error:  # the parser of a damaged file may raise any error
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
    except (ArcadiaError, OSError):
        raise
    except Exception as error:  # the parser of a damaged file may raise any error
        before = f" after {count:,} events, which are imported" if count else ""
        raise ArcadiaError(f"{file.path} is damaged{before} ({_reason(error)}).") from error


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def key_of(*parts: str) -> str:
    """Return a key that is always the same for the same parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
