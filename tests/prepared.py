"""Programs with the backend that start in a moment, as copies of a process that has imported it.

The import takes three processor seconds, and tests start many backends.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from arcadia_backend.startup.parts import die_with_parent

# Answers each line with the number of a process that runs a program.
PREPARED = """
import gc, json, os, signal, sys
import arcadia_backend.app
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
    if start["output"]:
        os.dup2(os.open(start["output"], os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
    os.dup2(2, 1)
    sys.argv[1:] = start["arguments"]
    exec(start["program"], {"__name__": "__main__"})
    sys.exit()
"""


class Copy(psutil.Process):
    """A copy of the prepared process, with the methods of `subprocess.Popen`."""

    def poll(self) -> int | None:
        """Return None while the process runs. Its exit status is not known."""
        return None if self.is_running() else 0

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless the process has ended."""
        with suppress(psutil.NoSuchProcess):
            super().send_signal(sig)

    def kill(self) -> None:
        """Kill the process, unless it has ended."""
        self.send_signal(signal.SIGKILL)


def start_copy(
    program: str, environment: Mapping[str, str], arguments: Sequence[str] = (), output: Path | None = None
) -> Copy:
    """Run Python code with an environment and arguments. Append its output to a file, or write it to the errors."""
    preparer = _prepare()
    assert preparer.stdin is not None
    assert preparer.stdout is not None
    start = {"program": program, "environment": {**environment}, "arguments": [*arguments]}
    preparer.stdin.write(json.dumps({**start, "output": str(output or "")}) + "\n")
    preparer.stdin.flush()
    return Copy(int(preparer.stdout.readline()))


@cache
def _prepare() -> subprocess.Popen[str]:
    """Start the process that is copied. It ends with the tests."""
    return subprocess.Popen(
        [sys.executable, "-c", PREPARED],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,
    )
