"""The two kinds of work: training runs, and errands beside it. Each says how it is claimed, laid out and started."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from workers.contract import layout
from workers.contract.errands import ErrandRequest
from workers.contract.worker_api import ErrandKind, Noun
from workers.worker import attempt_directory
from workers.worker.backend_client import BackendClient
from workers.worker.checkpoint_store import CheckpointStore
from workers.worker.job import Job

TRAINER = (sys.executable, "-m", "workers.trainer")
ERRAND = (sys.executable, "-m", "workers.trainer.errand")
# One thread, and no room on a GPU: what is trained there needs all of it.
MODEST = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}

GivesUp = Callable[[], bool]


@dataclass(frozen=True)
class Claimed:
    """A job that the backend handed over, and what lays its directory out."""

    job: Job
    lay_out: Callable[[Path, GivesUp], None]


class Work(Protocol):
    """A kind of work. `process` and `doing` are words for what is told of its end."""

    noun: Noun
    process: str
    doing: str
    environment: Mapping[str, str]

    def claim(self) -> Claimed | None:
        """Take the best waiting job, if one waits."""
        ...

    def command(self, directory: Path) -> list[str]:
        """Return what does the job that is laid out in a directory."""
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
        job = Job(self.noun, claim.run_id, claim.attempt, claim.installation or None)
        prepare = partial(attempt_directory.prepare_run, job=job, claim=claim, store=self.store)
        return Claimed(job, lambda directory, gives_up: prepare(directory, gives_up=gives_up))

    def command(self, directory: Path) -> list[str]:
        """Return the trainer's command, which goes on from the newest checkpoint."""
        config = str(directory / layout.CONFIG)
        return [*self.program, config, "--dir", str(directory), "--resume", "--no-progress-bar"]


# Somebody watches these or plays, and they would falter if they gave way.
LIVE: tuple[ErrandKind, ...] = ("live", "play")
LIVE_NICENESS = 0


@dataclass
class Errands:
    """Errands of all runs, each done by a process that gives way to training, unless somebody watches it."""

    client: BackendClient
    store: CheckpointStore
    niceness: int
    program: Sequence[str] = ERRAND
    noun: Noun = "errands"
    process: str = "errand's process"
    doing: str = "did this errand"
    environment: Mapping[str, str] = field(default_factory=lambda: MODEST)

    def claim(self) -> Claimed | None:
        """Take the oldest waiting errand."""
        if (claim := self.client.claim_errand()) is None:
            return None
        job = Job(self.noun, claim.errand_id, claim.attempt, claim.installation or None)
        live = self.client.live_address(job) if claim.kind in LIVE else None
        prepare = partial(attempt_directory.prepare_errand, job=job, claim=claim, store=self.store, live=live)
        return Claimed(job, lambda directory, gives_up: prepare(directory, gives_up=gives_up))

    def command(self, directory: Path) -> list[str]:
        """Return the errand's command."""
        request = directory / layout.REQUEST
        asked = ErrandRequest.model_validate_json(request.read_bytes())
        niceness = LIVE_NICENESS if asked.kind in LIVE else self.niceness
        return [*self.program, str(request), "--dir", str(directory), "--nice", str(niceness)]
