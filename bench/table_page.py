"""Measure the run table in Chromium with many runs: `python -m bench.table_page --runs 10000`.

It needs a built frontend. Times are from the event of a key or a click to the frame that shows the new rows, in the
page's own clock.
"""

import argparse
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import open_database
from arcadia_backend.database.migrations import migrate
from arcadia_backend.database.scope import BACKEND, acting_as
from bench.pages import served
from bench.peers.browser import POLL_MILLISECONDS, SETTLE_MILLISECONDS, new_context
from bench.raw_values import add_csv_option, joined, write_rows
from bench.run_table import fill
from tests.chromium import TIMEOUT_MILLISECONDS, chromium
from tests.installation import REPOSITORY

LATE_MILLISECONDS = 33.0
SCROLL_SECONDS = 4.0
# Pixels per frame: a slow wheel, and a fast one.
SPEEDS = {"slowly": 40, "quickly": 400}
ROWS = "main tbody a[href^='/runs/']"
# Watches for a condition from the next key or click on. The frame after the one in which it holds shows the rows.
WATCH = """(condition) => {
  const holds = new Function(`return ${condition}`);
  window.painted = null;
  const begin = ({ timeStamp }) => {
    removeEventListener("keydown", begin, true);
    removeEventListener("click", begin, true);
    const look = () => {
      if (!holds()) return requestAnimationFrame(look);
      requestAnimationFrame(() => { window.painted = performance.now() - timeStamp; });
    };
    requestAnimationFrame(look);
  };
  addEventListener("keydown", begin, true);
  addEventListener("click", begin, true);
}"""
# Scrolls by some pixels per frame. Returns the milliseconds between frames, and how often rows were missing.
SCROLL = """async ([pixels, seconds, rows]) => {
  const gaps = [];
  let empty = 0;
  let last = performance.now();
  const end = last + 1000 * seconds;
  await new Promise(done => requestAnimationFrame(function frame(now) {
    gaps.push(now - last);
    last = now;
    const shown = [...document.querySelectorAll(rows)].some(row => {
      const { top } = row.getBoundingClientRect();
      return top > 92 && top < innerHeight;
    });
    empty += shown ? 0 : 1;
    window.scrollBy(0, pixels);
    now < end ? requestAnimationFrame(frame) : done();
  }));
  return { gaps, empty };
}"""
# Jumps to a part of the list, and returns the milliseconds until rows are visible there.
JUMP = """async ([part, rows]) => {
  const began = performance.now();
  window.scrollTo(0, part * document.documentElement.scrollHeight);
  return await new Promise(done => {
    const look = () => {
      const visible = [...document.querySelectorAll(rows)].some(row => {
        const { top } = row.getBoundingClientRect();
        return top > 92 && top < innerHeight - 48;
      });
      visible ? done(performance.now() - began) : requestAnimationFrame(look);
    };
    requestAnimationFrame(() => requestAnimationFrame(look));
  });
}"""
NAMES = f'[...document.querySelectorAll("{ROWS}")].map(link => link.textContent)'
ONLY_77 = f"(names => names.length > 5 && names.every(name => name.includes('77')))({NAMES})"
GROUPED = "document.querySelectorAll('[aria-label=\"Groups of runs\"] tbody tr').length > 1"


def painted(page: Page, condition: str, act: Callable[[], None]) -> float:
    """Return the milliseconds from the key or the click of an action to the frame in which a condition holds."""
    page.evaluate(WATCH, condition)
    act()
    page.wait_for_function("window.painted !== null", polling=POLL_MILLISECONDS)
    return float(page.evaluate("window.painted"))


def sort(page: Page) -> float:
    """Sort by the best return."""
    first = page.locator(ROWS).first.text_content()
    changed = f"(names => names.length > 5 && names[0] !== {first!r})({NAMES})"
    return painted(page, changed, page.get_by_role("button", name="Best return", exact=True).click)


def filter_rows(page: Page) -> float:
    """Type a filter of names, and press Enter."""
    page.get_by_role("textbox", name="Filter expression").fill("name ~ 77")
    page.wait_for_timeout(SETTLE_MILLISECONDS / 2)
    return painted(page, ONLY_77, lambda: page.keyboard.press("Enter"))


def search(page: Page) -> float:
    """Type the last letter of a search."""
    page.get_by_role("searchbox", name="Search runs").fill("Run 7")
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    return painted(page, ONLY_77, lambda: page.keyboard.press("7"))


def group(page: Page) -> float:
    """Choose the field that the runs are grouped by."""
    page.get_by_role("combobox", name="Group runs by").click()
    return painted(page, GROUPED, page.get_by_role("option", name="Environment", exact=True).click)


ACTIONS = {"filter": filter_rows, "search": search, "sort": sort, "group": group}


def measure(page: Page, url: str, charts: str) -> dict[str, list[float]]:
    """Open the table, scroll it, and act on it. Return the milliseconds of each measurement."""
    times: dict[str, list[float]] = {}

    def open_table() -> None:
        page.goto("about:blank")
        page.goto(f"{url}/?charts={charts}", wait_until="commit")
        page.wait_for_function(f"{NAMES}.length > 5", polling=POLL_MILLISECONDS)

    devtools = page.context.new_cdp_session(page)
    # Processor time, which depends less on other programs.
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy_seconds() -> float:
        metrics = devtools.send("Performance.getMetrics")["metrics"]
        return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))

    open_table()
    times["first rows"] = [page.evaluate("performance.now()")]
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    for words, pixels in SPEEDS.items():
        page.evaluate("window.scrollTo(0, 0)")
        busy = busy_seconds()
        scrolled = page.evaluate(SCROLL, [pixels, SCROLL_SECONDS, ROWS])
        used = 1000 * (busy_seconds() - busy) / len(scrolled["gaps"])
        times[f"main thread per frame while scrolling {words}"] = [used]
        times[f"frames while scrolling {words}"] = scrolled["gaps"]
        times[f"frames without rows while scrolling {words}"] = [scrolled["empty"]]
    times["jump"] = [page.evaluate(JUMP, [part, ROWS]) for part in (0.6, 0.2, 0.9)]
    for name, action in ACTIONS.items():
        open_table()
        page.wait_for_timeout(SETTLE_MILLISECONDS)
        times[name] = [action(page)]
    return times


def report(name: str, values: list[float]) -> str:
    """Return a measurement in words."""
    if name.startswith("frames without"):
        return f"{sum(values):.0f}"
    if name.startswith("frames"):
        late = sum(value > LATE_MILLISECONDS for value in values) / len(values)
        return f"{1000 * len(values) / sum(values):.0f} per second, {late:.1%} later than {LATE_MILLISECONDS:.0f} ms"
    p95 = sorted(values)[int(0.95 * (len(values) - 1) + 0.5)]
    return f"{statistics.median(values):.0f} ms, p95 {p95:.0f} ms"


def main() -> None:
    """Fill a database, measure the page of a checkout, and print the results."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.table_page", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--charts", default="", help="metrics of the charts beside the table; default: closed")
    parser.add_argument("--checkout", type=Path, default=REPOSITORY, help="another checkout")
    add_csv_option(parser)
    options = parser.parse_args()
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="arcadia-table-") as name:
        settings = Settings(data_dir=Path(name) / "data")
        migrate(settings)
        database = open_database(settings)
        fill(database, options.runs)
        database.close()
        with served(options.checkout.resolve(), Path(name)) as url, chromium() as browser:
            for _ in range(options.repeats):
                context = new_context(browser)
                page = context.new_page()
                page.set_default_timeout(TIMEOUT_MILLISECONDS)
                for what, values in measure(page, url, options.charts).items():
                    times.setdefault(what, []).extend(values)
                context.close()
    rows: list[dict[str, Any]] = [
        {"runs": options.runs, "what": what, "milliseconds": joined(values)} for what, values in times.items()
    ]
    write_rows(options.csv, rows)
    for what, values in times.items():
        print(f"{what}: {report(what, values)}")


if __name__ == "__main__":
    with acting_as(BACKEND):
        main()
