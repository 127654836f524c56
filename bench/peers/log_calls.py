"""Timing of a script's log calls, the same for every product. As in `runs`, it uses only the standard library."""

import json
import math
import random
import time
from collections.abc import Callable, Iterator

from bench.peers.runs import METRICS, values

Log = Callable[[dict[str, float], int], object]


def rows(number: int, points: int) -> Iterator[dict[str, float]]:
    """Yield the values of each step of a run."""
    noise = random.Random(number)
    rate = 10 ** noise.uniform(-4, -2)
    for point in range(1, points + 1):
        yield dict(zip(METRICS, values(point / points, rate, noise), strict=True))


def time_calls(log: Log, number: int, points: int) -> dict[str, float]:
    """Log a run. Return the CPU time at its start, and the median and the 99th percentile of a call."""
    logged = list(rows(number, points))
    seconds = []
    began_cpu = time.process_time()
    for step, row in enumerate(logged):
        began = time.perf_counter()
        log(row, step)
        seconds.append(time.perf_counter() - began)
    seconds.sort()
    p99 = seconds[math.ceil(0.99 * len(seconds)) - 1]
    return {"began_cpu": began_cpu, "median": seconds[len(seconds) // 2], "p99": p99}


def report(measured: dict[str, float]) -> None:
    """Print the measurements, with the CPU seconds until the run has ended."""
    print(json.dumps({**measured, "cpu": time.process_time() - measured["began_cpu"]}))
