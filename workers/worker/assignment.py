"""Assignments: the runs and jobs that a worker holds."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workers.contract.changes import RequestedChange
from workers.contract.worker_api import Noun

# The requested state of a run or a job.
DesiredState = Literal["run", "pause", "stop", "cancel"]

# The suffix is the installation, if the name without it is used by another installation.
ATTEMPT = re.compile(r"^attempt-(\d+)(\.[0-9a-z]+)?$")
# The file with the installation of an assignment.
INSTALLATION = "installation"
_TITLES: dict[Noun, str] = {"runs": "Run", "jobs": "Job"}


@dataclass(frozen=True)
class Assignment:
    """One attempt at a run or a job."""

    noun: Noun
    number: int
    attempt: int
    installation: str | None = None

    @property
    def path(self) -> str:
        """Return the path in the worker API."""
        return f"{self.noun}/{self.number}"

    def directory(self, root: Path) -> Path:
        """Return the directory of its files. It differs from the directory of another installation's attempt."""
        directory = root / self.noun / str(self.number) / f"attempt-{self.attempt}"
        if installation_of(directory) in (None, self.installation):
            return directory
        return directory.with_name(f"{directory.name}.{self.installation or 'unnamed'}")

    def __str__(self) -> str:
        return f"{_TITLES[self.noun]} {self.number}"


class Held:
    """A held assignment with the last response of the backend."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.desired: DesiredState = "run"
        # Changes of a run's configuration that the backend has no report of.
        self.changes: list[RequestedChange] = []
        self.is_stale = False
        self.is_released = False  # a heartbeat that overtakes the release is rejected, which is expected


def installation_of(directory: Path) -> str | None:
    """Return the installation of an attempt, or None if an earlier version did not store it."""
    try:
        return (directory / INSTALLATION).read_text() or None
    except FileNotFoundError:
        return None


def leftovers(root: Path, noun: Noun) -> list[tuple[Assignment, Path]]:
    """Return the attempts that this worker did not finish before it ended, with their directories."""
    _adopt_earlier_jobs(root)
    found = []
    for directory in sorted((root / noun).glob("*/attempt-*")):
        match = ATTEMPT.match(directory.name)
        if match and directory.parent.name.isdigit():
            assignment = Assignment(noun, int(directory.parent.name), int(match[1]), installation_of(directory))
            found.append((assignment, directory))
    return found


def _adopt_earlier_jobs(root: Path) -> None:
    """Rename the folder of jobs of earlier versions."""
    earlier, now = root / "errands", root / "jobs"
    if earlier.is_dir() and not now.exists():
        earlier.rename(now)
