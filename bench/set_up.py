"""`python -m bench.set_up BEFORE AFTER`: time `make run` from a new clone to a page that responds, commits in turn."""

import argparse
import contextlib
import os
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent


def free_port() -> int:
    """Choose a free port."""
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port: int = chosen.getsockname()[1]
        return port


def answers(port: int) -> bool:
    """Return True if the page responds and the frontend is built."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as page:
            return b"/assets/" in page.read()
    except OSError:
        return False


def surroundings(folder: Path, *, cold: bool) -> dict[str, str]:
    """Return an environment with a data folder beside the clone. A cold one also has empty caches of pip and npm."""
    caches = {"PIP_NO_CACHE_DIR": "1", "npm_config_cache": str(folder / "npm-cache")} if cold else {}
    inherited = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "VIRTUAL_ENV")}
    return {**inherited, **caches, "ARCADIA_DATA_DIR": str(folder / "data")}


def processor_seconds() -> float:
    """Return the processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def until_it_answers(run: subprocess.Popen[bytes], port: int, longest: float) -> float:
    """Return the seconds until the page responds, and stop the processes as Ctrl-C does."""
    began = time.monotonic()
    try:
        while not answers(port):
            if run.poll() is not None or time.monotonic() - began > longest:
                sys.exit(f"make run did not come to a page that answers; it ended with {run.poll()}")
            time.sleep(0.1)
        return time.monotonic() - began
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGINT)
        run.wait(120)
        kill_leftover_processes(run.pid)


def kill_leftover_processes(group: int) -> None:
    """Kill processes that a stopped `make run` leaves behind, such as the compilation of packages."""
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.killpg(group, signal.SIGKILL)
            time.sleep(0.1)


def measure(commit: str, folder: Path, *, cold: bool, longest: float) -> float:
    """Clone one commit, run it until its page responds, and remove the clone."""
    clone, port = folder / "clone", free_port()
    subprocess.run(["git", "clone", "--quiet", "--no-checkout", ROOT, clone], check=True)
    subprocess.run(["git", "-C", clone, "checkout", "--quiet", "--detach", commit], check=True)
    run = subprocess.Popen(
        ["make", "run", f"PORT={port}"], cwd=clone, env=surroundings(folder, cold=cold), start_new_session=True
    )
    try:
        return until_it_answers(run, port, longest)
    finally:
        shutil.rmtree(folder)


def short_name(commit: str) -> str:
    """Return the short hash of a commit, given any name of it."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", commit]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def load() -> float:
    """Return the machine's load of the last minute."""
    return os.getloadavg()[0]


def main() -> None:
    """Measure the commits in turn and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.set_up", description=__doc__)
    parser.add_argument("commits", nargs="+", metavar="COMMIT", help="the others are compared with the first")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--warm", action="store_true", help="let pip and npm use their caches")
    parser.add_argument("--longest", type=float, default=1800, metavar="SECONDS", help="give up on a start after this")
    parser.add_argument("--folder", type=Path, help="where the clones go, one at a time (default: a temporary folder)")
    options = parser.parse_args()
    # A background job ignores SIGINT, and so would its child processes. Restore the default so that Ctrl-C stops them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    commits = [short_name(commit) for commit in options.commits]
    seconds: dict[str, list[float]] = {commit: [] for commit in commits}
    rows = [
        "| round | commit | seconds to the page | of processor time | load before, after |",
        "| - | - | - | - | - |",
    ]
    for turn in range(options.rounds):
        for commit, taken in seconds.items():
            before, used = load(), processor_seconds()
            folder = Path(tempfile.mkdtemp(prefix="arcadia-", dir=options.folder))
            taken.append(measure(commit, folder, cold=not options.warm, longest=options.longest))
            used = processor_seconds() - used
            rows.append(f"| {turn + 1} | {commit} | {taken[-1]:.1f} | {used:.0f} | {before:.1f}, {load():.1f} |")
            print(rows[-1], flush=True)
    print("", *rows, sep="\n")
    means = {commit: statistics.mean(taken) for commit, taken in seconds.items()}
    for commit in commits[1:]:
        print(f"{commit} takes {means[commit] / means[commits[0]]:.0%} of the time of {commits[0]} (means)")


if __name__ == "__main__":
    main()
