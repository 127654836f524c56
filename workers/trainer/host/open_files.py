"""The limit of open files, which the pipes to many processes exceed."""

import math
import resource

from workers.trainer.errors import TrainerError

# Open files of the main process: those for the pipes to a process with some room, and all others.
FILES_OF_A_PROCESS, OTHER_FILES = 4, 200


class TooManyProcessesError(TrainerError):
    """The system's limit of open files is too low for so many processes."""


def room(files_of_each: int = FILES_OF_A_PROCESS) -> float:
    """Return for how many processes the system allows enough open files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if hard == resource.RLIM_INFINITY else (hard - OTHER_FILES) // files_of_each


def allow(processes: int, name: str = "processes", files_of_each: int = FILES_OF_A_PROCESS) -> None:
    """Raise this process's limit of open files to what so many processes take; call it before they are started.

    The server that forks them starts with the first of them, and keeps the limit of that moment.
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
