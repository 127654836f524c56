"""Measure how long a job of Slurm takes to its first training step: `python -m bench.job_start --runs 5`.

Runs train in turn in a job and on a local worker that is ready. The parts of a job are measured from the moment at
which Slurm runs its script. Those of a local worker are measured from the launch.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from arcadia_workers.contract import layout
from bench.raw_values import add_csv_option, joined, write_rows
from tests.clusters.runs import submit, wait_for_job
from tests.clusters.slurm_cluster import SlurmCluster, running_cluster
from tests.installation import Installation

PARTS = ("claimed by the worker", "trainer starts", "torch is loaded", "first training step")


def main() -> None:
    """Train runs in both places, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5, help="runs in each place (default: %(default)s)")
    add_csv_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_cluster(Path(folder) / "slurm") as cluster:
        write_rows(options.csv, measure(cluster, Path(folder), options.runs))


def measure(cluster: SlurmCluster, folder: Path, runs: int) -> list[dict[str, object]]:
    """Return one row for each part of both places."""
    os.environ["SLURM_CONF"] = str(cluster.config)
    (folder / "installation").mkdir()
    with Installation(folder / "installation", scheduler_seconds=1, keep_ready="true") as installation:
        began = folder / "began"
        settings = cluster.settings(f"http://127.0.0.1:{installation.port}")
        settings["prepare"] = f"date +%s.%N > {began}\n{settings['prepare']}"
        installation.http.put("executors/slurm", json=settings).raise_for_status()
        installation.worker("local")
        in_jobs, on_worker = [], []
        for _ in range(runs):
            in_jobs.append(seconds_in_job(installation, cluster, began))
            on_worker.append(seconds_on_worker(installation))
    return [*rows_of("job of Slurm", in_jobs), *rows_of("local worker", on_worker)]


def seconds_in_job(installation: Installation, cluster: SlurmCluster, began: Path) -> list[float]:
    """Train a run in a job, and return the times since Slurm started its script."""
    run = submit(installation)
    moments = wait_for_moments(installation, run, cluster.directory / "output")
    wait_for_job(installation, run, state="ended")
    return [moment - float(began.read_text()) for moment in moments]


def seconds_on_worker(installation: Installation) -> list[float]:
    """Train a run on the local worker, and return the times since its launch."""
    # Its next trainer is prepared some seconds after the last run has ended.
    time.sleep(15)
    launched = time.time()
    run = installation.launch()
    return [moment - launched for moment in wait_for_moments(installation, run, installation.directory / "workers")]


def wait_for_moments(installation: Installation, run: int, folder: Path) -> list[float]:
    """Wait until a run trains, stop it, and return when it reached each part."""
    pattern = f"*/runs/{run}/attempt-1/{layout.EVENTS}"
    events: list[dict[str, Any]] = []

    def trains() -> bool:
        for file in folder.glob(pattern):
            events[:] = [json.loads(line) for line in file.read_text().splitlines(keepends=True) if line[-1] == "\n"]
        return any(event["kind"] == "start_step" and event["name"] is None for event in events)

    installation.wait_until(trains, interval=0.05)
    [attempt] = installation.read(f"runs/{run}/provenance")["attempts"]
    installation.post(f"runs/{run}/stop")
    installation.wait_for_state(run, "stopped")
    claimed = np.datetime64(attempt["claimed_at"].rstrip("Z"), "us").astype(float) / 1e6
    steps = {event["name"]: event["time"] for event in events if event["kind"] == "start_step"}
    started = next(event["time"] for event in events if event["kind"] == "started")
    return [float(claimed), steps["Loading PyTorch"], started, steps[None]]


def rows_of(place: str, measured: list[list[float]]) -> list[dict[str, object]]:
    """Print and return one row for each part."""
    rows: list[dict[str, object]] = []
    for part, values in zip(PARTS, np.array(measured).T, strict=True):
        print(f"{place}, {part}: median {np.median(values):.2f} s, largest {values.max():.2f} s")
        rows.append({"place": place, "until": part, "unit": "s", "values": joined(values, 2)})
    return rows


if __name__ == "__main__":
    main()
