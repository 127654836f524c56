"""Claims assignments of one kind, starts a process for each, relays its events and obeys the backend."""

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from workers.contract.worker_api import MOST_JOBS
from workers.worker import attempt_directory
from workers.worker.answers import BackendError, FailingError, StaleAttemptError, UnreachableError
from workers.worker.assignment import Held, leftovers
from workers.worker.attempt_directory import NeedsMoreError
from workers.worker.backend_client import BackendClient
from workers.worker.backoff import Backoff, persist
from workers.worker.endings import (
    Asked,
    Ending,
    ending_of_full_disk,
    ending_of_leftover,
    ending_of_trainer,
    is_disk_full,
)
from workers.worker.heartbeat import Heartbeat
from workers.worker.places import Places
from workers.worker.relay import Relay
from workers.worker.spool import Spool
from workers.worker.trainer_process import TrainerProcess
from workers.worker.warm import WarmProcess
from workers.worker.work import Claimed, Work

WATCH_SECONDS = 0.1
DRAIN_SECONDS = 15.0  # after this a worker that shuts down leaves the rest for when it is started again
# How long a worker with a full disk waits before it claims again: at first, and at most.
DISK_FULL_SECONDS = 10.0
LONGEST_DISK_FULL_SECONDS = 300.0

_ending_adapter = TypeAdapter(Ending)

log = logging.getLogger(__name__)


class Supervisor:
    """Does so many assignments of one kind at a time: one run, or several jobs."""

    def __init__(
        self,
        client: BackendClient,
        heartbeat: Heartbeat,
        directory: Path,
        grace_seconds: float,
        work: Work,
        places: int = 1,
        keep_open: Sequence[int] = (),
        warm: WarmProcess | None = None,
    ) -> None:
        self._client, self._heartbeat, self._directory = client, heartbeat, directory
        self._grace_seconds, self._work, self._keep_open = grace_seconds, work, keep_open
        self._places = Places(places)
        self._warm = warm
        self._claims_at = 0.0
        self._disk_backoff = Backoff(DISK_FULL_SECONDS, LONGEST_DISK_FULL_SECONDS)
        self.draining = False

    def drain(self) -> None:
        """Have the processes save and stop, give their assignments back, and claim no other."""
        self.draining = True
        if self._warm:
            self._warm.close()

    def begin(self) -> None:
        """Give back what an earlier life left behind, and do what waits before the doorbell first rings."""
        self.recover()
        if self._warm and not self.draining:
            self._warm.prepare_later()
        self.look()

    def look(self) -> None:
        """Claim and do assignments until none waits; return at once where as many are being done as may be."""
        if not self._places.enter():
            return
        try:
            while self._places.stays():
                self._do_what_waits()
        except BaseException:
            self._places.leave()
            raise

    def recover(self) -> None:
        """Deliver what this worker left behind when it last ended, and give those assignments back."""
        with self._places.closed():
            left = [
                (Held(assignment), directory) for assignment, directory in leftovers(self._directory, self._work.noun)
            ]
            # Until all of it is there the lease must not run out: what comes from an attempt that is over is refused.
            # A heartbeat names one run alone, so those are held one after the other.
            at_once = MOST_JOBS if self._work.noun == "jobs" else 1
            for held, _ in left[:at_once]:
                self._heartbeat.hold(held)
            for number, (held, directory) in enumerate(left):
                try:
                    self._recover(held, directory)
                except Exception:
                    # One that is damaged must not keep the others from being delivered.
                    log.exception(
                        "What %s, attempt %d left behind stays in %s",
                        held.assignment,
                        held.assignment.attempt,
                        directory,
                    )
                finally:
                    self._heartbeat.drop(held)
                    for following, _ in left[number + at_once : number + at_once + 1]:
                        self._heartbeat.hold(following)

    def _do_what_waits(self) -> None:
        while not self.draining and time.monotonic() >= self._claims_at:
            try:
                claimed = self._work.claim()
            except BackendError as error:
                log.warning("Cannot claim any of the waiting %s: %s", self._work.noun, error)
                return
            if claimed is None:
                return
            self._do(claimed)

    def _recover(self, held: Held, directory: Path) -> None:
        log.info("%s, attempt %d was left behind; delivering what it wrote.", held.assignment, held.assignment.attempt)
        relay = Relay(self._client, held.assignment, Spool(directory))
        relay.start()
        if self._deliver_rest(relay, held, directory):
            self._release(held, directory, self._leftover_ending(directory, relay))

    def _do(self, claimed: Claimed) -> None:
        log.info("%s, attempt %d: starting.", claimed.assignment, claimed.assignment.attempt)
        held, directory = Held(claimed.assignment), claimed.assignment.directory(self._directory)
        self._heartbeat.hold(held)
        try:
            ending = self._attempt_or_tell(claimed, held, directory)
            if ending:
                self._release(held, directory, ending)
        except StaleAttemptError:
            attempt_directory.remove(directory)
        finally:
            self._heartbeat.drop(held)

    def _attempt_or_tell(self, claimed: Claimed, held: Held, directory: Path) -> Ending | None:
        """Do an assignment until the attempt ends. An error in the worker itself becomes the ending."""
        try:
            return self._attempt(claimed, held, directory)
        except StaleAttemptError:
            raise
        except Exception as error:
            log.exception("%s, attempt %d could not be done", claimed.assignment, claimed.assignment.attempt)
            return Ending("lost", f"The worker could not do it: {error!r}.")

    def _attempt(self, claimed: Claimed, held: Held, directory: Path) -> Ending | None:
        """Do an assignment until the attempt ends; None when what is left must be delivered after a restart."""
        try:
            claimed.lay_out(directory, lambda: self._gives_up(held))
        except NeedsMoreError as error:
            return Ending("failed", str(error))
        except FailingError as error:
            return Ending("lost", f"What it needs could not be fetched: {error}")
        except UnreachableError as error:
            return Ending("drained", f"What it needs could not be fetched: {error}")
        except OSError as error:
            if is_disk_full(str(error)):
                return self._wait_for_space()
            return Ending("failed", f"The worker could not lay out its directory: {error}")
        process = self._start(directory)
        relay = Relay(self._client, claimed.assignment, Spool(directory))
        relay.start()
        try:
            asked, outstayed = self._watch(process, relay, held)
            if not self._deliver_rest(relay, held, directory):
                return None
        finally:
            process.close()
            relay.abandon()
        if relay.stale or held.stale:
            raise StaleAttemptError
        return self._judge(process, relay, directory, asked, outstayed)

    def _start(self, directory: Path) -> TrainerProcess:
        """Start the assignment's process, or hand the assignment to the one that is ready."""
        command = self._work.command(directory)
        if self._warm and (ready := self._warm.take(command)):
            return ready
        return TrainerProcess(command, directory / "trainer.log", self._keep_open, self._work.environment)

    def _watch(self, process: TrainerProcess, relay: Relay, held: Held) -> tuple[Asked | None, bool]:
        """Wait until the process ends; stop it when the backend asks for that or the worker shuts down."""
        asked: Asked | None = None
        deadline = float("inf")
        while not process.wait(WATCH_SECONDS):
            if held.stale or relay.stale or relay.broken:
                process.kill()
            elif asked is None and (asked := self._reason_to_stop(held)):
                log.info("%s: asking the %s to stop.", held.assignment, self._work.process)
                process.terminate()
                deadline = time.monotonic() + self._grace_seconds
            elif time.monotonic() > deadline:
                log.warning(
                    "%s: its process did not stop within %g s; killing it.", held.assignment, self._grace_seconds
                )
                process.kill()
        return asked, time.monotonic() > deadline

    def _gives_up(self, held: Held) -> bool:
        return held.stale or self._reason_to_stop(held) is not None

    def _reason_to_stop(self, held: Held) -> Asked | None:
        if held.desired != "run":
            return "stopped"
        return "drained" if self.draining else None

    def _deliver_rest(self, relay: Relay, held: Held, directory: Path) -> bool:
        """Wait until everything written is delivered; False if the worker shuts down before."""
        relay.trainer_ended()
        patience = time.monotonic() + DRAIN_SECONDS
        while relay.is_alive():
            relay.join(WATCH_SECONDS)
            if held.stale:
                relay.abandon()
            if relay.elsewhere:
                relay.abandon()
                log.warning("%s is of another installation; its last events wait in %s.", held.assignment, directory)
                return False
            if not self.draining:
                patience = time.monotonic() + DRAIN_SECONDS
            elif time.monotonic() > patience:
                relay.abandon()
                log.warning("%s: the backend is away; its last events wait in %s.", held.assignment, directory)
                return False
        return True

    def _judge(
        self, process: TrainerProcess, relay: Relay, directory: Path, asked: Asked | None, outstayed: bool
    ) -> Ending:
        if relay.broken:
            return Ending("failed", relay.broken)
        ending = ending_of_trainer(
            process.returncode or 0,
            Spool(directory).last_event(),
            process.last_words(),
            asked,
            outstayed,
            self._work.process,
        )
        if ending.outcome in ("failed", "lost"):
            log.warning("%s %s", ending.message, process.last_words())
        # A run that fails here has trained: it says what is lost, and the user decides. A job can be repeated.
        full = is_disk_full(ending.message) or is_disk_full(process.last_words())
        if full and ending.outcome == "failed" and self._work.noun == "jobs":
            return self._wait_for_space()
        self._disk_backoff.reset()
        return ending

    def _wait_for_space(self) -> Ending:
        """Put an assignment back into the queue because the disk is full, and claim no other for a while."""
        self._claims_at = time.monotonic() + self._disk_backoff.delay()
        return ending_of_full_disk(self._client.name)

    def _leftover_ending(self, directory: Path, relay: Relay) -> Ending:
        """Return the ending that was noted, else judge by what the trainer wrote."""
        if relay.broken:
            return Ending("failed", relay.broken)
        try:
            return _ending_adapter.validate_json((directory / "ending.json").read_bytes())
        except (FileNotFoundError, ValidationError):  # a full disk may have torn it
            return ending_of_leftover(Spool(directory).last_event(), self._work.doing)

    def _release(self, held: Held, directory: Path, ending: Ending) -> None:
        """Give the assignment back and remove its directory; if the backend stays away, that waits for a restart."""
        log.info("%s, attempt %d: %s", held.assignment, held.assignment.attempt, ending.message or f"{ending.outcome}.")
        self._settle(directory, ending)
        held.given_back = True
        patience = time.monotonic() + DRAIN_SECONDS
        try:
            persist(
                lambda: self._client.release(held.assignment, ending),
                gives_up=lambda: self.draining and time.monotonic() > patience,
            )
        except StaleAttemptError:
            log.info("%s, attempt %d had already gone to another worker.", held.assignment, held.assignment.attempt)
        except BackendError as error:
            log.warning("%s could not be given back: %s", held.assignment, error)
            return
        attempt_directory.remove(directory)

    def _settle(self, directory: Path, ending: Ending) -> None:
        try:
            (directory / "ending.json").write_text(json.dumps(asdict(ending)))
        except OSError as error:
            log.warning("Cannot note in %s how it ended: %s", directory, error)
