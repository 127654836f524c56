"""The two kinds of work: training runs, and jobs beside it. Each says how it is claimed, laid out and started."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from workers.contract import layout
from workers.contract.jobs import JobRequest
from workers.contract.worker_api import JobKind, Noun
from workers.worker import attempt_directory
from workers.worker.assignment import Assignment
from workers.worker.backend_client import BackendClient
from workers.worker.checkpoint_store import CheckpointStore

TRAINER = (sys.executable, "-m", "workers.trainer")
JOB = (sys.executable, "-m", "workers.trainer.job")
# One thread, and no room on a GPU: what is trained there needs all of it.
MODEST = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}

GivesUp = Callable[[], bool]


@dataclass(frozen=True)
class Claimed:
    """An assignment that the backend handed over, and what lays its directory out."""

    assignment: Assignment
    lay_out: Callable[[Path, GivesUp], None]


class Work(Protocol):
    """A kind of work. `process` and `doing` are words for what is told of its end."""

    noun: Noun
    process: str
    doing: str
    environment: Mapping[str, str]

    def claim(self) -> Claimed | None:
        """Take the best waiting assignment, if one waits."""
        ...

    def command(self, directory: Path) -> list[str]:
        """Return what does the assignment that is laid out in a directory."""
        ...


@dataclass
class Training:
    """Runs, each trained by a process of the trainer's."""

    client: BackendClient
    store: CheckpointStore
    program: Sequence[str] = TRAINER
    noun: Noun = "runs"
    process: str = "trainer"
    doing: str = "trained this run"
    environment: Mapping[str, str] = field(default_factory=dict)

    def claim(self) -> Claimed | None:
        """Take the best waiting run of the worker's queue."""
        if (claim := self.client.claim()) is None:
            return None
        assignment = Assignment(self.noun, claim.run_id, claim.attempt, claim.installation or None)
        prepare = partial(attempt_directory.prepare_run, assignment=assignment, claim=claim, store=self.store)
        return Claimed(assignment, lambda directory, gives_up: prepare(directory, gives_up=gives_up))

    def command(self, directory: Path) -> list[str]:
        """Return the trainer's command, which goes on from the newest checkpoint."""
        config = str(directory / layout.CONFIG)
        return [*self.program, config, "--dir", str(directory), "--resume", "--no-progress-bar"]


# Somebody watches these or plays, and they would falter if they gave way.
LIVE: tuple[JobKind, ...] = ("live", "play")
LIVE_NICENESS = 0


@dataclass
class Jobs:
    """Jobs of all runs, each done by a process that gives way to training, unless somebody watches it."""

    client: BackendClient
    store: CheckpointStore
    niceness: int
    program: Sequence[str] = JOB
    noun: Noun = "jobs"
    process: str = "job's process"
    doing: str = "did this job"
    environment: Mapping[str, str] = field(default_factory=lambda: MODEST)

    def claim(self) -> Claimed | None:
        """Take the oldest waiting job."""
        if (claim := self.client.claim_job()) is None:
            return None
        assignment = Assignment(self.noun, claim.job_id, claim.attempt, claim.installation or None)
        live = self.client.live_address(assignment) if claim.kind in LIVE else None
        prepare = partial(
            attempt_directory.prepare_job, assignment=assignment, claim=claim, store=self.store, live=live
        )
        return Claimed(assignment, lambda directory, gives_up: prepare(directory, gives_up=gives_up))

    def command(self, directory: Path) -> list[str]:
        """Return the job's command."""
        request = directory / layout.REQUEST
        asked = JobRequest.model_validate_json(request.read_bytes())
        niceness = LIVE_NICENESS if asked.kind in LIVE else self.niceness
        return [*self.program, str(request), "--dir", str(directory), "--nice", str(niceness)]
