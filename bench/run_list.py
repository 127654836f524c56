"""Measure the time and the bytes of the list of 1,000 runs on SQLite: `python -m bench.run_list`."""

import tempfile
import time
from pathlib import Path

import numpy as np
from fastapi.testclient import TestClient

from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from bench.arguments import read_csv_option
from bench.raw_values import joined, write_rows

RUNS = 1_000
REQUESTS = 100
QUERIES = (
    "limit=50",
    "limit=50&sort=-best_return",
    "limit=200&text=cart",
    "limit=200",
    "limit=200&include=config.seed&include=config.learning_rate",
    "limit=200&include=config",
)


def main() -> None:
    """Launch the runs, request pages of their list and print the response times."""
    path, rows = read_csv_option("bench.run_list", __doc__), []
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate(
            {"data_dir": folder, "database_url": f"sqlite:///{Path(folder) / 'list.db'}"}
        )
        with TestClient(create_app(settings), base_url="http://localhost") as client:
            for seed in range(RUNS):
                launch = {"preset": "paac-cartpole", "overrides": {"seed": seed}}
                client.post("/api/v1/runs", json=launch).raise_for_status()
            for query in QUERIES:
                times = np.array([seconds(client, query) for _ in range(REQUESTS)]) * 1e3
                p50, p95 = np.percentile(times, [50, 95])
                size = len(client.get(f"/api/v1/runs?{query}").content)
                print(f"{query}: median {p50:.0f} ms, p95 {p95:.0f} ms, {size / 1e3:.0f} kB")
                rows.append({"request": query, "bytes": size, "milliseconds": joined(times)})
    write_rows(path, rows)


def seconds(client: TestClient, query: str) -> float:
    """Time one request."""
    began = time.perf_counter()
    answer = client.get(f"/api/v1/runs?{query}")
    took = time.perf_counter() - began
    assert answer.json()["total"] == RUNS
    return took


if __name__ == "__main__":
    main()
