"""Measure the CPU time of an installation that nobody uses: `python -m bench.idle --seconds 180 --json`."""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from arcadia_backend.startup.parts import free_port
from bench.raw_values import add_csv_option, write_rows
from tests.processes import command_line

# Imports and the preparation of processes are over when a minute has used little CPU time.
QUIET_SHARE, QUIET_SECONDS, START_SECONDS = 0.02, 60.0, 900.0
# What identifies a process in its command line. The leash runs the others, so it comes first.
KINDS = {
    "leash.py": "leash",
    "arcadia_workers.trainer.job": "ready job",
    "arcadia_workers.trainer": "ready trainer",
    "arcadia_workers.worker": "worker",
    "arcadia_backend.cli backend": "backend",
    "arcadia_backend.cli up": "arcadia up",
    "-server": "Redis",
}
# Gives threads their names in the kernel, which Python does only since version 3.14.
NAME_THREADS = """
import ctypes, threading
bootstrap = threading.Thread._bootstrap_inner
def named(self):
    ctypes.CDLL(None).prctl(15, self.name.encode()[:15], 0, 0, 0)
    bootstrap(self)
threading.Thread._bootstrap_inner = named
"""


@dataclass(frozen=True)
class Use:
    """The CPU time of a thread, in percent of one core, and how often it woke up per second."""

    process: str
    thread: str
    percent: float
    wakeups: float


@contextmanager
def installation(folder: Path) -> Iterator[psutil.Process]:
    """Run `arcadia up` with a new data folder."""
    (folder / "hooks").mkdir()
    (folder / "hooks" / "sitecustomize.py").write_text(NAME_THREADS)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ARCADIA_")}
    path = os.pathsep.join(filter(None, (str(folder / "hooks"), os.environ.get("PYTHONPATH"))))
    command = ["up", "--port", str(free_port()), "--data", str(folder / "data")]
    with (folder / "output").open("w") as output:
        up = subprocess.Popen(
            [sys.executable, "-m", "arcadia_backend.cli", *command],
            env=clean | {"PYTHONPATH": path},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield psutil.Process(up.pid)
    finally:
        up.send_signal(signal.SIGTERM)
        up.wait()


def family(up: psutil.Process) -> list[psutil.Process]:
    """Return the processes of an installation."""
    return [up, *up.children(recursive=True)]


def kind_of(process: psutil.Process) -> str:
    """Return what a process is."""
    line = command_line(process)
    return next((kind for words, kind in KINDS.items() if words in line), line[:40])


def times(processes: list[psutil.Process]) -> dict[tuple[str, str, int], tuple[float, int]]:
    """Return the CPU seconds and the number of wakeups of each thread, by process, name and id."""
    found = {}
    for process in processes:
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            name = (task / "comm").read_text().strip()
            used, _waited, switches = map(int, (task / "schedstat").read_text().split())
            name = "main" if task.name == str(process.pid) else name
            found[kind_of(process), name, int(task.name)] = used / 1e9, switches
    return found


def wait_until_quiet(up: psutil.Process) -> None:
    """Wait until the ready trainer has started and the processes use little CPU time."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        before = {process.pid: sum(process.cpu_times()[:2]) for process in family(up)}
        time.sleep(QUIET_SECONDS)
        after = family(up)
        used = sum(sum(process.cpu_times()[:2]) - before.get(process.pid, 0.0) for process in after)
        kinds = {kind_of(process) for process in after}
        if {"worker", "ready trainer", "ready job"} <= kinds and used < QUIET_SHARE * QUIET_SECONDS:
            return
        if time.monotonic() > deadline:
            sys.exit(
                f"The installation did not become quiet in {START_SECONDS:g} s. It has: {', '.join(sorted(kinds))}."
            )


def measure(up: psutil.Process, seconds: float) -> list[Use]:
    """Return the use of each thread over some seconds, largest first."""
    processes = family(up)
    before, began = times(processes), time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    used: Counter[tuple[str, str]] = Counter()
    woken: Counter[tuple[str, str]] = Counter()
    for key, (cpu, switches) in times(processes).items():
        cpu_before, switches_before = before.get(key, (0.0, 0))
        used[key[:2]] += cpu - cpu_before  # type: ignore[assignment]
        woken[key[:2]] += switches - switches_before
    return [
        Use(process, thread, 100 * cpu / passed, woken[process, thread] / passed)
        for (process, thread), cpu in used.most_common()
    ]


def report(uses: list[Use], seconds: float) -> str:
    """Return the use of each process and of each thread as Markdown."""
    processes: Counter[str] = Counter()
    for use in uses:
        processes[use.process] += use.percent  # type: ignore[assignment]
    lines = [f"| process | CPU time over {seconds:g} s |", "| --- | --- |"]
    lines += [f"| {process} | {percent:.3f} % |" for process, percent in processes.most_common()]
    lines += [f"| all | {sum(processes.values()):.3f} % |", ""]
    lines += ["| process | thread | CPU time | wakeups/s |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {use.process} | {use.thread} | {use.percent:.3f} % | {use.wakeups:.1f} |"
        for use in uses
        if use.percent >= 0.001
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, and print a table, or JSON with --json."""
    parser = argparse.ArgumentParser(prog="python -m bench.idle", description=__doc__)
    parser.add_argument("--seconds", type=float, default=180.0, help="length of the measurement (default: 180)")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    add_csv_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arcadia-idle-") as folder, installation(Path(folder)) as up:
        wait_until_quiet(up)
        uses = measure(up, options.seconds)
    total = sum(use.percent for use in uses)
    write_rows(options.csv, [asdict(use) for use in uses])
    if options.json:
        load = os.getloadavg()[0]
        print(json.dumps({"seconds": options.seconds, "percent": total, "load": load, "threads": [*map(asdict, uses)]}))
    else:
        print(report(uses, options.seconds))


if __name__ == "__main__":
    main()
