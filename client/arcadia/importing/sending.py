"""Upload of a source's events. For each file, it continues after the last event that the server has."""

from __future__ import annotations

import copy
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arcadia.importing.source import Event, SourceFile, SourceRun, key_of
from arcadia.reporting.connection import MAX_BYTES, MAX_EVENTS, Connection, retry
from arcadia.reporting.values import clean_text, storable

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
        self._is_sent_again = False
        self._events: Iterator[Event] = iter(())
        self._batch: list[bytes] = []
        self._start_over(self._acknowledged)

    def send(self) -> int:
        """Send new events and return their number. After an UnavailableError, the next call continues."""
        new = 0
        while self._batch or self._fill():
            answer = self._connection.send_events(self._run_id, self._writer, self._batch)
            self._batch = []
            conflicts = answer.get("conflicts", 0)
            new += answer["acknowledged"] - self._acknowledged + conflicts - self.conflicts
            is_other_file = conflicts > self.conflicts
            self._acknowledged, self.conflicts = answer["acknowledged"], conflicts
            if is_other_file and not self._is_sent_again:
                self._is_sent_again = True
                self._start_over(0)
        self._events = self._file.read()
        return new

    def _start_over(self, stored: int) -> None:
        """Read the file from its start. Skip the stored events except the last one."""
        self._file = copy.deepcopy(self._unread)
        self._skipped, self._read = stored - 1, 0
        self._events, self._batch = self._file.read(), []

    def _fill(self) -> bool:
        size = 0
        for event in self._events:
            self._read += 1
            if self._read <= self._skipped:
                continue
            line = json.dumps(self._encode(event, self._read), separators=(",", ":")).encode()
            self._batch.append(line)
            size += len(line)
            if len(self._batch) == MAX_EVENTS or size >= MAX_BYTES:
                break
        if not self._batch and 0 < self._read <= self._skipped:
            # The file is shorter than the one that was uploaded, so all of its events must be compared.
            self._start_over(0)
            return self._fill()
        return bool(self._batch)

    def _encode(self, event: Event, number: int) -> Event:
        content = event.pop("content", None)
        if content is not None:
            event["sha256"] = hashlib.sha256(content).hexdigest()
            with tempfile.NamedTemporaryFile() as file:
                Path(file.name).write_bytes(content)
                # The next call would continue after this event, so retry here.
                retry(self._connection.send_file, self._run_id, self._writer, event["sha256"], Path(file.name))
        if "name" in event:
            event["name"] = clean_text(event["name"]) or "unnamed"
        if event.get("time") is None:
            event.pop("time", None)
        return {**storable(event), "seq": number}


class RunUpload:
    """Upload of a run. Its leader is a writer without a file, whose end is the run's."""

    def __init__(self, connection: Connection, run: SourceRun, leader: str, project: str | None = None) -> None:
        self._connection, self.run, self._leader = connection, run, leader
        origin = {"origin": "imported", "origin_label": run.origin_label}
        facts = {**run.facts, **({"project": project} if project else {})}
        self._registration = {"key": run.key, "name": run.name, **origin, **facts}
        answer = connection.register({**self._registration, "writer": leader})
        self.run_id, self.path = answer["run_id"], answer["path"]
        self.has_ended = answer["acknowledged"] > 0
        self._files: dict[Path, FileUpload] = {}
        self._last_request = time.monotonic()

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

    @property
    def conflicts(self) -> int:
        """Events that differ from those that were uploaded before from files with the same names."""
        return sum(file.conflicts for file in self._files.values())

    def report_alive(self, seconds: float) -> None:
        """Keep the run running if the server has received nothing for this long."""
        if time.monotonic() - self._last_request >= seconds:
            self._connection.send_events(self.run_id, self._leader, [])
            self._last_request = time.monotonic()

    def end(self, outcome: str = "finished") -> None:
        """End the run."""
        event = {"seq": 1, "time": time.time(), "kind": "end", "outcome": outcome}
        retry(self._connection.send_events, self.run_id, self._leader, [json.dumps(event).encode()])
        self.has_ended = True


def import_run(connection: Connection, run: SourceRun, project: str | None = None) -> tuple[RunUpload, int]:
    """Import a run. Return its upload and the number of new events: none if these files were imported before."""
    contents = [f"{file.path.name} {_hash(file.path)}" for file in run.files]
    upload = retry(RunUpload, connection, run, f"import-{key_of(*contents)}", project)
    if upload.has_ended:
        return upload, 0
    sent = 0
    for file in run.files:
        sent += retry(upload.send, [file])
    upload.end()
    return upload, sent


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(HASHED_BYTES):
            digest.update(block)
        return digest.hexdigest()
