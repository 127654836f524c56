"""Carries what a trainer writes, events and files, to the backend, for as long as it takes."""

import logging
import threading

from workers.backend_client import (
    BackendClient,
    FileKind,
    RefusedError,
    SequenceGapError,
    StaleAttemptError,
    UnreachableError,
)
from workers.backoff import Backoff
from workers.spool import Batch, BrokenSpoolError, Spool

POLL_SECONDS = 0.1

log = logging.getLogger(__name__)


class Relay(threading.Thread):
    """Posts one attempt's events in order until all are delivered after `trainer_ended`, or it is of no more use."""

    def __init__(self, client: BackendClient, run: int, attempt: int, spool: Spool) -> None:
        super().__init__(name=f"relay-{run}-{attempt}", daemon=True)
        self._client, self._run, self._attempt, self._spool = client, run, attempt, spool
        self._wake = threading.Event()
        self._trainer_ended = False
        self._abandoned = False
        self._backoff = Backoff()
        self._mark_is_kept = True
        self.delivered = False
        self.stale = False
        self.broken: str | None = None

    def trainer_ended(self) -> None:
        """Tell that nothing more will be written."""
        self._trainer_ended = True
        self._wake.set()

    def abandon(self) -> None:
        """Stop, delivered or not."""
        self._abandoned = True
        self._wake.set()

    def run(self) -> None:
        """Deliver until done."""
        try:
            while not self._abandoned and not self._step():
                pass
        except StaleAttemptError as error:
            log.warning("Run %d, attempt %d is no longer this worker's: %s", self._run, self._attempt, error)
            self.stale = True
        except RefusedError as error:
            self.broken = f"The backend refused what the trainer reported: {error}"
        except (BrokenSpoolError, OSError) as error:
            self.broken = f"What the trainer reported cannot be read: {error}"
        except Exception as error:
            log.exception("Relaying run %d failed", self._run)
            self.broken = f"The worker could not relay what the trainer reported: {error!r}"

    def _step(self) -> bool:
        """Deliver one batch, or wait for one; say whether everything is delivered."""
        ended = self._trainer_ended  # before reading, so that no last line is missed
        batch = self._spool.read()
        if not batch.events:
            self.delivered = ended
            if not ended:
                self._pause(POLL_SECONDS)
            return ended
        try:
            self._deliver(batch)
            self._backoff.reset()
        except UnreachableError:
            self._pause(self._backoff.delay())
        except SequenceGapError as gap:
            log.warning("Run %d: %s; sending again from there.", self._run, gap)
            self._spool.rewind(gap.expected)
        return False

    def _deliver(self, batch: Batch) -> None:
        for kind, path in files_named(batch.events[0]):
            self._upload(kind, path)
        self._client.post_events(self._run, self._attempt, batch.events)
        try:
            self._spool.acknowledge(batch)
        except OSError as error:
            # Only a memory of how far we came; without it a restarted worker sends again what the backend has.
            if self._mark_is_kept:
                log.warning("Run %d: cannot note what is delivered: %s", self._run, error)
            self._mark_is_kept = False

    def _upload(self, kind: FileKind, path: str) -> None:
        """Hand over a file before the event that names it; one that is gone again cannot hold up what follows."""
        root = self._spool.directory.resolve()
        file = (root / path).resolve()
        if not file.is_relative_to(root):
            raise BrokenSpoolError(f"an event names {path!r}, which is outside the run directory")
        try:
            self._client.upload(self._run, self._attempt, kind, path, file)
        except FileNotFoundError:
            log.warning("Run %d: %s was replaced by newer ones before it could be uploaded.", self._run, path)
        except RefusedError as error:
            log.warning("Run %d: the backend refused %s: %s", self._run, path, error)

    def _pause(self, seconds: float) -> None:
        self._wake.wait(seconds)
        self._wake.clear()


def files_named(event: dict[str, object]) -> list[tuple[FileKind, str]]:
    """Return the files that must be uploaded before this event is posted."""
    if event["kind"] == "checkpoint" and isinstance(checkpoint := event["checkpoint"], dict):
        return [("checkpoint", str(checkpoint["file"]))]
    if event["kind"] == "video":
        return [("video", str(event["file"])), ("poster", str(event["poster"]))]
    return []
