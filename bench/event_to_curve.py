"""Measure the time from a trainer's event to the curve in the browser: `python -m bench.event_to_curve --others 19`.

One run trains. The others report a point each second.
"""

import argparse
import bisect
import json
import tempfile
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from bench.live_pages import reporting
from bench.raw_values import add_csv_option, write_rows
from tests.chromium import chromium
from tests.installation import Installation

# Runs in the page. Records how far the drawn curve reaches, every 20 ms if it has grown.
WATCH = """
() => {
  window.seen = [];
  let furthest = 0;
  setInterval(() => {
    const plot = document.querySelector(".js-plotly-plot");
    const reaches = Math.max(0, ...(plot?.data ?? []).flatMap(trace => trace.x ?? []));
    if (reaches > furthest) {
      furthest = reaches;
      window.seen.push([reaches, Date.now() / 1000]);
    }
  }, 20);
}
"""


def watched(installation: Installation, run: int, seconds: float) -> list[tuple[float, float]]:
    """Open the run's page in Chromium. Return how far the curve reached and when."""
    with chromium() as browser:
        page = browser.new_page(base_url=f"http://127.0.0.1:{installation.port}")
        page.goto(f"/runs/{run}")
        page.locator(".js-plotly-plot").first.wait_for()
        page.evaluate(WATCH)
        page.wait_for_timeout(seconds * 1000)
        seen: list[tuple[float, float]] = page.evaluate("window.seen")
    return seen


def reported(installation: Installation, run: int) -> list[tuple[int, float]]:
    """Read the time at which the trainer reported each episode from its event files."""
    points: list[tuple[int, float]] = []
    for journal in sorted(installation.directory.rglob(f"runs/{run}/attempt-*/events.jsonl")):
        for line in journal.read_text().splitlines():
            event = json.loads(line)
            points.extend((episode["step"], event["time"]) for episode in event.get("episodes", []))
    return sorted(points)


def main() -> None:
    """Train CartPole in a new installation, watch its page and print the delays."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.event_to_curve", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--others", type=int, default=0, help="other live runs (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=30.0)
    add_csv_option(parser)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        ExitStack() as others,
        # The other runs send no heartbeats.
        Installation(Path(folder), lease_seconds=3600) as installation,
    ):
        if options.others:
            others.enter_context(reporting(f"http://127.0.0.1:{installation.port}", options.others))
        installation.worker("one")
        run = installation.launch()
        installation.wait_for_points(run, attempt=1)
        seen = watched(installation, run, options.seconds)
        points = reported(installation, run)
        others.close()
    steps = [step for step, _ in points]
    # Skip the first measurement, because its points may be older than the page.
    delays = np.array([when - points[bisect.bisect_left(steps, reaches)][1] for reaches, when in seen[1:]])
    write_rows(
        options.csv,
        [{"others": options.others, "redraw": n, "seconds": f"{delay:.3f}"} for n, delay in enumerate(delays, 1)],
    )
    p50, p95 = np.percentile(delays, [50, 95])
    print(f"{len(delays)} redraws in {options.seconds:g} s beside {options.others} other runs")
    print(f"from event to curve: median {p50:.2f} s, p95 {p95:.2f} s")


if __name__ == "__main__":
    main()
