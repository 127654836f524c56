"""Supervision of assignments of one kind: claim them, start a process for each, and relay its events."""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from arcadia_workers.contract.worker_api import INTERACTIVE_SLOTS, MOST_JOBS
from arcadia_workers.worker import attempt_directory
from arcadia_workers.worker.answers import (
    BackendError,
    Backoff,
    FailingError,
    StaleAttemptError,
    UnreachableError,
    retry,
)
from arcadia_workers.worker.assignment import (
    Ending,
    Lease,
    StopReason,
    ending_of_full_disk,
    ending_of_leftover,
    ending_of_stop_on_full_disk,
    ending_of_trainer,
    is_disk_full,
    leftovers,
)
from arcadia_workers.worker.attempt_directory import ChangeRequests, MissingFileError
from arcadia_workers.worker.backend_client import BackendClient
from arcadia_workers.worker.heartbeat import HeartbeatThread
from arcadia_workers.worker.relay import Relay
from arcadia_workers.worker.spool import Spool
from arcadia_workers.worker.trainer_process import Launcher, LocalLauncher, TrainerProcess
from arcadia_workers.worker.work import Claimed, Slots, Work

WATCH_SECONDS = 0.1
DRAIN_SECONDS = 15.0  # after this time, a stopping worker leaves undelivered events for its next start
# Pause between claims while the disk is full: first and longest.
DISK_FULL_SECONDS = 10.0
MAX_DISK_FULL_SECONDS = 300.0

_ending_adapter = TypeAdapter(Ending)

log = logging.getLogger(__name__)


class Supervisor:
    """Pool with a fixed number of slots for one kind of assignment."""

    def __init__(
        self,
        client: BackendClient,
        heartbeat: HeartbeatThread,
        directory: Path,
        grace_seconds: float,
        work: Work,
        slots: int = 1,
        launcher: Launcher | None = None,
    ) -> None:
        self._client, self._heartbeat, self._directory = client, heartbeat, directory
        self._grace_seconds, self._work = grace_seconds, work
        self._slots = Slots(slots)
        self.slots = slots
        self._launcher = launcher or LocalLauncher()
        self._claims_at = 0.0
        self._disk_backoff = Backoff(DISK_FULL_SECONDS, MAX_DISK_FULL_SECONDS)
        self.draining = False
        # Called after each claim, before its work.
        self.on_claim: Callable[[], None] = lambda: None

    @property
    def is_busy(self) -> bool:
        """Return True while it looks for work or does some."""
        return self._slots.used > 0

    def drain(self) -> None:
        """Stop the processes, release their assignments, and claim no others."""
        self.draining = True
        self._launcher.close()

    def start(self) -> None:
        """Release leftovers of an earlier worker, then work until nothing waits."""
        self.recover()
        if not self.draining:
            self._launcher.prepare()
        self.work_until_idle()

    def work_until_idle(self) -> None:
        """Claim and do assignments until none waits. Return immediately if all slots are used."""
        if not self._slots.enter():
            return
        try:
            while self._slots.should_check_again():
                self._do_waiting()
        except BaseException:
            self._slots.leave()
            raise

    def wait_until_idle(self) -> None:
        """Wait until no slot is used."""
        with self._slots.closed():
            return

    def recover(self) -> None:
        """Deliver leftovers of this worker's previous process and release their assignments."""
        with self._slots.closed():
            left = [
                (Lease(assignment), directory) for assignment, directory in leftovers(self._directory, self._work.noun)
            ]
            # The lease must not expire before everything is delivered: events of an ended attempt are rejected.
            # A heartbeat holds one run only, so runs are held one after the other.
            concurrent = MOST_JOBS + INTERACTIVE_SLOTS if self._work.noun == "jobs" else 1
            for held, _ in left[:concurrent]:
                self._heartbeat.hold(held)
            for number, (held, directory) in enumerate(left):
                try:
                    self._recover(held, directory)
                except Exception:
                    # A damaged leftover must not block the others.
                    log.exception(
                        "The leftovers of %s, attempt %d stay in %s",
                        held.assignment,
                        held.assignment.attempt,
                        directory,
                    )
                finally:
                    self._heartbeat.drop(held)
                    for following, _ in left[number + concurrent : number + concurrent + 1]:
                        self._heartbeat.hold(following)

    def _do_waiting(self) -> None:
        while not self.draining and time.monotonic() >= self._claims_at:
            try:
                claimed = self._work.claim()
            except BackendError as error:
                log.warning("Cannot claim %s: %s", self._work.noun, error)
                return
            if claimed is None:
                return
            self.on_claim()
            self._do(claimed)

    def _recover(self, held: Lease, directory: Path) -> None:
        log.info("%s, attempt %d is a leftover; delivering its events.", held.assignment, held.assignment.attempt)
        relay = Relay(self._client, held.assignment, Spool(directory))
        relay.start()
        if self._deliver_rest(relay, held, directory):
            self._release(held, directory, self._leftover_ending(directory, relay))

    def _do(self, claimed: Claimed) -> None:
        log.info("%s, attempt %d: starting.", claimed.assignment, claimed.assignment.attempt)
        held, directory = Lease(claimed.assignment), claimed.assignment.directory(self._directory)
        self._heartbeat.hold(held)
        try:
            ending = self._attempt_safely(claimed, held, directory)
            if ending:
                self._release(held, directory, ending)
        except StaleAttemptError:
            attempt_directory.remove(directory)
        finally:
            self._heartbeat.drop(held)

    def _attempt_safely(self, claimed: Claimed, held: Lease, directory: Path) -> Ending | None:
        """Do an assignment until the attempt ends. An error in the worker itself becomes the ending."""
        try:
            return self._attempt(claimed, held, directory)
        except StaleAttemptError:
            raise
        except Exception as error:
            log.exception("%s, attempt %d failed in the worker", claimed.assignment, claimed.assignment.attempt)
            return Ending("lost", f"The worker failed: {error!r}.")

    def _attempt(self, claimed: Claimed, held: Lease, directory: Path) -> Ending | None:
        """Do an assignment until the attempt ends. Return None if the rest must be delivered after a restart."""
        try:
            claimed.prepare_directory(directory, lambda: self._is_canceled(held))
        except MissingFileError as error:
            return Ending("failed", str(error))
        except FailingError as error:
            return Ending("lost", f"A required file could not be fetched: {error}")
        except UnreachableError as error:
            return Ending("drained", f"A required file could not be fetched: {error}")
        except OSError as error:
            if is_disk_full(str(error)):
                return self._wait_for_space()
            return Ending("failed", f"The worker could not prepare its directory: {error}")
        command = [*self._work.command(directory), *claimed.arguments]
        process = self._launcher.launch(command, directory, self._work.environment)
        relay = Relay(self._client, claimed.assignment, Spool(directory))
        relay.start()
        try:
            stop_reason, timed_out = self._watch(process, relay, held, directory)
            if not self._deliver_rest(relay, held, directory):
                return None
        finally:
            process.close()
            relay.abandon()
        if relay.stale or held.is_stale:
            raise StaleAttemptError
        return self._ending(process, relay, directory, stop_reason, timed_out)

    def _watch(
        self, process: TrainerProcess, relay: Relay, held: Lease, directory: Path
    ) -> tuple[StopReason | None, bool]:
        """Wait until the process ends. Stop it on a stop request or when the worker stops."""
        stop_reason: StopReason | None = None
        deadline = float("inf")
        requests = ChangeRequests(directory)
        while not process.wait(WATCH_SECONDS):
            requests.hand_over(held.changes)
            if held.is_stale or relay.stale or relay.broken:
                process.kill()
            elif stop_reason is None and (stop_reason := self._reason_to_stop(held)):
                log.info("%s: stopping the %s.", held.assignment, self._work.process)
                process.terminate()
                deadline = time.monotonic() + self._grace_seconds
            elif time.monotonic() > deadline:
                log.warning(
                    "%s: its process did not stop within %g s; killing it.", held.assignment, self._grace_seconds
                )
                process.kill()
        return stop_reason, time.monotonic() > deadline

    def _is_canceled(self, held: Lease) -> bool:
        return held.is_stale or self._reason_to_stop(held) is not None

    def _reason_to_stop(self, held: Lease) -> StopReason | None:
        if held.desired != "run":
            return "stopped"
        return "drained" if self.draining or held.is_drained else None

    def _deliver_rest(self, relay: Relay, held: Lease, directory: Path) -> bool:
        """Wait until all events are delivered. Return False if the worker stops before."""
        relay.trainer_ended()
        deadline = time.monotonic() + DRAIN_SECONDS
        while relay.is_alive() or relay.is_token_wrong:
            relay.join(WATCH_SECONDS)
            if held.is_stale:
                relay.abandon()
            if relay.elsewhere:
                relay.abandon()
                log.warning(
                    "%s belongs to another installation; its last events stay in %s.", held.assignment, directory
                )
                return False
            if relay.is_token_wrong:
                log.warning("%s: its last events stay in %s until the next start.", held.assignment, directory)
                return False
            if not self.draining:
                deadline = time.monotonic() + DRAIN_SECONDS
            elif time.monotonic() > deadline:
                relay.abandon()
                log.warning("%s: the backend is unreachable; its last events stay in %s.", held.assignment, directory)
                return False
        return True

    def _ending(
        self, process: TrainerProcess, relay: Relay, directory: Path, stop_reason: StopReason | None, timed_out: bool
    ) -> Ending:
        if relay.broken:
            return Ending("failed", relay.broken)
        ending = ending_of_trainer(
            process.returncode or 0,
            Spool(directory).last_event(),
            process.stderr_tail(),
            stop_reason,
            timed_out,
            self._work.process,
        )
        if ending.outcome in ("failed", "lost"):
            log.warning("%s %s", ending.message, process.stderr_tail())
        # A failed run reports what is lost, and the user decides. A job can be repeated.
        full = is_disk_full(ending.message) or is_disk_full(process.stderr_tail())
        if full and stop_reason and self._work.noun == "runs":
            return ending_of_stop_on_full_disk(stop_reason, self._client.name)
        if full and ending.outcome == "failed" and self._work.noun == "jobs":
            return self._wait_for_space()
        self._disk_backoff.reset()
        return ending

    def _wait_for_space(self) -> Ending:
        """Requeue an assignment because the disk is full, and pause claiming."""
        self._claims_at = time.monotonic() + self._disk_backoff.delay()
        return ending_of_full_disk(self._client.name)

    def _leftover_ending(self, directory: Path, relay: Relay) -> Ending:
        """Return the stored ending, or else determine it from the events."""
        if relay.broken:
            return Ending("failed", relay.broken)
        try:
            return _ending_adapter.validate_json((directory / "ending.json").read_bytes())
        except (FileNotFoundError, ValidationError):  # a full disk may have truncated it
            return ending_of_leftover(Spool(directory).last_event(), self._work.doing)

    def _release(self, held: Lease, directory: Path, ending: Ending) -> None:
        """Release the assignment and delete its directory, or leave both for the next start."""
        log.info("%s, attempt %d: %s", held.assignment, held.assignment.attempt, ending.message or f"{ending.outcome}.")
        self._settle(directory, ending)
        held.is_released = True
        deadline = time.monotonic() + DRAIN_SECONDS
        try:
            retry(
                lambda: self._client.release(held.assignment, ending),
                is_canceled=lambda: self.draining and time.monotonic() > deadline,
            )
        except StaleAttemptError:
            log.info("%s, attempt %d is already held by another worker.", held.assignment, held.assignment.attempt)
        except BackendError as error:
            log.warning("%s could not be released: %s", held.assignment, error)
            return
        attempt_directory.remove(directory)

    def _settle(self, directory: Path, ending: Ending) -> None:
        try:
            (directory / "ending.json").write_text(json.dumps(asdict(ending)))
        except OSError as error:
            log.warning("Cannot store the ending in %s: %s", directory, error)
