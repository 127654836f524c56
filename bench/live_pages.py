"""Measure the traffic, work and memory of open pages while runs train: `python -m bench.live_pages --before DIR`.

An older checkout and this one take turns. Both need a built frontend. With more points per report, an hour of training
passes in a few minutes.
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Browser, BrowserContext, CDPSession

from bench.counting_proxy import CountingProxy
from bench.pages import LONG_TASK_MILLISECONDS, RECORD_TASKS, served
from bench.raw_values import add_csv_option, joined, write_rows
from tests.browser.showcase import STRIDE, returns_at, values_at
from tests.chromium import chromium
from tests.factories import Api, event, metrics
from tests.installation import REPOSITORY, TOKEN

# A trainer reports about once a second.
PERIOD_SECONDS = 1.0
EARLIER_EVENTS = 600
HOUR = 3600


class Requests:
    """Count of the finished requests of a page."""

    def __init__(self, devtools: CDPSession) -> None:
        self.finished = 0
        devtools.on("Network.loadingFinished", self._finish)
        devtools.send("Network.enable")

    def _finish(self, _reported: dict[str, Any]) -> None:
        self.finished += 1


class Reports:
    """Runs that report like trainers until they are stopped."""

    def __init__(self, api: Api, runs: list[tuple[int, int]], points: int = 1) -> None:
        """Report this number of points of each run in every period."""
        self._api, self._runs, self._points, self._seq, self._end = api, runs, points, 1, threading.Event()
        self._thread = threading.Thread(target=self._go_on)

    def begin(self) -> None:
        """Report an earlier part immediately, and continue in the background."""
        for first in range(0, EARLIER_EVENTS, 100):
            self._report(100, first)
        self._thread.start()

    def end(self) -> None:
        """Stop reporting."""
        self._end.set()
        self._thread.join()

    def _go_on(self) -> None:
        due = time.monotonic()
        while not self._end.wait(max(0.0, due - time.monotonic())):
            due += PERIOD_SECONDS
            self._report(self._points, self._seq - 1)

    def _report(self, count: int, first: int) -> None:
        for run_id, attempt in self._runs:
            sent = [
                metrics(seq + 1, seq * STRIDE, values_at(seq * STRIDE, run_id), returns_at(seq * STRIDE, run_id))
                for seq in range(first + 1, first + count + 1)
            ]
            self._api.send(run_id, attempt, *sent).raise_for_status()
        self._seq = first + count + 1


def launched(api: Api, count: int) -> list[tuple[int, int]]:
    """Start runs, each on its own worker."""
    begun = []
    for number in range(count):
        run_id = api.launch(name=f"run {number}", config={"algorithm": "paac", "env": "CartPole-v1", "seed": number})
        attempt = api.claim(f"w{number}")["attempt"]
        first = event(1, "started", resumed_from=None, seed=1, device="cpu", precision="float32", host="h")
        api.send(run_id["id"], attempt, first | {"command": ["python"], "versions": {}}).raise_for_status()
        begun.append((int(run_id["id"]), int(attempt)))
    return begun


def read_metric(devtools: CDPSession, name: str) -> float:
    """Return a metric of a page."""
    found = devtools.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in found if metric["name"] == name))


def work(devtools: CDPSession) -> float:
    """Return the seconds that the page's thread has worked."""
    return read_metric(devtools, "TaskDuration")


# Measurements of the memory of a page after the first one.
HEAPS = 5
# Runs of the comparison. All runs are in the table.
COMPARED = 10
SETTLE_MILLISECONDS = 15_000


class OpenPage:
    """A tab that shows a page, with its traffic and work since it settled. It has its own connection to the server."""

    def __init__(self, context: BrowserContext, path: str, proxy: CountingProxy) -> None:
        self.page, self._proxy = context.new_page(), proxy
        self.page.add_init_script(RECORD_TASKS)
        self.page.goto(f"http://127.0.0.1:{proxy.port}{path}")
        self.page.locator("main").wait_for()
        self.page.wait_for_timeout(SETTLE_MILLISECONDS)
        self._devtools = context.new_cdp_session(self.page)
        # Processor time, because other programs make everything last longer.
        self._devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.page.evaluate("void (window.tasks = [])")
        self._requests, self._work, self._bytes = Requests(self._devtools), work(self._devtools), proxy.bytes

    def heap(self) -> float:
        """Return the bytes of the page's objects after garbage collection."""
        self._devtools.send("HeapProfiler.collectGarbage")
        return read_metric(self._devtools, "JSHeapUsedSize")

    def measured(self) -> dict[str, Any]:
        """Return the received bytes, the requests, the seconds of work and the tasks over 100 ms."""
        busy = work(self._devtools) - self._work
        tasks = [float(task) for task in self.page.evaluate("window.tasks") if task > LONG_TASK_MILLISECONDS]
        return {
            "bytes": self._proxy.bytes - self._bytes,
            "requests": self._requests.finished,
            "busy_seconds": f"{busy:.2f}",
            "long_tasks_milliseconds": joined(tasks, 0),
        }


@contextmanager
def reporting(url: str, count: int, points: int = 1) -> Iterator[list[int]]:
    """Let runs report to a server inside the block. Yield their numbers."""
    shows = {"Authorization": f"Bearer {TOKEN}"}
    with (
        httpx.Client(base_url=url, trust_env=False, timeout=60) as user,
        httpx.Client(base_url=url, trust_env=False, timeout=60, headers=shows) as worker,
    ):
        api = Api(user, worker)
        runs = launched(api, count)
        reports = Reports(api, runs, points)
        reports.begin()
        try:
            yield [run_id for run_id, _attempt in runs]
        finally:
            reports.end()


def watched(browser: Browser, url: str, runs: list[int], seconds: float) -> list[dict[str, Any]]:
    """Open the table, a run and a comparison in one browser. Return what each cost, with its memory at intervals."""
    compared = ",".join(map(str, runs[:COMPARED]))
    addresses = {"run table": "/", "run": f"/runs/{runs[0]}", "comparison": f"/compare?runs={compared}"}
    # Pages of one window hide each other, and a hidden page rests.
    contexts = {
        name: browser.new_context(viewport={"width": 1440, "height": 900}, bypass_csp=True) for name in addresses
    }
    server = urlsplit(url).port
    assert server is not None
    with ExitStack() as proxies:
        pages = {
            name: OpenPage(contexts[name], path, proxies.enter_context(CountingProxy(server)))
            for name, path in addresses.items()
        }
        heaps: dict[str, list[float]] = {name: [page.heap()] for name, page in pages.items()}
        began = time.monotonic()
        for _ in range(HEAPS):
            pages["run"].page.wait_for_timeout(seconds * 1000 / HEAPS)
            for name, page in pages.items():
                heaps[name].append(page.heap())
        took = {"seconds": f"{time.monotonic() - began:.1f}"}
        found = [
            {"page": name, **took, **page.measured(), "heap_megabytes": joined(each / 1e6 for each in heaps[name])}
            for name, page in pages.items()
        ]
        for context in contexts.values():
            context.close()
    return found


def main() -> None:
    """Let runs report to both checkouts in turn, and print what each open page cost."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.live_pages", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, metavar="DIR", help="another checkout")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--points", type=int, default=1, help="points that each run reports in a second")
    add_csv_option(parser)
    options = parser.parse_args()
    checkouts = {"before": options.before.resolve()} if options.before else {}
    checkouts["after"] = REPOSITORY
    rows: list[dict[str, Any]] = []
    for repetition in range(1, options.repeats + 1):
        for version, checkout in checkouts.items():
            with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
                url = stack.enter_context(served(checkout, Path(folder)))
                runs = stack.enter_context(reporting(url, options.runs, options.points))
                browser = stack.enter_context(chromium())
                measured = watched(browser, url, runs, options.seconds)
                step = httpx.get(f"{url}/api/v1/runs/{runs[0]}", trust_env=False, timeout=60).json()["step"]
                for found in measured:
                    rows.append({"version": version, "repetition": repetition, "points": step // STRIDE, **found})
                    hourly = HOUR / float(found["seconds"])
                    print(
                        f"{version}, {found['page']}: {float(found['bytes']) * hourly / 1e6:.1f} MB and "
                        f"{found['requests'] * hourly:,.0f} answers an hour, "
                        f"{float(found['busy_seconds']) / float(found['seconds']):.1%} of a core, "
                        f"heap of {found['heap_megabytes']} MB, long tasks: {found['long_tasks_milliseconds']} ms",
                        flush=True,
                    )
    write_rows(options.csv, rows)


if __name__ == "__main__":
    main()
