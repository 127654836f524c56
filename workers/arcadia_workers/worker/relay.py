"""Delivery of a trainer's events and files to the backend, with retries."""

import logging
import threading
from typing import Any

from arcadia_workers.contract.events import LogLevel, files_named
from arcadia_workers.contract.layout import OutsideFolderError, path_inside
from arcadia_workers.worker.answers import (
    Backoff,
    ElsewhereError,
    FailingError,
    LaterError,
    RejectedError,
    SequenceGapError,
    StaleAttemptError,
    UnreachableError,
    WrongTokenError,
)
from arcadia_workers.worker.assignment import Assignment
from arcadia_workers.worker.backend_client import BackendClient
from arcadia_workers.worker.spool import Batch, BrokenSpoolError, FailingEvents, FailingUploads, Spool

POLL_SECONDS = 0.1

Event = dict[str, Any]

log = logging.getLogger(__name__)


class Relay(threading.Thread):
    """Thread that posts an attempt's events in order until all are delivered or delivery is impossible."""

    def __init__(self, client: BackendClient, assignment: Assignment, spool: Spool) -> None:
        super().__init__(name=f"relay-{assignment.path}-{assignment.attempt}", daemon=True)
        self._client, self._assignment, self._spool = client, assignment, spool
        self._wake = threading.Event()
        self._trainer_ended = False
        self._abandoned = False
        self._backoff = Backoff()
        self._failing, self._uploads = FailingEvents(), FailingUploads()
        self._answered = True
        self._mark_is_kept = True
        self.delivered = False
        self.stale = False
        self.elsewhere = False
        self.is_token_wrong = False
        self.broken: str | None = None

    def trainer_ended(self) -> None:
        """Report that the trainer writes no more events."""
        self._trainer_ended = True
        self._wake.set()

    def abandon(self) -> None:
        """Stop without delivering the rest."""
        self._abandoned = True
        self._wake.set()

    def run(self) -> None:
        """Deliver all events."""
        try:
            while not self._abandoned and not self._step():
                pass
        except WrongTokenError:
            self.is_token_wrong = True
        except StaleAttemptError as error:
            log.warning(
                "%s, attempt %d is no longer held by this worker: %s", self._assignment, self._assignment.attempt, error
            )
            self.stale = True
        except RejectedError as error:
            self.broken = f"The backend rejected an event of the trainer: {error}"
        except (BrokenSpoolError, OSError) as error:
            self.broken = f"The trainer's event file cannot be read: {error}"
        except Exception as error:
            log.exception("Relaying events of %s failed", self._assignment)
            self.broken = f"The worker could not relay the trainer's events: {error!r}"

    def _step(self) -> bool:
        """Deliver a batch, or wait for one. Return True if everything is delivered."""
        ended = self._trainer_ended  # before reading, so that no last line is missed
        batch = self._spool.read(self._failing.batch_limit)
        if not batch.events:
            self.delivered = ended
            if not ended:
                self._pause(POLL_SECONDS)
            return ended
        try:
            self._deliver(batch)
            self._backoff.reset()
            self._answered, self.elsewhere = True, False
        except WrongTokenError:
            raise
        except UnreachableError as error:
            self.elsewhere = isinstance(error, ElsewhereError)
            if self._answered:
                log.warning("%s: events wait for the backend: %s", self._assignment, error)
            self._answered = False
            self._pause(self._backoff.delay())
        except SequenceGapError as gap:
            log.warning("%s: %s; resending from there.", self._assignment, gap)
            self._spool.rewind(gap.expected)
            self._pause(self._backoff.delay())
        return False

    def _deliver(self, batch: Batch) -> None:
        first, *rest = batch.events
        self._post(batch, [self._with_files(first), *rest])
        self._failing.delivered(batch.last_seq)
        try:
            self._spool.acknowledge(batch)
        except OSError as error:
            # The mark only saves work: without it a restarted worker resends events that are stored.
            if self._mark_is_kept:
                log.warning("%s: cannot store the delivery mark: %s", self._assignment, error)
            self._mark_is_kept = False

    def _post(self, batch: Batch, events: list[Event]) -> None:
        """Post events. Replace an event that the backend always fails on by a warning."""
        accepted_at = self._client.accepted_at
        try:
            stored = self._client.post_events(self._assignment, events)
            if stored < batch.last_seq:
                raise SequenceGapError(stored + 1)
        except FailingError as error:
            if not self._failing.should_skip(batch.first_seq, batch.last_seq, accepted_at):
                raise
            (event,) = events
            log.warning("%s: skipping event %d: %s", self._assignment, batch.first_seq, error)
            message = f"Event {batch.first_seq} ({event['kind']}) was skipped: the backend failed on it. {error}"
            self._client.post_events(self._assignment, [as_log_line(event, message)])

    def _with_files(self, event: Event) -> Event:
        """Upload the files of an event. Return a log line instead of the event if a file is lost."""
        for kind, path in files_named(event):
            try:
                file = path_inside(self._spool.directory, path)
            except OutsideFolderError as error:
                raise BrokenSpoolError(f"an event names {path!r}, which is outside its directory") from error
            try:
                self._client.upload(self._assignment, kind, path, file)
            except (FileNotFoundError, NotADirectoryError):
                return as_log_line(event, f"{path} was replaced by newer files before its upload.", level="info")
            except RejectedError as error:
                return as_log_line(event, f"The backend rejected {path}: {error}")
            except (LaterError, ElsewhereError, WrongTokenError):
                raise
            except UnreachableError as error:
                if not self._uploads.should_skip(path, self._client.accepted_at):
                    raise
                return as_log_line(event, f"{path} was skipped because it cannot be uploaded: {error}")
        return event

    def _pause(self, seconds: float) -> None:
        self._wake.wait(seconds)
        self._wake.clear()


def as_log_line(event: Event, message: str, level: LogLevel = "warning") -> Event:
    """Return a log event with the number and time of another event."""
    kept = {name: event[name] for name in ("seq", "time", "step", "frames")}
    return {**kept, "kind": "log", "level": level, "message": message}
