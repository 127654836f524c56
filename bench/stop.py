"""Measure the time from a stop until the trainer has saved and ended: `python -m bench.stop --rounds 5`."""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.raw_values import add_csv_option, write_rows
from tests.installation import CARTPOLE, CATCH_BY_A3C, CATCH_BY_GORILA, SAVING, Installation

METHODS = {"PAAC": CARTPOLE, "A3C": CATCH_BY_A3C, "Gorila": CATCH_BY_GORILA}


def stopped_after(installation: Installation, config: dict[str, Any]) -> float:
    """Launch a run, stop it after it has started to learn, and return the seconds until its trainer's last event."""
    run = installation.launch(config, **SAVING)
    installation.wait_for_points(run, 1)
    asked = time.time()
    installation.post(f"runs/{run}/stop")
    installation.wait_for_state(run, "stopped")
    return float(installation.journals.events(run, 1)[-1]["time"]) - asked


def main() -> None:
    """Stop runs of each method in a new installation, and print the seconds."""
    parser = argparse.ArgumentParser(prog="python -m bench.stop", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    add_csv_option(parser)
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder, Installation(Path(folder)) as installation:
        installation.worker("one")
        for method, config in METHODS.items():
            seconds = [stopped_after(installation, config) for _ in range(options.rounds)]
            load = os.getloadavg()[0]
            rows += [{"method": method, "seconds": f"{each:.3f}", "load": f"{load:.1f}"} for each in seconds]
            middle, longest = statistics.median(seconds), max(seconds)
            print(f"{method:<8} median {middle:.2f} s, longest {longest:.2f} s, load average {load:.0f}", flush=True)
    write_rows(options.csv, rows)


if __name__ == "__main__":
    main()
