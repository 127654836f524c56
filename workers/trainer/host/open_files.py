"""Limit of open files, which the pipes to many processes can exceed."""

import math
import resource

from workers.trainer.errors import TrainerError

# Open files of the main process: per child process, with a margin, and all others.
FILES_OF_A_PROCESS, OTHER_FILES = 4, 200


class TooManyProcessesError(TrainerError):
    """The system's limit of open files is too low for this number of processes."""


def room(files_of_each: int = FILES_OF_A_PROCESS) -> float:
    """Return the number of processes for which the system allows enough open files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if hard == resource.RLIM_INFINITY else (hard - OTHER_FILES) // files_of_each


def allow(processes: int, name: str = "processes", files_of_each: int = FILES_OF_A_PROCESS) -> None:
    """Raise this process's limit of open files for `processes` processes. Call it before they start.

    The fork server starts with the first process and keeps the limit of that moment.
    """
    needed = processes * files_of_each + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise TooManyProcessesError(
            f"{processes} {name} need {needed} open files, and the system allows {hard}: choose at most "
            f"{room(files_of_each)} {name}, or raise the limit (ulimit -Hn)"
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
