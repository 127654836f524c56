"""A worker's directory and name. No other active worker may have them."""

import fcntl
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from workers.worker.answers import BackendError, NameTakenError, WrongTokenError

# A killed worker's leash releases the directory as soon as its trainer is dead.
LOCK_SECONDS = 10.0
# The backend considers a worker gone after 15 seconds of silence.
NAME_SECONDS = 20.0
RETRY_SECONDS = 0.5

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """A locked directory, with the descriptor of the lock and the previous holder's process id."""

    directory: Path
    descriptor: int
    predecessor: int | None


def occupy(directory: Path, *, shared: bool) -> Place:
    """Lock the directory for this process and its trainers, or a free subfolder if it is shared."""
    deadline = time.monotonic() + LOCK_SECONDS
    while (place := _try_lock(directory)) is None:
        if time.monotonic() > deadline:
            if not shared:
                sys.exit(f"arcadia worker: another worker uses {directory}. Choose another --worker-dir.")
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
    """Yield the names to try: only the given one, or the host's name with increasing numbers."""
    if given is not None:
        yield given
        return
    yield host
    for number in count(2):
        yield f"{host}-{number}"


def take_name(given: str | None, host: str, register: Callable[[str], object]) -> str:
    """Register this worker under an unused name, or exit. Raise WrongTokenError if the backend rejects the token."""
    deadline = time.monotonic() + NAME_SECONDS
    for name in candidates(given, host):
        while True:
            try:
                register(name)
            except NameTakenError as error:
                if given is None:
                    break
                if time.monotonic() > deadline:
                    sys.exit(f"arcadia worker: {error} Choose another --name, or omit --name.")
                time.sleep(RETRY_SECONDS)
            except WrongTokenError:
                raise
            except BackendError as error:
                log.warning("The worker is not registered yet: %s", error)  # heartbeats retry
                return name
            else:
                return name
    raise AssertionError("there is always another name")
