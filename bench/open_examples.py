"""Measure the time from the click on "Open examples" to the first chart: `python -m bench.open_examples`."""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser

from bench.peers.browser import CHART_MILLISECONDS, IS_DRAWN, POLL_MILLISECONDS, new_context
from bench.raw_values import add_csv_option, write_rows
from tests.chromium import chromium
from tests.installation import Installation


def seconds_until_chart(browser: Browser) -> float:
    """Open the examples in a new installation, and time the first chart of their report."""
    with tempfile.TemporaryDirectory() as folder, Installation(Path(folder)) as installation:
        page = new_context(browser).new_page()
        page.goto(f"http://127.0.0.1:{installation.port}/")
        button = page.get_by_role("button", name="Open examples")
        button.wait_for()
        began = time.perf_counter()
        button.click()
        page.wait_for_function(IS_DRAWN, timeout=CHART_MILLISECONDS, polling=POLL_MILLISECONDS)
        seconds = time.perf_counter() - began
        page.context.close()
        return seconds


def main() -> None:
    """Repeat the measurement, and print all times."""
    parser = argparse.ArgumentParser(prog="python -m bench.open_examples", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    add_csv_option(parser)
    options = parser.parse_args()
    with chromium() as browser:
        times = [seconds_until_chart(browser) for _ in range(options.repeats)]
    write_rows(options.csv, [{"repeat": n, "seconds": f"{seconds:.3f}"} for n, seconds in enumerate(times, 1)])
    print(", ".join(f"{seconds:.2f}" for seconds in times))
    print(f"from click to chart: median {np.median(times):.2f} s of {options.repeats}")


if __name__ == "__main__":
    main()
