"""The two kinds of work, runs and jobs, with the code to claim, prepare and start them, and their slots."""

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from arcadia_workers.contract import layout
from arcadia_workers.contract.jobs import LIVE_GAMES, JobRequest
from arcadia_workers.contract.worker_api import Claim, Noun
from arcadia_workers.worker import attempt_directory
from arcadia_workers.worker.assignment import Assignment
from arcadia_workers.worker.attempt_directory import CheckpointStore
from arcadia_workers.worker.backend_client import BackendClient


class Slots:
    """A fixed number of slots for threads.

    A thread that finds no free slot returns. A thread with a slot then checks for work again, so no doorbell is lost.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._changed = threading.Condition()
        self._used = 0
        self._closed = False
        self._rung = False

    def enter(self) -> bool:
        """Record a doorbell. Return True if the thread got a slot."""
        with self._changed:
            self._rung = True
            if self._closed or self._used == self.count:
                return False
            self._used += 1
            return True

    @property
    def used(self) -> int:
        """Return the number of slots that are used."""
        with self._changed:
            return self._used

    def should_check_again(self) -> bool:
        """Return True if the doorbell rang since the last check. Otherwise release the slot."""
        with self._changed:
            if self._rung and not self._closed:
                self._rung = False
                return True
            self._leave()
            return False

    def leave(self) -> None:
        """Release a slot."""
        with self._changed:
            self._leave()

    def _leave(self) -> None:
        self._used -= 1
        self._changed.notify_all()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Wait until all slots are free, and keep them free during the block."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: self._used == 0)
        try:
            yield
        finally:
            with self._changed:
                self._closed = False


TRAINER = (sys.executable, "-m", "arcadia_workers.trainer")
JOB = (sys.executable, "-m", "arcadia_workers.trainer.job")
# One thread and no GPU, so that jobs do not slow down training.
LIMITED = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}

IsCanceled = Callable[[], bool]


@dataclass(frozen=True)
class Claimed:
    """A claimed assignment, with the function that prepares its directory."""

    assignment: Assignment
    prepare_directory: Callable[[Path, IsCanceled], None]
    # Arguments of its process, besides those that follow from the directory.
    arguments: Sequence[str] = ()


class Work(Protocol):
    """A kind of work. `process` and `doing` are used in messages about its end."""

    noun: Noun
    process: str
    doing: str
    environment: Mapping[str, str]

    def claim(self) -> Claimed | None:
        """Claim the next waiting assignment, if any."""
        ...

    def command(self, directory: Path) -> list[str]:
        """Return the command for the assignment in a directory."""
        ...


@dataclass
class Training:
    """Runs, each trained by a trainer process."""

    client: BackendClient
    store: CheckpointStore
    program: Sequence[str] = TRAINER
    noun: Noun = "runs"
    process: str = "trainer"
    doing: str = "trained this run"
    environment: Mapping[str, str] = field(default_factory=dict)

    def claim(self) -> Claimed | None:
        """Claim the best waiting run of the worker's queue."""
        if (claim := self.client.claim()) is None:
            return None
        return self.as_claimed(claim)

    def as_claimed(self, claim: Claim) -> Claimed:
        """Return the assignment of a claim."""
        assignment = Assignment(self.noun, claim.run_id, claim.attempt, claim.installation or None, claim.token)
        prepare = partial(attempt_directory.prepare_run, assignment=assignment, claim=claim, store=self.store)
        return Claimed(
            assignment,
            lambda directory, is_canceled: prepare(directory, is_canceled=is_canceled),
            () if claim.gpu is None else ("--gpu", str(claim.gpu)),
        )

    def command(self, directory: Path) -> list[str]:
        """Return the trainer's command, which resumes from the newest checkpoint."""
        config = str(directory / layout.CONFIG)
        return [*self.program, config, "--dir", str(directory), "--resume", "--no-progress-bar"]


# People watch or play live games, so these get normal priority.
LIVE_NICENESS = 0


@dataclass
class Jobs:
    """Jobs, each done by a process with low priority, except live games."""

    client: BackendClient
    store: CheckpointStore
    niceness: int
    program: Sequence[str] = JOB
    noun: Noun = "jobs"
    process: str = "job's process"
    doing: str = "did this job"
    environment: Mapping[str, str] = field(default_factory=lambda: LIMITED)
    # The backend counts the jobs of this worker at each claim, so two claims must not overlap.
    _claiming: threading.Lock = field(default_factory=threading.Lock)

    def claim(self) -> Claimed | None:
        """Claim the next waiting job for which this worker has a slot."""
        with self._claiming:
            claim = self.client.claim_job()
        if claim is None:
            return None
        assignment = Assignment(self.noun, claim.job_id, claim.attempt, claim.installation or None, claim.token)
        live = self.client.live_address(assignment) if claim.kind in LIVE_GAMES else None
        prepare = partial(
            attempt_directory.prepare_job, assignment=assignment, claim=claim, store=self.store, live=live
        )
        return Claimed(assignment, lambda directory, is_canceled: prepare(directory, is_canceled=is_canceled))

    def command(self, directory: Path) -> list[str]:
        """Return the job's command."""
        request = directory / layout.REQUEST
        job = JobRequest.model_validate_json(request.read_bytes())
        niceness = LIVE_NICENESS if job.kind in LIVE_GAMES else self.niceness
        return [*self.program, str(request), "--dir", str(directory), "--nice", str(niceness)]
