"""Compare Arcadia with MLflow and Trackio on this machine: `python -m bench.peers --venv DIR`.

The peers are not dependencies of this project. They are installed in a separate virtual environment.
"""

import argparse
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.peers.arcadia import Arcadia
from bench.peers.browser import cold_and_warm, data_requests
from bench.peers.mlflow import MLflow
from bench.peers.product import Product, Venv, Written, options_parser, parse
from bench.peers.requests import Request, Sample, replay
from bench.peers.table import report
from bench.peers.trackio import Trackio
from tests.chromium import chromium

Taken = dict[str, list[Sample]]


def main() -> None:
    """Write the runs, measure every product and print the table."""
    options = parse_options()
    # Exit normally, so that the servers are stopped and the folder is removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="arcadia-peers-") as name:
        folder = Path(name)
        venv = Venv(options.venv.resolve(), folder / "home")
        products: list[Product] = [
            Arcadia(folder / "arcadia"),
            MLflow(folder / "mlflow", venv),
            Trackio(folder / "trackio", venv),
        ]
        versions = ", ".join(f"{product.name} {product.version()}" for product in products)
        written = [write(product, options.runs, options.points) for product in products]
        samples: dict[str, Taken] = {product.name: {} for product in products}
        for turn in range(options.rounds):
            for product, contents in zip(products, written, strict=True):
                repeats = len(range(turn, options.repeats, options.rounds))
                measure(product, contents, repeats, samples[product.name])
                print(f"round {turn + 1} of {options.rounds}: {product.name}", file=sys.stderr, flush=True)
    arguments = f"--runs {options.runs} --points {options.points} --repeats {options.repeats}"
    print(f"`python -m bench.peers --venv DIR {arguments} --rounds {options.rounds}` on {machine()}; {versions}.\n")
    print(report(samples))


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = options_parser("bench.peers", __doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--points", type=int, default=1_000, help="points of each of the three metrics of a run")
    parser.add_argument("--repeats", type=int, default=20, help="repeats of each measurement, over all rounds")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each product, between those of the others")
    return parse(parser)


def write(product: Product, runs: int, points: int) -> Written:
    """Write the runs of one product and print the time."""
    began = time.monotonic()
    written = product.write(runs, points)
    print(f"{product.name}: {runs} runs written in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return written


def measure(product: Product, written: Written, repeats: int, samples: Taken) -> None:
    """Serve one product while no other one is served, warm it up, and add its samples."""
    page = product.page(written)
    with product.serve() as url, chromium() as browser:
        requests = {**product.requests(written), "compare": data_requests(browser, url, page)}
        for sent in requests.values():
            replay(url, sent)
        for _ in range(repeats):
            add_times_of_requests(url, requests, samples)
            cold, warm = cold_and_warm(browser, url, page)
            samples.setdefault("chart-cold", []).append(cold)
            samples.setdefault("chart-warm", []).append(warm)


def add_times_of_requests(url: str, requests: Mapping[str, Sequence[Request]], samples: Taken) -> None:
    """Replay the requests of each measurement once."""
    for key, sent in requests.items():
        samples.setdefault(key, []).append(replay(url, sent))


def machine() -> str:
    """Describe the machine and Python."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if "model name" in line), platform.processor())
    return f"{len(os.sched_getaffinity(0))} cores, {model}; Python {platform.python_version()}"


if __name__ == "__main__":
    main()
