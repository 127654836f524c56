"""Measure the traffic and the work of one browser with a live comparison: `python -m bench.live_comparison`."""

import argparse
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import CDPSession

from tests.browser.showcase import STRIDE, returns_at, values_at
from tests.chromium import chromium
from tests.factories import Api, event, metrics
from tests.installation import TOKEN, Installation

# A trainer reports about once a second.
PERIOD_SECONDS = 1.0
EARLIER_EVENTS = 600
HOUR = 3600


class Traffic:
    """Count of the compressed bytes that a page receives."""

    def __init__(self, devtools: CDPSession) -> None:
        self.bytes, self.requests = 0.0, 0
        self._answered: set[str] = set()
        devtools.on("Network.responseReceived", lambda reported: self._answered.add(reported["requestId"]))
        devtools.on("Network.loadingFinished", self._finished)
        devtools.on("Network.dataReceived", self._streamed)
        devtools.send("Network.enable")

    def _finished(self, reported: dict[str, Any]) -> None:
        self.requests += 1
        self.bytes += reported["encodedDataLength"]

    def _streamed(self, reported: dict[str, Any]) -> None:
        # The response of the live stream began before the count, and never finishes.
        if reported["requestId"] not in self._answered:
            self.bytes += reported["dataLength"]


class Reports:
    """Runs that report like trainers until they are stopped."""

    def __init__(self, api: Api, runs: list[tuple[int, int]]) -> None:
        self._api, self._runs, self._seq, self._end = api, runs, 1, threading.Event()
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
            self._report(1, self._seq - 1)

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


def measure(port: int, runs: list[int], seconds: float) -> None:
    """Open the comparison and print the traffic."""
    with chromium() as browser:
        page = browser.new_page(base_url=f"http://127.0.0.1:{port}", viewport={"width": 1440, "height": 900})
        page.goto(f"/compare?runs={','.join(map(str, runs))}")
        page.locator(".js-plotly-plot").first.wait_for()
        page.wait_for_timeout(5_000)
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable")
        traffic, busy, began = Traffic(devtools), work(devtools), time.monotonic()
        page.wait_for_timeout(seconds * 1000)
        took = time.monotonic() - began
        core = (work(devtools) - busy) / took
    megabytes = traffic.bytes / took * HOUR / 1e6
    requests = traffic.requests / took * HOUR
    print(
        f"{len(runs)} runs, {took:.0f} s: {megabytes:.1f} MB and {requests:,.0f} answers an hour, {core:.0%} of a core"
    )


def work(devtools: CDPSession) -> float:
    """Return the seconds that the page's thread has worked."""
    found = devtools.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in found if metric["name"] == "TaskDuration"))


def main() -> None:
    """Start an installation with reporting runs, compare them in Chromium, and print the traffic and the work."""
    parser = argparse.ArgumentParser(prog="python -m bench.live_comparison", description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        installation = Installation(Path(folder), lease_seconds=HOUR)
        url, shows = f"http://127.0.0.1:{installation.port}", {"Authorization": f"Bearer {TOKEN}"}
        try:
            installation.start()
            with (
                httpx.Client(base_url=url, trust_env=False, timeout=60) as user,
                httpx.Client(base_url=url, trust_env=False, timeout=60, headers=shows) as worker,
            ):
                api = Api(user, worker)
                runs = launched(api, options.runs)
                reports = Reports(api, runs)
                reports.begin()
                try:
                    measure(installation.port, [run_id for run_id, _attempt in runs], options.seconds)
                finally:
                    reports.end()
        finally:
            installation.close()


if __name__ == "__main__":
    main()
