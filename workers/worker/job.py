"""What a worker has in hand: a run that it trains, or an errand that it does beside its training."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workers.contract.worker_api import Noun

# What users may want of a run or an errand.
Wanted = Literal["run", "pause", "stop", "cancel"]

ATTEMPT = re.compile(r"^attempt-(\d+)$")
_TITLES: dict[Noun, str] = {"runs": "Run", "errands": "Errand"}


@dataclass(frozen=True)
class Job:
    """One attempt at a run or an errand."""

    noun: Noun
    number: int
    attempt: int

    @property
    def path(self) -> str:
        """Return its path in the worker API."""
        return f"{self.noun}/{self.number}"

    def directory(self, root: Path) -> Path:
        """Return where its files lie."""
        return root / self.noun / str(self.number) / f"attempt-{self.attempt}"

    def __str__(self) -> str:
        return f"{_TITLES[self.noun]} {self.number}"


class Held:
    """A job in hand, and what the backend last said of it."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.desired: Wanted = "run"
        self.stale = False
        self.given_back = False  # a heartbeat that crosses the release is refused; that is expected


def leftovers(root: Path, noun: Noun) -> list[Job]:
    """Return the attempts that this worker had not finished when it last ended."""
    found = []
    for directory in sorted((root / noun).glob("*/attempt-*")):
        match = ATTEMPT.match(directory.name)
        if match and directory.parent.name.isdigit():
            found.append(Job(noun, int(directory.parent.name), int(match[1])))
    return found
