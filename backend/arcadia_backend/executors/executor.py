"""What a scheduler must be able to do, and its jobs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

# The states of jobs. The scheduler's own word is in `scheduler_state`.
JobPhase = Literal["waiting", "running", "ended"]


class ExecutorError(Exception):
    """The scheduler does not answer, or refuses a command. The message is a sentence for users."""


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


@dataclass(frozen=True)
class SchedulerJob:
    """A job as its scheduler lists it."""

    handle: str
    mark: str
    phase: JobPhase
    scheduler_state: str
    # Its number in a job array. The mark is that of the array.
    task: int | None = None
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
