"""Measure how a study of many runs is queued on a real Slurm: `python -m bench.slurm_study`.

The nodes are drained, so all jobs wait. Meanwhile, the first page of the run list is requested again and again. At the
end the study is stopped, and all of its jobs are cancelled.
"""

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.raw_values import add_csv_option, joined, write_rows
from tests.clusters.slurm_cluster import SlurmCluster, running_cluster
from tests.installation import Installation

STEPS = 1_000
# Each call of squeue appends a line with its time.
WRAPPER = '#!/bin/sh\ndate +%s.%N >> "{log}"\nexec {squeue} "$@"\n'


def main() -> None:
    """Queue a study, stop it, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--interval", type=float, default=10.0, help="ARCADIA_SCHEDULER_SECONDS")
    add_csv_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_cluster(Path(folder) / "slurm") as cluster:
        write_rows(options.csv, measure(cluster, Path(folder), options.runs, options.interval))


def measure(cluster: SlurmCluster, folder: Path, runs: int, interval: float) -> list[dict[str, object]]:
    """Return the measured rows."""
    cluster.command("scontrol", "update", "NodeName=n1,n2", "State=DRAIN", "Reason=bench")
    calls = count_squeue(folder)
    os.environ["SLURM_CONF"] = str(cluster.config)
    installation = Installation(folder / "installation", scheduler_seconds=interval)
    (folder / "installation").mkdir(exist_ok=True)
    with installation:
        address = f"http://127.0.0.1:{installation.port}"
        installation.http.put("executors/slurm", json=cluster.settings(address)).raise_for_status()
        idle = [list_seconds(installation) for _ in range(50)]
        before = cpu_seconds(installation)
        study, queued, lists = timed(
            installation, lambda: start_study(installation, runs), lambda: queued_jobs(cluster), runs
        )
        spent = cpu_seconds(installation) - before
        quiet = [list_seconds(installation) for _ in range(50)]
        while len(read_times(calls)) < 4:
            time.sleep(interval / 10)
        gaps = np.diff(read_times(calls))
        stop = lambda: installation.post(f"studies/{study}/stop")  # noqa: E731
        _, stopped, stopping = timed(installation, stop, lambda: runs - queued_jobs(cluster), runs)
        return [
            row(f"{runs} runs queued in Slurm", [queued], "s"),
            row("processor time of the server meanwhile", [spent], "s"),
            row("job arrays", [len({job["array_job_id"] for job in cluster.jobs()})], "arrays"),
            row("time between two calls of squeue", gaps, "s"),
            row("first page of the run list, before", np.array(idle) * 1e3, "ms"),
            row("first page of the run list, while runs are queued", np.array(lists) * 1e3, "ms"),
            row("first page of the run list, with queued runs", np.array(quiet) * 1e3, "ms"),
            row(f"{runs} waiting jobs cancelled", [stopped], "s"),
            row("first page of the run list, while jobs are cancelled", np.array(stopping) * 1e3, "ms"),
        ]


def count_squeue(folder: Path) -> Path:
    """Put a program before squeue that logs each call, and return its log."""
    log, programs = folder / "squeue.log", folder / "programs"
    programs.mkdir()
    wrapper = programs / "squeue"
    wrapper.write_text(WRAPPER.format(log=log, squeue=shutil.which("squeue")))
    wrapper.chmod(0o755)
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
    return log


def read_times(log: Path) -> list[float]:
    """Return when the server called squeue."""
    return [float(line) for line in log.read_text().split()] if log.exists() else []


def start_study(installation: Installation, runs: int) -> int:
    """Start a study that varies only the seed."""
    specification: dict[str, Any] = {"name": "Seeds", "preset": "paac-cartpole", "total_steps": STEPS, "seeds": runs}
    specification |= {"executor": "slurm", "max_concurrent_runs": 50, "confirm_steps": STEPS * runs}
    return int(installation.post("studies", specification)["id"])


def queued_jobs(cluster: SlurmCluster) -> int:
    """Return the number of waiting jobs, each task of an array counted."""
    return len(cluster.command("squeue", "--array", "--noheader", "--states=PENDING", "--format=%i").splitlines())


def timed(
    installation: Installation, begin: Callable[[], Any], count: Callable[[], int], wanted: int
) -> tuple[Any, float, list[float]]:
    """Begin something, and request the run list until a count is reached. Return the result and the times."""
    began = time.perf_counter()
    lists: list[float] = []
    result = begin()
    while count() < wanted:
        lists.append(list_seconds(installation))
    return result, time.perf_counter() - began, lists or [list_seconds(installation)]


def list_seconds(installation: Installation) -> float:
    """Return how long the first page of the run list takes."""
    began = time.perf_counter()
    installation.read("runs?limit=50")
    return time.perf_counter() - began


def cpu_seconds(installation: Installation) -> float:
    """Return the processor time of the server and of the commands that it called."""
    times = installation.backend.process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def row(what: str, values: Any, unit: str) -> dict[str, object]:
    """Print and return one row of measurements."""
    numbers = np.asarray(values, dtype=float)
    print(f"{what}: median {np.median(numbers):.2f} {unit}, p95 {np.percentile(numbers, 95):.2f}, n = {numbers.size}")
    return {"what": what, "unit": unit, "values": joined(numbers, 2)}


if __name__ == "__main__":
    main()
