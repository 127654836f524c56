"""The worker of a scheduler's job: it trains one run or does jobs over HTTPS alone, and ends."""

import contextlib
import logging
import os
import re
import shutil
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from arcadia_workers.contract.settings import WorkerSettings
from arcadia_workers.contract.worker_api import INTERACTIVE_SLOTS, Noun, QueueName
from arcadia_workers.worker.answers import BackendError, StaleAttemptError, WrongTokenError, retry
from arcadia_workers.worker.assignment import leftovers
from arcadia_workers.worker.attempt_directory import CheckpointStore
from arcadia_workers.worker.backend_client import BackendClient
from arcadia_workers.worker.bell import BellThread
from arcadia_workers.worker.heartbeat import HeartbeatThread
from arcadia_workers.worker.machine import lock_directory, machine_facts, take_name, try_lock
from arcadia_workers.worker.supervisor import Supervisor
from arcadia_workers.worker.trainer_process import LocalLauncher
from arcadia_workers.worker.work import Claimed, Jobs, Training

# How long the first claim is retried while the backend is away.
CLAIM_SECONDS = 600.0
# The folder of a job. One that nobody has used for this long will not be needed again.
JOB_FOLDER = re.compile(r"arcadia-[0-9a-z]+-(run-\d+-\d+(-\d+)?|jobs-\d+)")
ABANDONED_SECONDS = 86_400.0
# A worker for jobs ends when it has had none for this long. People who watch a game need several jobs after another.
IDLE_SECONDS = 120.0
WATCH_SECONDS = 1.0

log = logging.getLogger("workers")


@dataclass(frozen=True)
class WantedRun:
    """The run of a job, with the attempt that the job was submitted for."""

    run_id: int
    attempt: int


class OneRun(Training):
    """Training of one run, which is claimed once."""

    def __init__(self, client: BackendClient, store: CheckpointStore, wanted: WantedRun) -> None:
        super().__init__(client, store)
        self._wanted = wanted
        self._has_asked = False
        self.is_stopped = False
        # Why the run could not be claimed. None if it was claimed, or if there was nothing to do.
        self.problem: str | None = None

    def claim(self) -> Claimed | None:
        """Claim the run at the first call. Retry while the backend is away."""
        if self._has_asked:
            return None
        self._has_asked = True
        deadline = time.monotonic() + CLAIM_SECONDS
        run_id, attempt = self._wanted.run_id, self._wanted.attempt
        try:
            claim = retry(
                lambda: self.client.claim_run(run_id, attempt),
                is_canceled=lambda: self.is_stopped or time.monotonic() > deadline,
            )
        except StaleAttemptError as error:
            log.info("%s", error)
            return None
        except BackendError as error:
            self.problem = f"Run {run_id} could not be claimed: {error}"
            return None
        return self.as_claimed(claim)


def check_backend(settings: WorkerSettings) -> int:
    """Check that the backend is reached and accepts the token. Return the exit status."""
    token = settings.worker_token.get_secret_value()
    client = BackendClient(
        settings.backend_url, token, f"{socket.gethostname()}.check", "cpu", ca_file=settings.ca_file
    )
    try:
        client.goodbye()
    except BackendError as error:
        print(f"arcadia worker: {error}", file=sys.stderr)
        return os.EX_UNAVAILABLE
    print(f"{settings.backend_url} accepts the token of this host, {socket.gethostname()}.")
    return 0


def train_once(settings: WorkerSettings, queue: QueueName, name: str | None, executor: str, wanted: WantedRun) -> int:
    """Train one run until it ends or SIGTERM comes. Return the exit status."""
    base = name or f"{socket.gethostname()}.run-{wanted.run_id}"
    # Its spool is here, so that a job which is started again on this host delivers what the last one left.
    place = lock_directory(settings.directory(base), shared=True)
    remove_abandoned(place.directory.parent)
    facts = machine_facts(place.predecessor)

    def client_named(name: str, on_wrong_token: Callable[[], None] = lambda: None) -> BackendClient:
        token, url = settings.worker_token.get_secret_value(), settings.backend_url
        return BackendClient(url, token, name, queue, on_wrong_token, executor=executor, ca_file=settings.ca_file)

    try:
        taken = take_name(name, base, lambda name: client_named(name).heartbeat(facts, 0, []))
    except WrongTokenError as error:
        print(f"arcadia worker: {error}", file=sys.stderr)
        return os.EX_NOPERM
    # SIGTERM lets the trainer save.
    client = client_named(taken, lambda: os.kill(os.getpid(), signal.SIGTERM))
    heartbeat = HeartbeatThread(client, facts, 0, settings.worker_alive_file, place.directory)
    work = OneRun(client, CheckpointStore(client, place.directory / "checkpoints"), wanted)
    launcher = LocalLauncher([place.descriptor])
    supervisor = Supervisor(client, heartbeat, place.directory, settings.stop_grace_seconds, work, 1, launcher)

    def stop(_number: int, _frame: object) -> None:
        log.info("Stopping: the trainer saves a checkpoint first.")
        work.is_stopped = True
        supervisor.drain()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    heartbeat.start()
    supervisor.start()
    heartbeat.close()
    return _leave(client, work.noun, place.directory, work.problem)


def do_jobs(settings: WorkerSettings, name: str | None, executor: str, number: int) -> int:
    """Do jobs until none has waited for a while or SIGTERM comes. Return the exit status."""
    base = name or f"{socket.gethostname()[:80]}.jobs-{number}"
    place = lock_directory(settings.directory(base), shared=True)
    remove_abandoned(place.directory.parent)
    facts = machine_facts(place.predecessor)
    token, url = settings.worker_token.get_secret_value(), settings.backend_url
    stopped = threading.Event()
    client = BackendClient(url, token, base, "cpu", stopped.set, executor=executor, ca_file=settings.ca_file)
    try:
        client.heartbeat(facts, settings.jobs, [])
    except WrongTokenError as error:
        print(f"arcadia worker: {error}", file=sys.stderr)
        return os.EX_NOPERM
    except BackendError as error:
        log.warning("%s", error)  # it may come back
    heartbeat = HeartbeatThread(client, facts, settings.jobs, settings.worker_alive_file, place.directory)
    work = Jobs(client, CheckpointStore(client, place.directory / "checkpoints"), settings.job_niceness)
    slots = settings.jobs + INTERACTIVE_SLOTS
    launcher = LocalLauncher([place.descriptor])
    supervisor = Supervisor(client, heartbeat, place.directory, settings.stop_grace_seconds, work, slots, launcher)
    bell = BellThread(client, {"jobs": supervisor}, takes_jobs=True)
    heartbeat.is_at_bell = lambda: bell.is_waiting
    for signaled in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signaled, lambda _number, _frame: stopped.set())
    heartbeat.start()
    supervisor.recover()
    bell.start()
    last_busy_at = time.monotonic()
    while not stopped.wait(WATCH_SECONDS) and time.monotonic() - last_busy_at < IDLE_SECONDS:
        if supervisor.is_busy:
            last_busy_at = time.monotonic()
    bell.stop()
    supervisor.drain()
    supervisor.wait_until_idle()
    heartbeat.close()
    return os.EX_NOPERM if client.wrong_token is not None else _leave(client, work.noun, place.directory)


def _leave(client: BackendClient, noun: Noun, directory: Path, problem: str | None = None) -> int:
    """Sign off, and return the exit status."""
    try:
        client.goodbye()
    except BackendError as error:
        log.warning("Could not sign off from the backend: %s", error)
    left = leftovers(directory, noun)
    if not left:
        _tidy(directory)
    if problem is not None:
        log.error("%s", problem)
        return os.EX_UNAVAILABLE
    if left:
        log.error("Events of %s stay in %s.", left[0][0], directory)
        return os.EX_TEMPFAIL
    return 0


def remove_abandoned(temporary: Path) -> None:
    """Delete the folders of jobs that were killed on this host long ago, of this user and without a worker."""
    for folder in temporary.glob("arcadia-*"):
        if not JOB_FOLDER.fullmatch(folder.name) or not _is_abandoned(folder):
            continue
        if (place := try_lock(folder)) is not None:
            log.info("Deleting %s, which an earlier job left.", folder)
            shutil.rmtree(folder, ignore_errors=True)
            os.close(place.descriptor)


def _is_abandoned(folder: Path) -> bool:
    try:
        state = folder.lstat()
        if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid():
            return False
        files = [folder / "lock", *folder.glob("**/events.jsonl")]
        used_at = max(path.stat().st_mtime for path in [folder, *files] if path.exists())
    except OSError:  # its own worker is deleting it
        return False
    return time.time() - used_at > ABANDONED_SECONDS


def _tidy(directory: Path) -> None:
    """Delete what this worker made, since the next job may be on another host."""
    shutil.rmtree(directory / "checkpoints", ignore_errors=True)
    (directory / "lock").unlink(missing_ok=True)
    for folder in (directory / "runs", directory / "jobs", directory):
        with contextlib.suppress(OSError):  # it has files of others
            folder.rmdir()
