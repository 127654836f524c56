"""Backends that start in a moment, as copies of a process that has imported the application.

Importing it takes three processor seconds, for each of many installations. Tests of a start or of a kill use
a process of their own instead.
"""

import json
import subprocess
import sys
from functools import cache

import psutil

from arcadia_backend.startup.parts import die_with_parent
from tests.installation import REPOSITORY, Service

# Answers each line with the number of a process that runs the command with an environment and an output.
PREPARED = """
import gc, json, os, signal, sys
import arcadia_backend.app
from arcadia_backend.cli import main
from arcadia_backend.startup.parts import die_with_parent

gc.freeze()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that the system forgets copies that have ended
for line in sys.stdin:
    if pid := os.fork():
        print(pid, flush=True)
        continue
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    die_with_parent()
    os.setsid()
    start = json.loads(line)
    os.environ.clear()
    os.environ.update(start["environment"])
    output = os.open(start["output"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.exit(main(["backend"]))
"""


class Copy(psutil.Process):
    """A copy of the prepared process, with the methods of `subprocess.Popen` that services need."""

    def poll(self) -> int | None:
        """Return None while the process runs. Its exit status is not known."""
        return None if self.is_running() else 0


class PreparedBackend(Service):
    """The backend of an installation."""

    def start(self) -> None:
        """Start the backend, appending to its output."""
        preparer = _prepare()
        assert preparer.stdin is not None
        assert preparer.stdout is not None
        preparer.stdin.write(json.dumps({"environment": self._environment, "output": str(self.output)}) + "\n")
        preparer.stdin.flush()
        self._process = Copy(int(preparer.stdout.readline()))


@cache
def _prepare() -> subprocess.Popen[str]:
    """Start the process that is copied. It ends with the tests."""
    return subprocess.Popen(
        [sys.executable, "-c", PREPARED],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,
    )
