"""Compare the run tables of many runs in Chromium: `python -m bench.peers.run_tables --venv DIR --runs 10000`.

Arcadia loads more rows while it scrolls. MLflow loads 100 rows and has a button for more. Trackio loads all of them.
"""

import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page

from bench.peers.__main__ import machine, write
from bench.peers.arcadia import Arcadia
from bench.peers.browser import CHART_MILLISECONDS, POLL_MILLISECONDS, new_context
from bench.peers.mlflow import MLflow
from bench.peers.product import Product, Venv, Written, options_parser, parse
from bench.peers.table import markdown
from bench.peers.trackio import Trackio
from tests.chromium import chromium

# A part of the names of 271 of 10,000 runs, and a setting with three values.
NAMED, SETTING, VALUE = "77", "gamma", "0.95"
SCROLL_SECONDS = 5.0
# Scrolls by 40 pixels per frame, and returns the times between frames in milliseconds.
SCROLL = """async ([rows, seconds]) => {
  let scroller = document.querySelector(rows);
  while (scroller && !(scroller.scrollHeight > scroller.clientHeight + 1
      && /auto|scroll/.test(getComputedStyle(scroller).overflowY))) scroller = scroller.parentElement;
  scroller ??= document.scrollingElement;
  const gaps = [];
  let last = performance.now();
  const end = last + 1000 * seconds;
  await new Promise(done => requestAnimationFrame(function frame(now) {
    gaps.push(now - last);
    last = now;
    scroller.scrollTop += 40;
    now < end ? requestAnimationFrame(frame) : done();
  }));
  return gaps;
}"""
# Returns True if there are rows, and the names of all contain the text.
ONLY = "([rows, text]) => { const found = [...document.querySelectorAll(rows)]; \
return found.length > 0 && found.every(row => row.textContent.includes(text)); }"


@dataclass(frozen=True)
class RunTable:
    """The run table of a product: its page, its rows, and how a user filters and groups it."""

    product: Product
    path: Callable[[Written], str]
    # The links of the runs.
    rows: str
    filter: Callable[[Page, str], None]
    # Groups the rows by the setting and waits for a group. None without such groups.
    group: Callable[[Page], None] | None


@dataclass
class Times:
    """Seconds of each repeat, and the milliseconds between frames."""

    opened: list[float] = field(default_factory=list)
    filtered: list[float] = field(default_factory=list)
    grouped: list[float] = field(default_factory=list)
    frames: list[float] = field(default_factory=list)


def filter_arcadia(page: Page, text: str) -> None:
    """Type a filter of the run's name."""
    page.get_by_role("textbox", name="Filter expression").fill(f"name ~ {text}")
    page.keyboard.press("Enter")


def group_arcadia(page: Page) -> None:
    """Choose the discount as the group."""
    page.get_by_role("combobox", name="Group runs by").click()
    page.get_by_role("option", name="Discount").click()
    page.get_by_label("Groups of runs").get_by_role("row").filter(has_text=VALUE).wait_for()


def filter_mlflow(page: Page, text: str) -> None:
    """Type a filter of the run's name."""
    page.get_by_test_id("search-box").fill(f"attributes.run_name LIKE '%{text}%'")
    page.keyboard.press("Enter")


def group_mlflow(page: Page) -> None:
    """Choose the parameter as the group. MLflow groups only the loaded rows."""
    page.get_by_role("button", name="Group by").click()
    page.get_by_role("menu").get_by_role("textbox").fill(SETTING)
    page.get_by_role("menu").get_by_text(SETTING, exact=True).click()
    page.get_by_text(re.compile("^Group: ")).first.wait_for()


def filter_trackio(page: Page, text: str) -> None:
    """Type a regular expression of the run's name."""
    page.get_by_placeholder("e.g., baseline").fill(text)


def tables(folder: Path, venv: Venv) -> list[RunTable]:
    """Return the tables of all products."""
    return [
        RunTable(Arcadia(folder / "arcadia"), lambda _: "/", "tbody a[href^='/runs/']", filter_arcadia, group_arcadia),
        RunTable(
            MLflow(folder / "mlflow", venv),
            lambda written: f"/#/experiments/{written.project}/runs?workflowType=machine_learning",
            "a[href*='/runs/']",
            filter_mlflow,
            group_mlflow,
        ),
        RunTable(
            Trackio(folder / "trackio", venv),
            lambda written: f"/runs?project={written.project}",
            "table.runs-table tbody tr",
            filter_trackio,
            None,
        ),
    ]


def measure(table: RunTable, browser: Browser, url: str, written: Written, times: Times) -> None:
    """Open the table in a new browser profile, then scroll, filter and group it."""
    context = new_context(browser)
    page = context.new_page()
    page.set_default_timeout(CHART_MILLISECONDS)
    page.on("pageerror", lambda error: print(f"{table.product.name}: {error}", file=sys.stderr))
    times.opened.append(seconds_of(lambda: open_table(page, url, table, written)))
    times.frames += page.evaluate(SCROLL, [table.rows, SCROLL_SECONDS])
    open_table(page, url, table, written)
    if table.group is not None:
        group = table.group
        times.grouped.append(seconds_of(lambda: group(page)))
        open_table(page, url, table, written)
    times.filtered.append(seconds_of(lambda: filter_rows(page, table)))
    context.close()


def open_table(page: Page, url: str, table: RunTable, written: Written) -> None:
    """Open the table and wait for its first rows."""
    page.goto("about:blank")
    page.goto(url + table.path(written), wait_until="commit")
    page.locator(table.rows).first.wait_for()


def filter_rows(page: Page, table: RunTable) -> None:
    """Filter the rows, and wait until only runs with the name are left."""
    table.filter(page, NAMED)
    page.wait_for_function(ONLY, arg=[table.rows, NAMED], polling=POLL_MILLISECONDS, timeout=CHART_MILLISECONDS)


def seconds_of(action: Callable[[], None]) -> float:
    """Return how long an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def report(every: dict[str, Times]) -> str:
    """Return the measurements as a Markdown table."""
    rows = {
        "first rows, empty cache": [milliseconds(times.opened) for times in every.values()],
        "frames per second while it scrolls": [frames(times.frames) for times in every.values()],
        "filter by a part of the name": [milliseconds(times.filtered) for times in every.values()],
        "group by a setting": [milliseconds(times.grouped) for times in every.values()],
    }
    return markdown(every, rows)


def milliseconds(seconds: list[float]) -> str:
    """Return the median and the largest time."""
    if not seconds:
        return "no such view"
    return f"{1000 * statistics.median(seconds):,.0f} ms (max {1000 * max(seconds):,.0f})"


def frames(gaps: list[float]) -> str:
    """Return the frames per second, and the 99th percentile of the time between two frames."""
    late = sorted(gaps)[int(0.99 * len(gaps))]
    return f"{1000 * len(gaps) / sum(gaps):.0f} (p99 of a frame {late:.0f} ms)"


def main() -> None:
    """Write the runs, measure every table, and print the results."""
    parser = options_parser("bench.peers.run_tables", __doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--points", type=int, default=10, help="points of each of the three metrics of a run")
    parser.add_argument("--repeats", type=int, default=5)
    options = parse(parser)
    with tempfile.TemporaryDirectory(prefix="arcadia-tables-") as name:
        folder = Path(name)
        every = tables(folder, Venv(options.venv.resolve(), folder / "home"))
        written = [write(table.product, options.runs, options.points) for table in every]
        times = {f"{table.product.name} {table.product.version()}": Times() for table in every}
        for _ in range(options.repeats):
            for table, contents, taken in zip(every, written, times.values(), strict=True):
                with table.product.serve() as url, chromium() as browser:
                    measure(table, browser, url, contents, taken)
    arguments = f"--runs {options.runs} --points {options.points} --repeats {options.repeats}"
    print(f"`python -m bench.peers.run_tables --venv DIR {arguments}` on {machine()}.\n")
    print(report(times))


if __name__ == "__main__":
    main()
