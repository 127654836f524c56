"""Measure what the rights of a person cost in requests for a table of many runs, beside an administrator's requests.

python -m bench.rights_cost [--runs 10000] [--requests 40]

Both see all runs: the person has a role in their project. Requests of both alternate, on SQLite.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from arcadia_backend.accounts import people, sign_in
from arcadia_backend.app import create_app
from arcadia_backend.config import COOKIE, Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, Role, acting_as
from arcadia_backend.database.tables import MAIN_ID, ProjectRole
from bench.raw_values import add_csv_option, write_rows
from bench.run_table import DIFFERENT_RUNS, fill

WARM_UP = 3
QUERIES: tuple[dict[str, Any], ...] = (
    {},
    {"sort": "-best_return,created_at"},
    {"sort": "learning_rate,-last(train/metric_1)"},
    {"filter": "env:Pong and best_return > 15"},
)


def main() -> None:
    """Fill a database, and print the processor times of both callers."""
    parser = argparse.ArgumentParser(prog="python -m bench.rights_cost", description=__doc__)
    parser.add_argument("--runs", type=int, default=DIFFERENT_RUNS, help="runs in the table (default: %(default)s)")
    parser.add_argument("--requests", type=int, default=40, help="requests of each caller (default: %(default)s)")
    add_csv_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(data_dir=Path(folder)))
        with TestClient(app, base_url="http://localhost") as client:
            database: Database = app.state.database
            fill(database, options.runs)
            cookies = add_people(database)
            rows = [measure(client, cookies, query, options.requests) for query in QUERIES]
    write_rows(options.csv, rows)


def add_people(database: Database) -> tuple[str, str]:
    """Add an administrator and a viewer of the project, and return the cookies of their sessions."""
    with database.write() as session:
        owner = people.add(session, "Owner", "owner@example.org")
        viewer = people.add(session, "Viewer", "viewer@example.org")
        session.add(ProjectRole(project_id=MAIN_ID, person_id=viewer.id, role=int(Role.VIEWER)))
        first, second = (sign_in.start_session(session, each, "testclient", "").secret for each in (owner, viewer))
        return first, second


def measure(client: TestClient, cookies: tuple[str, str], query: dict[str, Any], requests: int) -> dict[str, Any]:
    """Request a page of runs as both callers in turn, and return the processor times of each."""
    used: tuple[list[float], list[float]] = ([], [])
    totals = set()
    for number in range(WARM_UP + requests):
        for cookie, times in zip(cookies, used, strict=True):
            began = time.process_time()
            answer = client.get("/api/v1/runs", params=query, headers={"Cookie": f"{COOKIE}={cookie}"})
            times += [(time.process_time() - began) * 1e3] if number >= WARM_UP else []
            totals.add(answer.raise_for_status().json()["total"])
    assert len(totals) == 1, totals
    row: dict[str, Any] = {"query": " ".join(f"{name}={value}" for name, value in query.items()) or "no query"}
    for caller, times in zip(("administrator", "person"), used, strict=True):
        row[f"{caller}_median"] = f"{np.median(times):.2f}"
        row[f"{caller}_p95"] = f"{np.percentile(times, 95):.2f}"
    print(row, flush=True)
    return row


if __name__ == "__main__":
    with acting_as(BACKEND):
        main()
