"""What a worker has in hand: a run that it trains, or a job that it does beside its training."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workers.contract.worker_api import Noun

# What users may want of a run or a job.
Wanted = Literal["run", "pause", "stop", "cancel"]

# What follows the number is the installation, where the directory without it is another installation's.
ATTEMPT = re.compile(r"^attempt-(\d+)(\.[0-9a-z]+)?$")
# Names the installation that a directory's assignment is of.
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
        """Return its path in the worker API."""
        return f"{self.noun}/{self.number}"

    def directory(self, root: Path) -> Path:
        """Return where its files lie: beside what another installation has not got all of, or has in hand."""
        directory = root / self.noun / str(self.number) / f"attempt-{self.attempt}"
        if installation_of(directory) in (None, self.installation):
            return directory
        return directory.with_name(f"{directory.name}.{self.installation or 'unnamed'}")

    def __str__(self) -> str:
        return f"{_TITLES[self.noun]} {self.number}"


class Held:
    """An assignment in hand, and what the backend last said of it."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.desired: Wanted = "run"
        self.stale = False
        self.given_back = False  # a heartbeat that crosses the release is refused; that is expected


def installation_of(directory: Path) -> str | None:
    """Return the installation that an attempt is of; None where an earlier version noted none."""
    try:
        return (directory / INSTALLATION).read_text() or None
    except FileNotFoundError:
        return None


def leftovers(root: Path, noun: Noun) -> list[tuple[Assignment, Path]]:
    """Return the attempts that this worker had not finished when it last ended, and where each lies."""
    _adopt_earlier_jobs(root)
    found = []
    for directory in sorted((root / noun).glob("*/attempt-*")):
        match = ATTEMPT.match(directory.name)
        if match and directory.parent.name.isdigit():
            assignment = Assignment(noun, int(directory.parent.name), int(match[1]), installation_of(directory))
            found.append((assignment, directory))
    return found


def _adopt_earlier_jobs(root: Path) -> None:
    """Rename the folder that earlier versions kept the attempts at jobs in."""
    earlier, now = root / "errands", root / "jobs"
    if earlier.is_dir() and not now.exists():
        earlier.rename(now)
