"""Compare logging from scripts: `python -m bench.peers.logging --venv DIR --runs 50 --points 20000`.

Each run is a separate script, and each point is a call with three metrics. The scripts of a product run one after
another. Arcadia and MLflow send to a server on this machine. Trackio writes to its own database, as by default.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from bench.peers.__main__ import machine
from bench.peers.arcadia import Arcadia
from bench.peers.mlflow import MLflow
from bench.peers.product import REPOSITORY, Venv, options_parser, parse
from bench.peers.runs import METRICS
from bench.peers.table import markdown
from bench.peers.trackio import Trackio

# Runs the script of one run. Takes the server's URL, the run's number and the number of points.
Script = Callable[[str, int, int], str]


@dataclass(frozen=True)
class Contender:
    """A product with its server, the folder of its database, and the script of one run."""

    name: str
    service: AbstractContextManager[str]
    folder: Path
    script: Script


@dataclass(frozen=True)
class Logged:
    """Measurements of one product. `seconds` ends when everything is stored, and includes the starts of the scripts."""

    name: str
    seconds: float
    calls: list[dict[str, float]]
    server_bytes: int
    script_bytes: int


def main() -> None:
    """Log the runs with every product and print the table."""
    options = parse_options()
    with tempfile.TemporaryDirectory(prefix="arcadia-logging-") as name:
        folder = Path(name)
        venv = Venv(options.venv.resolve(), folder / "home")
        arcadia, mlflow = Arcadia(folder / "arcadia"), MLflow(folder / "mlflow", venv)
        trackio = Trackio(folder / "trackio", venv)
        journals, database = folder / "journals", folder / "trackio"
        place = {"TRACKIO_DIR": str(database)}
        contenders = [
            Contender(f"Arcadia {arcadia.version()}", arcadia.serve(), folder / "arcadia", arcadia_script(journals)),
            Contender(f"MLflow {mlflow.version()}", mlflow.serve(), folder / "mlflow", in_venv(venv, "log_mlflow", {})),
            Contender(f"Trackio {trackio.version()}", nullcontext(""), database, in_venv(venv, "log_trackio", place)),
        ]
        measured = [log(each, journals, options.runs, options.points) for each in contenders]
    arguments = f"--runs {options.runs} --points {options.points}"
    print(f"`python -m bench.peers.logging --venv DIR {arguments}` on {machine()}.\n")
    print(table(measured, options.runs * options.points))


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = options_parser("bench.peers.logging", __doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--points", type=int, default=20_000, help="calls of each run, with three metrics")
    return parse(parser)


def arcadia_script(journals: Path) -> Script:
    """Return the script of Arcadia, which runs in this project's environment."""

    def run(url: str, number: int, points: int) -> str:
        command = [sys.executable, "-m", "bench.peers.log_arcadia", url, str(number), str(points)]
        variables = {"ARCADIA_JOURNALS": str(journals), "PATH": "/usr/bin:/bin", "HOME": str(journals)}
        done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, env=variables)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    return run


def in_venv(venv: Venv, module: str, variables: dict[str, str]) -> Script:
    """Return the script of a peer. One without a server takes no URL."""

    def run(url: str, number: int, points: int) -> str:
        given = [url] if url else []
        return venv.run("-m", f"bench.peers.{module}", *given, str(number), str(points), **variables)

    return run


def log(product: Contender, journals: Path, runs: int, points: int) -> Logged:
    """Log the runs of one product while its server runs. Afterwards its database is complete."""
    calls = []
    with product.service as url:
        began = time.monotonic()
        for number in range(runs):
            calls.append(json.loads(product.script(url, number, points)))
            print(f"{product.name}: {number + 1} of {runs} runs", file=sys.stderr, flush=True)
        seconds = time.monotonic() - began
    own = size_of(journals) if product.name.startswith("Arcadia") else 0
    return Logged(product.name, seconds, calls, size_of(product.folder), own)


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def table(measured: Sequence[Logged], calls: int) -> str:
    """Return the measurements as a Markdown table."""
    rows = {
        "values stored per second": [f"{len(METRICS) * calls / each.seconds:,.0f}" for each in measured],
        "one call, median": [microseconds(each, "median") for each in measured],
        "one call, p99": [microseconds(each, "p99") for each in measured],
        "CPU of the script per 1,000 calls": [
            f"{1e6 * sum(call['cpu'] for call in each.calls) / calls:,.1f} ms" for each in measured
        ],
        "bytes per value on the server": [f"{each.server_bytes / calls / len(METRICS):,.0f}" for each in measured],
        "bytes per value of journals": [f"{each.script_bytes / calls / len(METRICS):,.0f}" for each in measured],
    }
    return markdown([each.name for each in measured], rows)


def microseconds(logged: Logged, name: str) -> str:
    """Return the median over the runs of one of their measurements."""
    return f"{1e6 * statistics.median(call[name] for call in logged.calls):,.0f} µs"


if __name__ == "__main__":
    main()
