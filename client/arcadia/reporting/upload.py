"""Upload of a journal directory: all of its writers, until each has ended."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from arcadia.reporting.connection import Connection, RejectedError, UnavailableError, WrongTokenError
from arcadia.reporting.layout import JournalDirectory, replace_status
from arcadia.reporting.locks import is_writer_alive
from arcadia.reporting.writer_upload import WriterUpload

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
