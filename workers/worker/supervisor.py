"""Claims runs and trains them one at a time: starts the trainer, relays its events, does what the backend asks."""

import json
import logging
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from workers.contract import layout
from workers.contract.worker_api import Claim
from workers.worker import run_directory
from workers.worker.answers import BackendError, FailingError, StaleAttemptError, UnreachableError
from workers.worker.backend_client import BackendClient
from workers.worker.backoff import persist
from workers.worker.endings import Asked, Ending, ending_of_leftover, ending_of_trainer
from workers.worker.heartbeat import Heartbeat, Held
from workers.worker.relay import Relay
from workers.worker.spool import Spool
from workers.worker.trainer_process import TrainerProcess

TRAINER = (sys.executable, "-m", "workers.trainer")
WATCH_SECONDS = 0.1
DRAIN_SECONDS = 15.0  # after this a worker that shuts down leaves the rest for when it is started again

_ending_adapter = TypeAdapter(Ending)

log = logging.getLogger(__name__)


class Supervisor:
    """Trains one run at a time."""

    def __init__(
        self,
        client: BackendClient,
        heartbeat: Heartbeat,
        directory: Path,
        grace_seconds: float,
        trainer: Sequence[str] = TRAINER,
        keep_open: Sequence[int] = (),
    ) -> None:
        self._client, self._heartbeat, self._directory = client, heartbeat, directory
        self._grace_seconds, self._trainer, self._keep_open = grace_seconds, trainer, keep_open
        self._slot = threading.Lock()
        self.draining = False

    def drain(self) -> None:
        """Have the trainer save and stop, give its run back, and claim no other."""
        self.draining = True

    def begin(self) -> None:
        """Give back what an earlier life left behind, and train what waits before the doorbell first rings."""
        self.recover()
        self.look()

    def look(self) -> None:
        """Claim and train until no run waits."""
        with self._slot:
            while not self.draining:
                try:
                    claim = self._client.claim()
                except BackendError as error:
                    log.warning("Cannot claim a run: %s", error)
                    return
                if claim is None:
                    return
                self._train(claim)

    def recover(self) -> None:
        """Deliver what this worker left behind when it last ended, and give those runs back."""
        with self._slot:
            for run, attempt, directory in run_directory.leftovers(self._directory):
                try:
                    self._recover(run, attempt, directory)
                except Exception:
                    # One that is damaged must not keep the others from being delivered.
                    log.exception("What run %d, attempt %d left behind in %s stays there", run, attempt, directory)

    def _recover(self, run: int, attempt: int, directory: Path) -> None:
        log.info("Run %d, attempt %d was left behind; delivering what it wrote.", run, attempt)
        held = Held(run, attempt)
        with self._of(run_directory.installation_of(directory)):
            relay = Relay(self._client, run, attempt, Spool(directory))
            relay.start()
            if self._deliver_rest(relay, held, directory):
                self._release(held, directory, self._leftover_ending(directory, relay))

    @contextmanager
    def _of(self, installation: str | None) -> Iterator[None]:
        """Have calls about the run in hand say which installation it is of."""
        self._client.installation = installation
        try:
            yield
        finally:
            self._client.installation = None

    def _train(self, claim: Claim) -> None:
        log.info("Run %d, attempt %d: starting.", claim.run_id, claim.attempt)
        held = Held(claim.run_id, claim.attempt)
        directory = run_directory.attempt_directory(self._directory, claim.run_id, claim.attempt)
        with self._of(claim.installation or None):
            self._heartbeat.hold(held)
            try:
                ending = self._attempt_or_tell(claim, held, directory)
                if ending:
                    self._release(held, directory, ending)
            except StaleAttemptError:
                run_directory.remove(directory)
            finally:
                self._heartbeat.hold(None)

    def _attempt_or_tell(self, claim: Claim, held: Held, directory: Path) -> Ending | None:
        """Train until the attempt ends; what goes wrong in the worker itself is told as the run's ending."""
        try:
            return self._attempt(claim, held, directory)
        except StaleAttemptError:
            raise
        except Exception as error:
            log.exception("Run %d, attempt %d could not be trained", claim.run_id, claim.attempt)
            return Ending("lost", f"The worker could not train it: {error!r}.")

    def _attempt(self, claim: Claim, held: Held, directory: Path) -> Ending | None:
        """Train until the attempt ends; None when what is left must be delivered after a restart."""
        try:
            run_directory.prepare(directory, claim, self._client, lambda: self._gives_up(held))
        except run_directory.NoCheckpointError as error:
            return Ending("failed", str(error))
        except FailingError as error:
            return Ending("lost", f"The checkpoint could not be fetched: {error}")
        except UnreachableError as error:
            return Ending("drained", f"The checkpoint could not be fetched: {error}")
        except OSError as error:
            return Ending("failed", f"The worker could not lay out the run's directory: {error}")
        command = [
            *self._trainer,
            str(directory / layout.CONFIG),
            "--dir",
            str(directory),
            "--resume",
            "--no-progress-bar",
        ]
        trainer = TrainerProcess(command, directory / "trainer.log", self._keep_open)
        relay = Relay(self._client, claim.run_id, claim.attempt, Spool(directory))
        relay.start()
        try:
            asked, outstayed = self._watch(trainer, relay, held)
            if not self._deliver_rest(relay, held, directory):
                return None
        finally:
            trainer.close()
            relay.abandon()
        if relay.stale or held.stale:
            raise StaleAttemptError
        return self._judge(trainer, relay, directory, asked, outstayed)

    def _watch(self, trainer: TrainerProcess, relay: Relay, held: Held) -> tuple[Asked | None, bool]:
        """Wait until the trainer ends; stop it when the backend asks for that or the worker shuts down."""
        asked: Asked | None = None
        deadline = float("inf")
        while not trainer.wait(WATCH_SECONDS):
            if held.stale or relay.stale or relay.broken:
                trainer.kill()
            elif asked is None and (asked := self._reason_to_stop(held)):
                log.info("Run %d: asking the trainer to stop.", held.run)
                trainer.terminate()
                deadline = time.monotonic() + self._grace_seconds
            elif time.monotonic() > deadline:
                log.warning("Run %d: the trainer did not stop within %g s; killing it.", held.run, self._grace_seconds)
                trainer.kill()
        return asked, time.monotonic() > deadline

    def _gives_up(self, held: Held) -> bool:
        return held.stale or self._reason_to_stop(held) is not None

    def _reason_to_stop(self, held: Held) -> Asked | None:
        if held.desired in ("pause", "stop"):
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
                log.warning("Run %d is of another installation; its last events wait in %s.", held.run, directory)
                return False
            if not self.draining:
                patience = time.monotonic() + DRAIN_SECONDS
            elif time.monotonic() > patience:
                relay.abandon()
                log.warning("Run %d: the backend is away; its last events wait in %s.", held.run, directory)
                return False
        return True

    def _judge(
        self, trainer: TrainerProcess, relay: Relay, directory: Path, asked: Asked | None, outstayed: bool
    ) -> Ending:
        if relay.broken:
            return Ending("failed", relay.broken)
        ending = ending_of_trainer(
            trainer.returncode or 0, Spool(directory).last_event(), trainer.last_words(), asked, outstayed
        )
        if ending.outcome in ("failed", "lost"):
            log.warning("%s %s", ending.message, trainer.last_words())
        return ending

    def _leftover_ending(self, directory: Path, relay: Relay) -> Ending:
        """Return the ending that was noted, else judge by what the trainer wrote."""
        if relay.broken:
            return Ending("failed", relay.broken)
        try:
            return _ending_adapter.validate_json((directory / "ending.json").read_bytes())
        except (FileNotFoundError, ValidationError):  # a full disk may have torn it
            return ending_of_leftover(Spool(directory).last_event())

    def _release(self, held: Held, directory: Path, ending: Ending) -> None:
        """Give the run back and remove its directory; if the backend stays away, that waits for a restart."""
        log.info("Run %d, attempt %d: %s", held.run, held.attempt, ending.message or f"{ending.outcome}.")
        self._settle(directory, ending)
        held.given_back = True
        patience = time.monotonic() + DRAIN_SECONDS
        try:
            persist(
                lambda: self._client.release(held.run, held.attempt, ending),
                gives_up=lambda: self.draining and time.monotonic() > patience,
            )
        except StaleAttemptError:
            log.info("Run %d, attempt %d had already gone to another worker.", held.run, held.attempt)
        except BackendError as error:
            log.warning("Run %d could not be given back: %s", held.run, error)
            return
        run_directory.remove(directory)

    def _settle(self, directory: Path, ending: Ending) -> None:
        try:
            (directory / "ending.json").write_text(json.dumps(asdict(ending)))
        except OSError as error:
            log.warning("Cannot note in %s how it ended: %s", directory, error)
