"""Run a daemon, and end all of its descendants when standard input is closed.

Slurm's steps leave the process group and the session of their daemon. They stay below this process because it is
their subreaper. Standard input is closed too when the tests are killed, so nothing outlives them.
"""

import contextlib
import ctypes
import signal
import subprocess
import sys

import psutil

PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Run the command of the arguments until standard input is closed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, preexec_fn=_restore_signals)
    # The system reaps what ends.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.stdin.read()
    while below := psutil.Process().children(recursive=True):
        for process in below:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(below)


def _restore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


if __name__ == "__main__":
    main()
