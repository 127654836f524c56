"""Sources of imports, and the upload of the events that the server does not have yet."""

from __future__ import annotations

import copy
import csv
import hashlib
import json
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from arcadia.errors import ArcadiaError
from arcadia.reporting.connection import MAX_BYTES, MAX_EVENTS, Connection, RejectedError, retry
from arcadia.reporting.values import clean_text, storable

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
    files = []
    for path in sorted(folder.rglob(pattern)):
        if not path.is_file():
            continue
        if is_inside(path, folder):
            files.append(path)
        else:
            _report_left_out(path)
    return files


def is_inside(path: Path, folder: Path) -> bool:
    """Return True if a file is in a folder, also after all links are followed."""
    return path.resolve().is_relative_to(folder.resolve())


@cache
def _report_left_out(path: Path) -> None:
    """Print that a link is left out, once for each."""
    print(f"arcadia: {path} is left out, because it links to a file outside of its folder.", file=sys.stderr)


# The server rejects the content of one event or file with these, so others may be accepted.
_CONTENT = (400, 413, 415, 422)
HASHED_BYTES = 1 << 20


class FileUpload:
    """Upload of one file: a writer, whose events are numbered in the order of the file.

    The last event that the server has is sent again and compared. If the file was replaced by another one, all of its
    events are sent, and the server keeps both.
    """

    def __init__(self, connection: Connection, registration: dict[str, Any], file: SourceFile) -> None:
        self._connection, self._unread = connection, copy.deepcopy(file)
        self._writer = key_of(file.path.parent.name, file.path.name)
        answer = connection.register({**registration, "writer": self._writer, "joins": True})
        self._run_id, self._acknowledged = answer["run_id"], answer["acknowledged"]
        # Events that the server has stored although it had others under their numbers.
        self.conflicts = answer.get("conflicts", 0)  # earlier servers do not compare
        self.sent = 0
        self._is_sent_again = False
        self._failure: ArcadiaError | OSError | None = None
        self._events: Iterator[Event] = iter(())
        self._batch: list[tuple[int, bytes]] = []
        # One message per skipped part of the file.
        self.omissions: list[str] = []
        self.has_settings = False
        self._start_over(self._acknowledged)

    def send(self) -> int:
        """Send new events and return their number. After an UnavailableError, the next call continues.

        Events before a damaged part of the file are sent. Then raise ArcadiaError.
        """
        before = self.sent
        while self._batch or self._fill():
            conflicts = self.conflicts
            self._send(self._batch)
            self._batch = []
            if self.conflicts > conflicts and not self._is_sent_again:
                self._is_sent_again = True
                self._start_over(0)
        self._events = read_events(self._file)
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        return self.sent - before

    def _start_over(self, stored: int) -> None:
        """Read the file from its start. Skip the stored events except the last one."""
        self._file = copy.deepcopy(self._unread)
        self._skipped, self._read = stored - 1, 0
        self._events, self._batch, self.omissions = read_events(self._file), [], []

    def _fill(self) -> bool:
        size = 0
        try:
            for event in self._events:
                self._read += 1
                if event.pop("omits", False):
                    self.omissions.append(event["message"])
                self.has_settings |= event["kind"] == "config"
                if self._read <= self._skipped:
                    continue
                line = _to_line(self._with_file(event), self._read)
                self._batch.append((self._read, line))
                size += len(line)
                if len(self._batch) == MAX_EVENTS or size >= MAX_BYTES:
                    break
        except (ArcadiaError, OSError) as error:
            self._failure = error
        if not self._batch and 0 < self._read <= self._skipped:
            # The file is shorter than the uploaded file, so all of its events must be compared.
            self._start_over(0)
            return self._fill()
        return bool(self._batch)

    def _send(self, batch: Sequence[tuple[int, bytes]], *, is_replacement: bool = False) -> None:
        """Send events. Replace an event that the server rejects with a warning, so that the others are stored."""
        try:
            answer = self._connection.send_events(self._run_id, self._writer, [line for _number, line in batch])
        except RejectedError as error:
            if error.status not in _CONTENT or is_replacement:
                raise
            if len(batch) > 1:
                half = len(batch) // 2
                self._send(batch[:half])
                self._send(batch[half:])
                return
            ((number, line),) = batch
            replacement = self._omit(json.loads(line), error.detail)
            self._send([(number, _to_line(replacement, number))], is_replacement=True)
        else:
            conflicts = answer.get("conflicts", 0)
            self.sent += answer["acknowledged"] - self._acknowledged + conflicts - self.conflicts
            self._acknowledged, self.conflicts = answer["acknowledged"], conflicts

    def _with_file(self, event: Event) -> Event:
        """Upload the file of an event with media. Return the event, or a warning if the server rejects the file."""
        content = event.pop("content", None)
        if content is None:
            return event
        event["sha256"] = hashlib.sha256(content).hexdigest()
        with tempfile.NamedTemporaryFile() as file:
            Path(file.name).write_bytes(content)
            try:
                # The next call would continue after this event, so retry here.
                retry(self._connection.send_file, self._run_id, self._writer, event["sha256"], Path(file.name))
            except RejectedError as error:
                if error.status not in _CONTENT:
                    raise
                return self._omit(event, error.detail)
        return event

    def _omit(self, event: Event, reason: str) -> Event:
        """Return the warning that replaces an event, and list it."""
        what = f"{event['name']} at step {event['step']}" if event["kind"] == "media" else f"An event ({event['kind']})"
        replacement = omission(event.get("time"), f"{what} was left out: {reason}")
        del replacement["omits"]
        self.omissions.append(replacement["message"])
        return replacement


def _to_line(event: Event, number: int) -> bytes:
    if "name" in event:
        event["name"] = clean_text(event["name"]) or "unnamed"
    if event.get("time") is None:
        event.pop("time", None)
    return json.dumps({**storable(event), "seq": number}, separators=(",", ":")).encode()


class RunUpload:
    """Upload of a run. Its leader is a writer without a file, whose end is the run's."""

    def __init__(self, connection: Connection, run: SourceRun, leader: str, project: str | None = None) -> None:
        self._connection, self.run, self._leader = connection, run, leader
        origin = {"origin": "imported", "origin_label": run.origin_label}
        facts = {**run.facts, **({"project": project} if project else {})}
        self._registration = {"key": run.key, "name": run.name, **origin, **facts}
        answer = connection.register({**self._registration, "writer": leader})
        self.run_id, self.path = answer["run_id"], answer["path"]
        self._acknowledged = answer["acknowledged"]
        self._files: dict[Path, FileUpload] = {}
        self._last_request = time.monotonic()

    @property
    def is_complete(self) -> bool:
        """True if these files were imported completely before. After an incomplete import, a list precedes the end."""
        return bool(self._acknowledged == 1)

    @property
    def omissions(self) -> list[str]:
        """One message per skipped part of the files."""
        return [omitted for file in self._files.values() for omitted in file.omissions]

    @property
    def has_settings(self) -> bool:
        """True if a file has settings."""
        return any(file.has_settings for file in self._files.values())

    @property
    def conflicts(self) -> int:
        """Events that differ from those that were uploaded before from files with the same names."""
        return sum(file.conflicts for file in self._files.values())

    @property
    def sent(self) -> int:
        """The number of new events that were sent."""
        return sum(file.sent for file in self._files.values())

    def send(self, files: list[SourceFile]) -> int:
        """Send the new events of these files and return their number."""
        sent = 0
        for file in files:
            if file.path not in self._files:
                self._files[file.path] = FileUpload(self._connection, self._registration, file)
            sent += self._files[file.path].send()
        if sent:
            self._last_request = time.monotonic()
        return sent

    def report_alive(self, seconds: float) -> None:
        """Keep the run running if the server has received nothing for this long."""
        if time.monotonic() - self._last_request >= seconds:
            self._connection.send_events(self.run_id, self._leader, [])
            self._last_request = time.monotonic()

    def end(self, problems: Sequence[str] = ()) -> None:
        """End the run. List files that could not be read in its log first, so that they can be imported later."""
        now = time.time()
        events: list[Event] = [omission(now, problem) for problem in problems]
        if not self._acknowledged:
            events.append({"time": now, "kind": "end", "outcome": "finished"})
        lines = [_to_line(event, number) for number, event in enumerate(events, self._acknowledged + 1)]
        if lines:
            retry(self._connection.send_events, self.run_id, self._leader, lines)
            self._acknowledged += len(lines)


@dataclass(frozen=True)
class ImportedRun:
    """The result of an import: the run's page, and the number of new events."""

    path: str
    sent: int = 0
    # Parts of files that were left out.
    omissions: Sequence[str] = ()
    # Files that could not be read to their end.
    problems: Sequence[str] = ()
    # Events that differ from those of an earlier import of files with the same names.
    conflicts: int = 0
    # False if the files were read and have no settings.
    has_settings: bool = True


def import_run(connection: Connection, run: SourceRun, project: str | None = None) -> ImportedRun:
    """Import a run. There are no new events if these files were imported before.

    A file that cannot be read does not stop the others. Importing it again, once it is repaired, completes the run.
    """
    contents = [f"{file.path.name} {_hash(file.path)}" for file in run.files]
    upload = retry(RunUpload, connection, run, f"import-{key_of(*contents)}", project)
    if upload.is_complete:
        return ImportedRun(upload.path)
    problems = [problem for file in run.files if (problem := _send_file(upload, file))]
    upload.end(problems)
    return ImportedRun(
        upload.path, upload.sent, upload.omissions, problems, upload.conflicts, has_settings=upload.has_settings
    )


def _send_file(upload: RunUpload, file: SourceFile) -> str | None:
    """Send a file. Return why it could not be read to its end, or None."""
    try:
        retry(upload.send, [file])
    except (ArcadiaError, OSError) as error:
        return str(error)
    return None


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(HASHED_BYTES):
            digest.update(block)
        return digest.hexdigest()
