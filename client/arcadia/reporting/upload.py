"""Upload of a journal directory: all of its writers, until each has ended."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from arcadia.reporting.connection import (
    ARTIFACT,
    MAX_BYTES,
    MAX_EVENTS,
    SHA256,
    ArtifactRejectedError,
    Connection,
    RejectedError,
    UnavailableError,
    WrongTokenError,
    upload_files,
)
from arcadia.reporting.journal import JournalReader, is_writer_alive, numbered
from arcadia.reporting.layout import JournalDirectory, WriterFiles, replace_file, replace_status
from arcadia.reporting.provenance import record_provenance
from arcadia.reporting.values import encode_event, quoted

# The server rejects the content of one event or file with these, so others may be accepted.
_CONTENT = (400, 413, 415, 422)
_MEDIA = b'{"kind":"media"'
# Without these, the server cannot tell whose events follow.
_REQUIRED = ("key", "writer")


class WriterUpload:
    """Upload of a writer. It continues after the last event that the server has acknowledged."""

    def __init__(self, files: WriterFiles, directory: JournalDirectory, connection: Connection) -> None:
        self.files, self._directory, self._connection = files, directory, connection
        self._reader = JournalReader(files)
        self._uploaded_files: set[str] = set()
        self._last_request = 0.0
        self.page = ""
        self.run_id = 0
        self.desired = "run"
        # Events that the server has stored although it had others under their numbers.
        self.conflicts = 0
        self._is_sent_again = False
        # A sentence for each field or event that the server has rejected.
        self.left_out = files.read_left_out()
        # Size of the journal when all of it was uploaded.
        self.uploaded_bytes = 0
        # True once the script has ended and all of its events are stored.
        self.is_complete = False

    def register(self) -> None:
        """Create the run or this writer, and continue with the last event that the server has stored.

        The server compares that event. If another copy of the journal was uploaded, it may have others.
        """
        description = json.loads(self.files.description.read_text())
        answer = self._register(description["registration"])
        self.run_id, self.page = answer["run_id"], answer["path"]
        record_provenance(self.files)
        self._note(answer)
        last = answer["acknowledged"] - 1
        self._reader.seek(0 if self.conflicts else last)
        if self._reader.number < last:
            # This copy has fewer events.
            self._reader.seek(self._reader.number - 1)

    def _register(self, registration: Mapping[str, Any]) -> dict[str, Any]:
        """Register the writer. Leave out fields that the server rejects, so that they do not lose the run."""
        fields, corrections = dict(registration), list[str]()
        while True:
            try:
                answer = self._connection.register(fields)
                break
            except RejectedError as error:
                wrong = _wrong_fields(fields, error)
                if not wrong:
                    raise
                corrections += [f"{name} was left out: {quoted(fields[name])}. {why}" for name, why in wrong.items()]
                fields = {name: value for name, value in fields.items() if name not in wrong}
        self.left_out += [each for each in corrections if each not in self.left_out]
        if corrections and not answer["acknowledged"]:
            started_at = datetime.fromisoformat(registration["started_at"]).timestamp()
            event = {"kind": "log", "level": "warning", "message": " ".join(corrections)}
            replace_file(self.files.corrections, encode_event(event, started_at))
        return answer

    def send(self) -> bool:
        """Send the events that are in the journal now. Return True if there were any."""
        was_alive = is_writer_alive(self.files.lock)
        size = self.files.journal_bytes()
        sent = self._send_rest()
        if not was_alive:
            if not self._reader.has_ended:
                self._report_killed()
            self.uploaded_bytes, self.is_complete = size, True
        return sent

    def report_alive(self, seconds: float) -> None:
        """Report that the script is alive if the server has received nothing for this long."""
        if not self.is_complete and time.monotonic() - self._last_request >= seconds:
            self._note(self._connection.send_events(self.run_id, self.files.writer, []))

    def _send_rest(self) -> bool:
        sent = False
        before = self._reader.position()
        while events := self._reader.read(MAX_EVENTS, MAX_BYTES):
            try:
                self._send_events(events)
            except (UnavailableError, RejectedError, OSError):
                self._reader.return_to(before)
                raise
            before = self._reader.position()
            sent = True
        return sent

    def _report_killed(self) -> None:
        """Report that the script has ended, which a killed script cannot do.

        This is not an event, because another copy of the journal may have one under its number.
        """
        journal = self.files.journal
        killed_at = journal.stat().st_mtime if journal.exists() else time.time()
        self._note(self._connection.send_events(self.run_id, self.files.writer, [], killed_at))

    def _send_events(self, events: Sequence[tuple[int, bytes]]) -> None:
        """Send events. Replace an event that the server rejects with a warning, so that the others are stored."""
        ready = [(number, self._with_file(line)) for number, line in events]
        try:
            answer = self._connection.send_events(
                self.run_id, self.files.writer, [numbered(number, line) for number, line in ready]
            )
        except RejectedError as error:
            if error.status == 409 and isinstance(expected := error.problem.get("expected"), int):
                self._reader.seek(expected - 1)
            elif error.status in _CONTENT and len(events) > 1:
                half = len(events) // 2
                self._send_events(events[:half])
                self._send_events(events[half:])
            elif error.status in _CONTENT and not _is_replacement(events[0][1]):
                self._send_events([(events[0][0], self._leave_out(events[0][1], error.detail))])
            else:
                raise
        else:
            conflicts_before = self.conflicts
            self._note(answer)
            if answer["acknowledged"] < events[-1][0]:
                self._reader.seek(answer["acknowledged"])
            elif self.conflicts > conflicts_before and not self._is_sent_again:
                # The server has events of another copy, so earlier ones may be missing too.
                self._is_sent_again = True
                self._reader.seek(0)

    def _with_file(self, line: bytes) -> bytes:
        """Upload the files of an event. Return the event, or a warning if the server rejects a file."""
        if line.startswith(ARTIFACT):
            try:
                upload_files(self._connection, self.run_id, self.files.writer, self._directory.artifacts, line)
            except ArtifactRejectedError as error:
                return self._leave_out(line, str(error))
            return line
        if not line.startswith(_MEDIA) or not (digest := _digest_in(line)):
            return line
        if not isinstance(digest, str) or not SHA256.fullmatch(digest):
            return self._leave_out(line, "The journal names a file that it cannot have.")
        if digest not in self._uploaded_files:
            try:
                self._connection.send_file(self.run_id, self.files.writer, digest, self._directory.files / digest)
            except RejectedError as error:
                if error.status not in _CONTENT:
                    raise
                return self._leave_out(line, f"A file was rejected: {error.detail}")
            except FileNotFoundError:
                return self._leave_out(line, f"The file {digest} is missing from the journal.")
            self._uploaded_files.add(digest)
        return line

    def _leave_out(self, line: bytes, detail: str) -> bytes:
        """Return the warning that replaces an event. Note it, because the journal has the only copy of the event."""
        sentence = f"{_REPLACED} {detail}".replace("\n", " ")
        if sentence not in self.left_out:
            self.left_out.append(sentence)
            noted = [*self.files.read_left_out(), sentence]
            replace_status(self.files.left_out, "".join(f"{each}\n" for each in noted))
        return _replacement(line, detail)

    def _note(self, answer: dict[str, Any]) -> None:
        self._last_request = time.monotonic()
        self.desired = answer["desired"]
        self.conflicts = answer.get("conflicts", 0)  # earlier servers do not compare
        replace_status(self.files.acknowledged, str(answer["acknowledged"]))


def _wrong_fields(fields: Mapping[str, Any], error: RejectedError) -> dict[str, str]:
    """Return the optional fields of a registration that a response names as wrong, each with the reason."""
    errors = error.problem.get("errors") if error.status in _CONTENT else None
    if not isinstance(errors, list):
        return {}
    named = {
        str(each.get("field", "")).partition(".")[0]: f"{each.get('message')}."
        for each in errors
        if isinstance(each, dict)
    }
    return {name: why for name, why in named.items() if name in fields and name not in _REQUIRED}


def _digest_in(line: bytes) -> Any:
    """Return the hash that an event with media names. The server rejects a damaged event, and those without one."""
    try:
        return json.loads(line).get("sha256")
    except ValueError:
        return None


def _replacement(line: bytes, detail: str) -> bytes:
    """Return a warning with the time of an event, so that it is the same if it is sent again."""
    try:
        written = float(json.loads(line)["time"])
    except (ValueError, TypeError, KeyError):
        written = time.time()
    return encode_event({"kind": "log", "level": "warning", "message": f"{_REPLACED} {detail}"}, written)[:-1]


_REPLACED = "An event could not be stored and was left out."


def _is_replacement(line: bytes) -> bool:
    return line.startswith(b'{"kind":"log"') and _REPLACED.encode() in line


HEARTBEAT_SECONDS = 10.0
# Pause between two reads of the journals. It is longer after a slow response, to relieve a busy server.
POLL_SECONDS, IDLE_POLL_SECONDS = 0.5, 1.0
PAUSE_PER_SECOND_OF_WORK = 10
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.5, 30.0
# Without a server, an uploader ends this long after its script, so that uploaders do not accumulate on a host.
GIVE_UP_SECONDS = 3_600.0


class Upload:
    """Upload of a directory."""

    def __init__(self, directory: JournalDirectory, connection: Connection) -> None:
        self._directory, self._connection = directory, connection
        self._writers: dict[str, WriterUpload] = {}
        self._status: dict[str, object] = {}
        self._failures = 0
        self._last_success = time.monotonic()

    def run(self, wait: Callable[[float], None]) -> None:
        """Upload until all scripts have ended and everything is stored.

        Raise RejectedError if that is impossible, for example with a wrong token. Give up if the server is unreachable
        for long after the last script has ended, or if the directory is deleted.
        """
        while self._directory.path.exists() and not self._directory.is_complete():
            began = time.monotonic()
            try:
                has_sent = self.send()
            except (UnavailableError, OSError) as error:
                self._failures += 1
                self._note(problem=str(error))
                if self._should_give_up():
                    return
                wait(_pause(self._failures))
            except WrongTokenError as error:
                # Keep the journal, which another token can upload later.
                self._note(problem=error.detail, is_token_wrong=True)
                raise
            except RejectedError as error:
                self._note(problem=f"The server rejects this run: {error.detail}", rejected=True)
                raise
            else:
                self._failures, self._last_success = 0, time.monotonic()
                if not self._directory.is_complete():
                    wait(_poll_pause(time.monotonic() - began) if has_sent else IDLE_POLL_SECONDS)

    def send(self) -> bool:
        """Send the events that the journals have now. Return True if there were any."""
        has_sent = False
        for files in self._directory.writers():
            upload = self._writers.get(files.writer)
            if upload is None:
                upload = WriterUpload(files, self._directory, self._connection)
                upload.register()
                self._writers[files.writer] = upload
                self._note_answer(upload)
            if not upload.is_complete:
                has_sent = upload.send() or has_sent
                upload.report_alive(HEARTBEAT_SECONDS)
                self._note_answer(upload)
        if self.is_complete():
            self._directory.mark_complete(sum(upload.uploaded_bytes for upload in self._writers.values()))
        return has_sent

    @property
    def page(self) -> str:
        """The path of the run's page, once the run is registered."""
        return next((upload.page for upload in self._writers.values()), "")

    @property
    def conflicts(self) -> int:
        """Events that the server has stored although it had others under their numbers."""
        return sum(upload.conflicts for upload in self._writers.values())

    @property
    def left_out(self) -> list[str]:
        """A sentence for each field or event that the server has rejected."""
        return [sentence for upload in self._writers.values() for sentence in upload.left_out]

    def is_complete(self) -> bool:
        """Return True if everything is uploaded and all scripts have ended."""
        return bool(self._writers) and all(upload.is_complete for upload in self._writers.values())

    def _should_give_up(self) -> bool:
        if time.monotonic() - self._last_success < GIVE_UP_SECONDS:
            return False
        return not any(is_writer_alive(files.lock) for files in self._directory.writers())

    def _note_answer(self, upload: WriterUpload) -> None:
        self._note(
            path=upload.page,
            run_id=upload.run_id,
            desired=upload.desired,
            conflicts=self.conflicts,
            left_out=self.left_out,
            problem=None,
            rejected=False,
            is_token_wrong=False,
        )

    def _note(self, **changes: object) -> None:
        """Write the status file if something has changed."""
        status = {**self._status, "url": self._connection.url, **changes}
        if status != self._status or not self._directory.status.exists():
            self._status = status
            replace_status(self._directory.status, status)


def _poll_pause(seconds: float) -> float:
    """Return the pause after events were sent in this time. It is short enough for heartbeats and for Stop."""
    return min(max(POLL_SECONDS, PAUSE_PER_SECOND_OF_WORK * seconds), HEARTBEAT_SECONDS)


def _pause(failures: int) -> float:
    """Return the seconds before the next try: exponential, with jitter so that many scripts spread out."""
    pause = FIRST_PAUSE_SECONDS * 2.0 ** min(failures - 1, 10)
    return min(MAX_PAUSE_SECONDS, pause) * random.uniform(0.5, 1.0)  # noqa: S311
