"""Measure how pages load with an empty cache, beside another checkout: `python -m bench.pages --before DIR`.

Both checkouts need a built frontend. Their pages are opened in turn, so that other programs slow both down.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from bench.peers.arcadia import Arcadia
from bench.peers.browser import IS_DRAWN, POLL_MILLISECONDS, SETTLE_MILLISECONDS, new_context
from bench.peers.runs import COMPARED
from bench.raw_values import add_csv_option, joined, write_rows
from tests.chromium import TIMEOUT_MILLISECONDS, chromium
from tests.installation import REPOSITORY, Installation

# Records the tasks that block the page for more than 50 ms.
RECORD_TASKS = """
window.tasks = [];
new PerformanceObserver(list => window.tasks.push(...list.getEntries().map(entry => entry.duration)))
  .observe({ type: "longtask", buffered: true });
"""
LONG_TASK_MILLISECONDS = 100
ROWS_SHOWN = "document.querySelector(\"main a[href^='/runs/']\") !== null"


def pages(runs: list[str]) -> dict[str, tuple[str, str]]:
    """Return the address of each page, and the condition under which it shows its first content."""
    return {
        "first rows of the run list": ("/", ROWS_SHOWN),
        "first chart of a run": (f"/runs/{runs[0]}", IS_DRAWN),
        f"first chart of a comparison of {COMPARED} runs": (
            f"/compare?runs={','.join(runs[:COMPARED])}",
            IS_DRAWN,
        ),
    }


@contextmanager
def served(checkout: Path, folder: Path) -> Iterator[str]:
    """Serve a data folder with the code of a checkout. Yield the address."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(str(checkout / part) for part in ("backend", "workers", "client"))
    try:
        # Reporting programs of a benchmark send no heartbeats.
        installation = Installation(folder, sweep_seconds=2.0, lease_seconds=3600)
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before
    with installation:
        yield f"http://127.0.0.1:{installation.port}"


def opened(browser: Browser, url: str, shown: str) -> dict[str, Any]:
    """Open a page in a new browser profile. Return how long it took, and the code that was loaded until then."""
    context = new_context(browser)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MILLISECONDS)
    page.add_init_script(RECORD_TASKS)
    code: dict[str, int] = {}
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    names: dict[str, str] = {}
    devtools.on("Network.responseReceived", lambda sent: names.update({sent["requestId"]: sent["response"]["url"]}))
    devtools.on("Network.loadingFinished", lambda sent: code.update({sent["requestId"]: sent["encodedDataLength"]}))
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_function(shown, polling=POLL_MILLISECONDS)
    took = time.perf_counter() - began
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    tasks = [float(task) for task in page.evaluate("window.tasks") if task > LONG_TASK_MILLISECONDS]
    context.close()
    scripts = {
        names[key]: size for key, size in code.items() if names.get(key, "").split("?")[0].endswith((".js", ".css"))
    }
    charts = sum(size for name, size in scripts.items() if "plotly-" in name and size > 100_000)
    return {
        "milliseconds": f"{1000 * took:.0f}",
        "code_bytes": sum(scripts.values()) - charts,
        "chart_library_bytes": charts,
        "code_files": len(scripts),
        "long_tasks_milliseconds": joined(tasks, 0),
    }


def version(checkout: Path) -> str:
    """Return the commit of a checkout, or its folder's name without one."""
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty"]
    found = subprocess.run(command, capture_output=True, text=True)
    return found.stdout.strip() or checkout.name


def main() -> None:
    """Write the runs, open the pages of both checkouts in turn, and print the medians."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.pages", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, required=True, metavar="DIR", help="another checkout")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--points", type=int, default=1_000, help="points of each of the three metrics of a run")
    parser.add_argument("--repeats", type=int, default=10)
    add_csv_option(parser)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="arcadia-pages-") as name, ExitStack() as servers:
        written = Arcadia(Path(name) / "after").write(options.runs, options.points)
        shutil.copytree(Path(name) / "after", Path(name) / "before")
        urls = {
            which: servers.enter_context(served(checkout.resolve(), Path(name) / which))
            for which, checkout in (("before", options.before), ("after", REPOSITORY))
        }
        with chromium() as browser:
            for repetition in range(1, options.repeats + 1):
                for page, (path, shown) in pages(written.runs).items():
                    for which, url in urls.items():
                        measured = opened(browser, url + path, shown)
                        rows.append({"page": page, "version": which, "repetition": repetition, **measured})
    write_rows(options.csv, rows)
    print(f"before: {version(options.before)}, after: {version(REPOSITORY)}")
    for page in dict.fromkeys(row["page"] for row in rows):
        for which in urls:
            found = [row for row in rows if row["page"] == page and row["version"] == which]
            times = statistics.median(float(row["milliseconds"]) for row in found)
            print(f"{page}, {which}: {times:.0f} ms, {found[-1]['code_bytes'] / 1000:.0f} kB of code")


if __name__ == "__main__":
    main()
