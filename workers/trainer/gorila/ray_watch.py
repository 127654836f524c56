"""Ends what is left of a Ray when whoever started it is gone: `python ray_watch.py FOLDER`, with a pipe as input.

A program of its own, without imports of ours, so that it starts in milliseconds. The end of its input says that the
starter has ended, whatever the way, or wants Ray to have ended. Every process of that Ray has a file below the folder
open, and is known by it; the starter is, too, and is left alone.
"""

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

# Processes may be born while others are killed: they are looked for until there are none, but not for ever.
ROUNDS, PAUSE_SECONDS = 50, 0.1


def users_of(folder: Path) -> list[int]:
    """The processes that have a file below the folder open."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended, or is somebody else's
            if any(folder in file.readlink().parents for file in (process / "fd").iterdir()):
                found.append(int(process.name))
    return found


def main() -> None:
    """Wait for the end of the input, then kill what is left, and delete."""
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
