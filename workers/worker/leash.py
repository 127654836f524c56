"""Run a program on a leash: when the process that holds the leash ends, kill the program and all its children.

The leash is a separate process that imports nothing of Arcadia, so that it starts in milliseconds and has one thread.
It reads orders from standard input: T asks the program to stop, K kills it, and so does the end of the input, which
comes when the holder dies. It writes the program's process id to standard output, and at last the exit status.
PR_SET_PDEATHSIG alone is not enough: it is tied to the parent's thread and does not reach grandchildren, such as a
trainer's replay recorder.
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

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
ON_LINUX = sys.platform == "linux"
# On a desktop each session has a share of the cores whatever its processes' niceness: this is the session's own.
SESSION_NICENESS = Path("/proc/self/autogroup")
libc = ctypes.CDLL(None)


def give_way_as_holder() -> None:
    """Hand the holder's niceness on to this session, which would otherwise compete as an equal."""
    # The kernel takes few writes a second: none is spent on saying what holds anyway.
    if niceness := os.nice(0):
        with contextlib.suppress(OSError):  # systems without it go by the niceness of the process alone
            SESSION_NICENESS.write_text(str(niceness))


def die_with_leash() -> None:
    """Have the kernel kill the program when the leash is killed."""
    if ON_LINUX:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def tell(**status: int) -> None:
    """Write one status line, unless the holder is gone."""
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(status), flush=True)


def has_ended(pid: int) -> bool:
    """Say whether the program has ended, without reaping it, so that its process group keeps its number."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill_group(pid: int) -> None:
    """Kill the program's whole process group, if any of it is left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def children() -> list[int]:
    """Return the children of the leash, which as subreaper adopts every orphan that the program leaves."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid():
                found.append(int(stat.parent.name))
    return found


def sweep() -> None:
    """Kill and reap all processes that outlived the program, in its process group or not."""
    while True:
        for pid in children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def watch(child: subprocess.Popen[bytes], woken: int) -> None:
    """Pass on orders until the program ends."""
    while not has_ended(child.pid):
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            os.read(woken, 512)
        if 0 in ready:
            order = os.read(0, 512)
            if not order or b"K" in order:
                kill_group(child.pid)
                os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            elif b"T" in order:
                os.kill(child.pid, signal.SIGTERM)


def main() -> None:
    """Run the command given, to its end."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # These handlers do nothing. SIG_IGN would do as little, but the program would inherit it.
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    give_way_as_holder()
    if ON_LINUX:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    child = subprocess.Popen(
        sys.argv[1:],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        process_group=0,
        preexec_fn=die_with_leash,
    )
    tell(pid=child.pid)
    watch(child, woken)
    kill_group(child.pid)
    returncode = child.wait()
    sweep()
    tell(returncode=returncode)


if __name__ == "__main__":
    main()
