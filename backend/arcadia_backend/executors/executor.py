"""Interface of a scheduler, its jobs, and the settings that all schedulers have."""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from arcadia_workers.contract.values import NO_BOOLEAN, STORABLE

# The states of jobs. The scheduler's own word is in `scheduler_state`.
JobPhase = Literal["waiting", "running", "ended"]
# How a job ended. Schedulers give up on some jobs before they start.
JobOutcome = Literal["completed", "cancelled", "failed", "not started"]

# Schedulers write the output of a job before its first command, and end the job if they cannot.
NO_OUTPUT = "It left no output that this server can read: the folder for output must exist on the node."

# Workers for evaluations and other jobs, if the settings do not say otherwise.
DEFAULT_JOB_WORKERS = 2


class ExecutorError(Exception):
    """The scheduler does not answer, or refuses a command. The message is a sentence for users."""


class TooManyJobsError(ExecutorError):
    """The scheduler accepts fewer jobs at once, or none until others have ended. No job was submitted."""


@dataclass(frozen=True)
class JobOrder:
    """A job to submit. The mark is its name and comment, by which it is found again."""

    mark: str
    # The arguments of `arcadia worker`.
    worker: tuple[str, ...]
    token: str
    needs_gpu: bool = False
    # The time limit, if not that of the settings. Such a job is not started again.
    minutes: int | None = None
    # Options of the scheduler that replace those of the settings.
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class SchedulerJob:
    """A job as its scheduler lists it."""

    handle: str
    mark: str
    phase: JobPhase
    scheduler_state: str
    # Its number in a job array. The mark is that of the array.
    task: int | None = None
    # Of a job that has ended.
    outcome: JobOutcome | None = None
    # Why it waits, in the scheduler's own words.
    reason: str | None = None
    host: str | None = None
    # The number of jobs that start earlier, plus one. An array counts as one job.
    place: int | None = None
    cores: int | None = None
    gpus: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None
    exit_code: int | None = None
    # The number of the signal that ended it.
    signal: int | None = None

    @property
    def status(self) -> str | None:
        """Return how its program failed, or None if it did not."""
        if self.signal:
            return f"was ended by signal {self.signal}"
        return f"exited with status {self.exit_code}" if self.exit_code else None


Line = Annotated[str, StringConstraints(max_length=1_000, pattern=r"^[^\r\n]*$"), STORABLE]


class JobSettings(BaseModel):
    """The settings of each scheduler: how a job reaches this server, and what it may use."""

    model_config = ConfigDict(extra="forbid")

    backend_url: Annotated[
        str, StringConstraints(max_length=1_000, pattern=r"^https?://[^\s/]+(/[^\s]*)?$"), STORABLE
    ] = Field(
        title="Address of this server",
        description="The address that nodes reach, such as https://arcadia.example.org.",
    )
    prepare: Annotated[str, Field(max_length=20_000), STORABLE] = Field(
        default="",
        title="Commands before the worker",
        description="They make the command arcadia available on a node, such as: source /shared/arcadia/bin/activate",
    )
    cores: Annotated[int, NO_BOOLEAN] = Field(default=2, ge=1, le=1_024, title="Cores")
    memory: Annotated[str, StringConstraints(pattern=r"^([0-9]+[KMGT]?)?$", max_length=20)] = Field(
        default="", title="Memory", description="Such as 8G."
    )
    gpus: Annotated[int, NO_BOOLEAN] = Field(
        default=1, ge=0, le=64, title="GPUs", description="For runs whose device is cuda. Others get none."
    )
    job_workers: Annotated[int, NO_BOOLEAN] = Field(
        default=DEFAULT_JOB_WORKERS,
        ge=0,
        le=64,
        title="Workers for evaluations and other jobs",
        description="Maximum number at once. Each starts when jobs wait, and does one job on each core. 0: none.",
    )
    ca_file: Line = Field(
        default="",
        title="Certificate authority",
        description="A file on the nodes with the certificates of a private authority that signs the server's.",
    )


def worker_script(
    settings: JobSettings,
    order: JobOrder,
    executor: str,
    prelude: str = "",
    arguments: str | None = None,
    name: str | None = None,
) -> str:
    """Return the lines of a job. The worker replaces the shell, so that it gets the signals.

    A job array has the arguments of the worker and the name of its folder as expressions of the shell.
    """
    options = ["--executor", executor, "--backend-url", settings.backend_url]
    if settings.ca_file:
        options += ["--ca-file", settings.ca_file]
    # Its own folder on the node. A job that is started again there delivers what it left.
    folder = f'"${{SLURM_TMPDIR:-${{TMPDIR:-/tmp}}}}/{name or order.mark}"'
    command = f"exec arcadia worker {arguments or shlex.join(order.worker)} {shlex.join(options)} --worker-dir {folder}"
    return "\n".join([*([prelude] if prelude else []), settings.prepare.replace("\r\n", "\n"), command, ""])


class Executor(Protocol):
    """A scheduler with its settings."""

    def check(self) -> str:
        """Return what was found, in one sentence. Raise ExecutorError if jobs cannot be submitted."""
        ...

    @property
    def max_orders(self) -> int:
        """Return the largest number of orders in one call of `submit`. It is 1 if there are no job arrays."""
        ...

    def submit(self, orders: Sequence[JobOrder], limit: int | None = None) -> list[str]:
        """Submit jobs, and return their handles.

        Several orders differ only in their runs, and become one array, which has the mark of the first one. At most
        `limit` of its tasks run at once. After an ExecutorError the jobs may exist. `find` shows them, so look there
        before the next try.
        """
        ...

    def poll(self, handles: Collection[str]) -> dict[str, SchedulerJob]:
        """Return the listed jobs of these. A missing job is unknown, and may still run."""
        ...

    def cancel(self, handles: Sequence[str]) -> None:
        """Request the end of jobs: TERM, and KILL after the scheduler's grace time. `poll` confirms it."""
        ...

    def find(self, prefix: str) -> list[SchedulerJob]:
        """Return every listed job whose mark starts with the prefix."""
        ...

    def tail(self, handle: str) -> str:
        """Return the end of a job's output, or an empty text if it cannot be read here."""
        ...
