"""Cleanup of a Ray after its starter has ended: `python ray_watch.py FOLDER`, with a pipe as input.

This program imports no other module of Arcadia, so it starts in milliseconds. Its input ends when the starter ends or
stops Ray. It finds the processes of that Ray by their open files below the folder, and spares the starter.
"""

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

# New processes may start while others are killed, so the search repeats until it finds none, up to a limit.
ROUNDS, PAUSE_SECONDS = 50, 0.1


def users_of(folder: Path) -> list[int]:
    """Return the processes that have open files below the folder."""
    users = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has just ended, or belongs to another user
            if any(folder in file.readlink().parents for file in (process / "fd").iterdir()):
                users.append(int(process.name))
    return users


def main() -> None:
    """Wait for the end of the input, kill leftover processes, and delete the folder."""
    folder = Path(sys.argv[1]).resolve()
    starter = os.getppid()
    sys.stdin.buffer.read()
    for _ in range(ROUNDS):
        users = [pid for pid in users_of(folder) if pid != starter]
        if not users:
            break
        for pid in users:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(PAUSE_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
