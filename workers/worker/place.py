"""A worker's directory and name, neither of which another live worker may have."""

import fcntl
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from workers.worker.answers import BackendError, NameTakenError

# A killed worker's leash lets go of the directory as soon as its trainer is dead.
LOCK_SECONDS = 10.0
# The backend takes a worker for gone after ten seconds of silence.
NAME_SECONDS = 15.0
RETRY_SECONDS = 0.5

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """A locked directory: the descriptor that holds the lock, and the process that held it before."""

    directory: Path
    descriptor: int
    predecessor: int | None


def occupy(directory: Path, *, shared: bool) -> Place:
    """Lock the directory for this process and its trainers. In a shared one, lock a free folder if others use it."""
    deadline = time.monotonic() + LOCK_SECONDS
    while (place := _try_lock(directory)) is None:
        if time.monotonic() > deadline:
            if not shared:
                sys.exit(f"arcadia worker: another worker uses {directory}; give this one its own --worker-dir.")
            return next(place for number in count(2) if (place := _try_lock(directory / f"worker-{number}")))
        time.sleep(0.1)
    return place


def _try_lock(directory: Path) -> Place | None:
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    noted = os.pread(descriptor, 20, 0)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return Place(directory, descriptor, int(noted) if noted.isdigit() else None)


def candidates(given: str | None, host: str) -> Iterator[str]:
    """Yield the names to try: the given one alone, or else the host's name, with a number if it is taken."""
    if given is not None:
        yield given
        return
    yield host
    for number in count(2):
        yield f"{host}-{number}"


def take_name(given: str | None, host: str, introduce: Callable[[str], object]) -> str:
    """Introduce this worker to the backend by a name that no other live worker has, or exit."""
    deadline = time.monotonic() + NAME_SECONDS
    for name in candidates(given, host):
        while True:
            try:
                introduce(name)
            except NameTakenError as error:
                if given is None:
                    break
                if time.monotonic() > deadline:
                    sys.exit(f"arcadia worker: {error} Choose another --name, or leave --name out.")
                time.sleep(RETRY_SECONDS)
            except BackendError as error:
                log.warning("The backend does not know this worker yet: %s", error)  # its heartbeats try again
                return name
            else:
                return name
    raise AssertionError("there is always another name")
