"""Leash for a program. When the process that holds the leash ends, the program and its children are killed.

The leash is a separate process that imports nothing of Arcadia, so that it starts in milliseconds and has one thread.
It reads commands from standard input: T stops the program, K kills it. End of input, when the holder dies, also kills
it. It writes the program's process id to standard output, and then the exit status. PR_SET_PDEATHSIG alone is not
enough: it is tied to the parent's thread and does not reach grandchildren, such as a trainer's replay recorder.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

TERMINATE, KILL = b"T", b"K"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
ON_LINUX = sys.platform == "linux"
# On a desktop, sessions share the cores regardless of niceness. This file sets the session's niceness.
SESSION_NICENESS = Path("/proc/self/autogroup")
libc = ctypes.CDLL(None)


def apply_niceness_to_session() -> None:
    """Apply the process's niceness to its session. Otherwise the session would get an equal share of the cores."""
    # The kernel allows few writes per second, so skip the default value.
    if niceness := os.nice(0):
        with contextlib.suppress(OSError):  # other systems use the niceness of the process
            SESSION_NICENESS.write_text(str(niceness))


def die_with_leash() -> None:
    """Make the kernel kill the program when the leash is killed."""
    if ON_LINUX:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def report(**status: int) -> None:
    """Write a status line, unless the holder is gone."""
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(status), flush=True)


def has_ended(pid: int) -> bool:
    """Return True if the program has ended. It is not reaped, so that its process group id is not reused."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill_group(pid: int) -> None:
    """Kill the program's process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def children() -> list[int]:
    """Return the children of the leash, including orphans that it adopted as subreaper."""
    pids = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid():
                pids.append(int(stat.parent.name))
    return pids


def sweep() -> None:
    """Kill and reap all processes that outlived the program."""
    while True:
        for pid in children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def watch(child: subprocess.Popen[bytes], woken: int) -> None:
    """Forward commands until the program ends."""
    while not has_ended(child.pid):
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            os.read(woken, 512)
        if 0 in ready:
            command = os.read(0, 512)
            if not command or KILL in command:
                kill_group(child.pid)
                os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            elif TERMINATE in command:
                os.kill(child.pid, signal.SIGTERM)


def main() -> None:
    """Run the given command until it ends."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # These handlers do nothing. The program would inherit SIG_IGN.
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    apply_niceness_to_session()
    if ON_LINUX:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    child = subprocess.Popen(
        sys.argv[1:],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        process_group=0,
        preexec_fn=die_with_leash,
    )
    report(pid=child.pid)
    watch(child, woken)
    kill_group(child.pid)
    returncode = child.wait()
    sweep()
    report(returncode=returncode)


if __name__ == "__main__":
    main()
