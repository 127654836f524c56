"""Log one run with Arcadia's client: `python -m bench.peers.log_arcadia URL NUMBER POINTS`."""

import sys

import arcadia

from bench.arguments import read_arguments
from bench.peers.log_calls import report, time_calls
from bench.peers.runs import PROJECT


def main() -> None:
    """Log a run, wait until it is uploaded, and print the measurements."""
    kinds = {"url": str, "number": int, "points": int}
    url, number, points = read_arguments("bench.peers.log_arcadia", __doc__, kinds)
    run = arcadia.init(PROJECT, f"run {number}", {"seed": number}, url=url)
    measured = time_calls(run.log, number, points)
    run.finish(seconds=600)
    if not (run.directory / "complete").exists():
        sys.exit(f"{run.directory} is not uploaded")
    report(measured)


if __name__ == "__main__":
    main()
