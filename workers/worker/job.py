"""What a worker has in hand: a run that it trains, or an errand that it does beside its training."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workers.contract.worker_api import Noun

# What users may want of a run or an errand.
Wanted = Literal["run", "pause", "stop", "cancel"]

# What follows the number is the installation, where the directory without it is another installation's.
ATTEMPT = re.compile(r"^attempt-(\d+)(\.[0-9a-z]+)?$")
# Names the installation that a directory's job is of.
INSTALLATION = "installation"
_TITLES: dict[Noun, str] = {"runs": "Run", "errands": "Errand"}


@dataclass(frozen=True)
class Job:
    """One attempt at a run or an errand."""

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
    """A job in hand, and what the backend last said of it."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.desired: Wanted = "run"
        self.stale = False
        self.given_back = False  # a heartbeat that crosses the release is refused; that is expected


def installation_of(directory: Path) -> str | None:
    """Return the installation that an attempt is of; None where an earlier version noted none."""
    try:
        return (directory / INSTALLATION).read_text() or None
    except FileNotFoundError:
        return None


def leftovers(root: Path, noun: Noun) -> list[tuple[Job, Path]]:
    """Return the attempts that this worker had not finished when it last ended, and where each lies."""
    found = []
    for directory in sorted((root / noun).glob("*/attempt-*")):
        match = ATTEMPT.match(directory.name)
        if match and directory.parent.name.isdigit():
            job = Job(noun, int(directory.parent.name), int(match[1]), installation_of(directory))
            found.append((job, directory))
    return found
