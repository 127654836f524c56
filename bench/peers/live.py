"""Compare the costs of watching live runs in Chromium: `python -m bench.peers.live --venv DIR`.

Each run reports a point per second. The open pages are a comparison of ten runs, the table of all runs, and Arcadia's
wall. MLflow's page of a metric does not update after it is opened.
"""

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page

from bench.counting_proxy import CountingProxy
from bench.live_pages import HOUR, Reports, launched, work
from bench.peers.__main__ import machine
from bench.peers.arcadia import Arcadia, client
from bench.peers.browser import CHART_MILLISECONDS, IS_DRAWN, new_context
from bench.peers.mlflow import MLflow
from bench.peers.product import REPOSITORY, Product, Venv, Written, options_parser, parse, read_written
from bench.peers.requests import Request, replay
from bench.peers.table import markdown
from bench.peers.trackio import Trackio
from tests.chromium import chromium
from tests.factories import Api
from tests.installation import TOKEN

REQUEST_MILLISECONDS = 500
# Reports runs to the server at this address.
Reporter = Callable[[str, int], AbstractContextManager[Written]]


@dataclass(frozen=True)
class Watched:
    """A product with live runs."""

    product: Product
    report: Reporter
    # The pages that stay open after the comparison.
    pages: Callable[[Written], Sequence[str]]


@dataclass(frozen=True)
class Cost:
    """Costs of watching: bytes per hour, shares of a core, and the seconds of requests and of the first chart."""

    megabytes_per_hour: float
    pages_core: float
    request_p95: float
    first_chart: float


@contextmanager
def report_to_arcadia(url: str, count: int) -> Iterator[Written]:
    """Report runs as trainers do."""
    with client(url) as user, client(url, TOKEN) as worker:
        api = Api(user, worker)
        runs = launched(api, count)
        reports = Reports(api, runs)
        reports.begin()
        try:
            yield Written("", [str(run) for run, _attempt in runs])
        finally:
            reports.end()


def report_in_venv(venv: Venv, product: str, variables: dict[str, str]) -> Reporter:
    """Return a reporter of runs that uses a peer's client."""

    @contextmanager
    def report(url: str, count: int) -> Iterator[Written]:
        process = subprocess.Popen(
            venv.command("-m", "bench.peers.live_log", product, url, str(count)),
            cwd=venv.home,
            env=venv.environment | {"PYTHONPATH": str(REPOSITORY)} | variables,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            yield read_written(process.stdout.readline())
        finally:
            process.kill()
            process.wait()

    return report


def products(folder: Path, venv: Venv) -> list[Watched]:
    """Return all products."""
    trackio = folder / "trackio"
    return [
        Watched(Arcadia(folder / "arcadia"), report_to_arcadia, lambda _: ["/", "/wall"]),
        Watched(
            MLflow(folder / "mlflow", venv),
            report_in_venv(venv, "mlflow", {}),
            lambda written: [f"/#/experiments/{written.project}/runs?workflowType=machine_learning"],
        ),
        Watched(
            Trackio(trackio, venv),
            report_in_venv(venv, "trackio", {"TRACKIO_DIR": str(trackio)}),
            lambda written: [f"/runs?project={written.project}"],
        ),
    ]


def measure(watched: Watched, browser: Browser, url: str, written: Written, seconds: float) -> Cost:
    """Open each page in a new tab, and measure what watching them costs."""
    with CountingProxy(int(url.rpartition(":")[2])) as proxy:
        return _measure(watched, browser, url, proxy, written, seconds)


def _measure(
    watched: Watched, browser: Browser, url: str, proxy: CountingProxy, written: Written, seconds: float
) -> Cost:
    address = f"http://127.0.0.1:{proxy.port}"
    began = time.perf_counter()
    compared = open_tab(browser, address + watched.product.page(written))
    compared.wait_for_function(IS_DRAWN, timeout=CHART_MILLISECONDS, polling=20)
    first_chart = time.perf_counter() - began
    tabs = [compared, *(open_tab(browser, address + path) for path in watched.pages(written))]
    compared.wait_for_timeout(5_000)
    sessions = [tab.context.new_cdp_session(tab) for tab in tabs]
    for session in sessions:
        session.send("Performance.enable")
    busy, received, began = sum(map(work, sessions)), proxy.bytes, time.perf_counter()
    times = []
    request = list_of_runs(watched.product, written)
    while time.perf_counter() < began + seconds:
        times.append(replay(url, [request]).seconds)
        compared.wait_for_timeout(REQUEST_MILLISECONDS)
    took, received = time.perf_counter() - began, proxy.bytes - received
    core = (sum(map(work, sessions)) - busy) / took
    for tab in tabs:
        tab.context.close()
    return Cost(received / took * HOUR / 1e6, core, float(np.percentile(times, 95)), first_chart)


def open_tab(browser: Browser, address: str) -> Page:
    """Open an address in a new browser profile."""
    page = new_context(browser).new_page()
    page.goto(address, wait_until="commit")
    return page


def list_of_runs(product: Product, written: Written) -> Request:
    """Return the request of a list of runs."""
    requests = product.requests(written)
    return requests.get("list-200", requests["list-1000"])[0]


def table(costs: dict[str, Cost]) -> str:
    """Return the costs as a Markdown table."""
    rows = {
        "data to the open pages, per hour": [f"{cost.megabytes_per_hour:,.0f} MB" for cost in costs.values()],
        "main threads of the open pages": [f"{cost.pages_core:.0%} of a core" for cost in costs.values()],
        "list of runs, p95": [f"{1000 * cost.request_p95:,.0f} ms" for cost in costs.values()],
        "first chart of the comparison": [f"{1000 * cost.first_chart:,.0f} ms" for cost in costs.values()],
    }
    return markdown(costs, rows)


def main() -> None:
    """Measure one product after the other, and print the table."""
    parser = options_parser("bench.peers.live", __doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parse(parser)
    costs = {}
    with tempfile.TemporaryDirectory(prefix="arcadia-live-") as name:
        folder = Path(name)
        for watched in products(folder, Venv(options.venv.resolve(), folder / "home")):
            with (
                watched.product.serve() as url,
                watched.report(url, options.runs) as written,
                chromium() as browser,
            ):
                label = f"{watched.product.name} {watched.product.version()}"
                costs[label] = measure(watched, browser, url, written, options.seconds)
    arguments = f"--runs {options.runs} --seconds {options.seconds:.0f}"
    print(f"`python -m bench.peers.live --venv DIR {arguments}` on {machine()}.\n")
    print(table(costs))


if __name__ == "__main__":
    main()
