"""Measure one `log` call of the Python client: `python -m bench.logging_client --calls 200000`.

A script logs three floats per call. Online, its uploader sends them to the given server at the same time.
"""

import argparse
import os
import statistics
import tempfile
import time
from typing import Literal

import arcadia

VALUES = {"loss/policy": 0.123456789, "loss/value": 12.5, "episode/return": -3.25}


def main() -> None:
    """Print median, 99th percentile, longest call and CPU time."""
    parser = argparse.ArgumentParser(prog="python -m bench.logging_client", description=__doc__)
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two calls")
    parser.add_argument("--url", help="log online to this server")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arcadia-logging-") as folder:
        began = time.perf_counter()
        mode: Literal["online", "offline"] = "online" if options.url else "offline"
        run = arcadia.init("bench", mode=mode, url=options.url, directory=folder)
        started = time.perf_counter() - began
        seconds, cpu = measure(run, options.calls, options.pause)
        size = sum(file.stat().st_size for file in run.directory.rglob("*") if file.is_file())
        began = time.perf_counter()
        run.finish(seconds=600)
        finished = time.perf_counter() - began
    cuts = statistics.quantiles(seconds, n=1_000)
    print(
        f"{mode}, {options.calls:,} calls with 3 floats on {os.cpu_count()} cores: "
        f"median {1e6 * statistics.median(seconds):.1f} µs, p99 {1e6 * cuts[989]:.1f} µs, "
        f"p99.9 {1e6 * cuts[998]:.0f} µs, longest {1e3 * max(seconds):.1f} ms; "
        f"CPU {1e6 * cpu / options.calls:.1f} µs per call; {size / options.calls:.0f} bytes per call; "
        f"init {1e3 * started:.0f} ms, finish {finished:.1f} s"
    )


def measure(run: arcadia.ReportedRun, calls: int, pause: float) -> tuple[list[float], float]:
    """Return the seconds of each call, and the CPU seconds of this process."""
    seconds = [0.0] * calls
    cpu = time.process_time()
    for number in range(calls):
        began = time.perf_counter()
        run.log(VALUES)
        seconds[number] = time.perf_counter() - began
        if pause:
            time.sleep(pause)
    return seconds, time.process_time() - cpu


if __name__ == "__main__":
    main()
