"""Measure the response times for the page of a study of 1,000 finished runs on SQLite: `python -m bench.study_page`."""

import secrets
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from bench.arguments import read_csv_option
from bench.raw_values import joined, write_rows

POINTS, SEEDS = 200, 5
REQUESTS = 100
TOKEN = secrets.token_hex(8)
STUDY: dict[str, Any] = {
    "name": "a thousand runs",
    "preset": "paac-cartpole",
    "axes": [
        {"field": "learning_rate", "log_uniform": [1e-4, 1e-2]},
        {"field": "gamma", "uniform": [0.9, 0.999]},
    ],
    "sampler": "random",
    "points": POINTS,
    "seeds": SEEDS,
    "max_concurrent_runs": POINTS * SEEDS,
    # The steps of all runs, which the server asks to confirm.
    "confirm_steps": 1_500_000_000,
}
FIGURES = ("scatter", "parallel", "importance")


def main() -> None:
    """Finish every run of the study, request its page and figures, and print the response times."""
    path = read_csv_option("bench.study_page", __doc__)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate(
            {"data_dir": folder, "database_url": f"sqlite:///{Path(folder) / 'study.db'}", "worker_token": TOKEN}
        )
        app = create_app(settings)
        with TestClient(app, base_url="http://localhost") as client:
            began = time.perf_counter()
            study = client.post("/api/v1/studies", json=STUDY).raise_for_status().json()["id"]
            start = time.perf_counter() - began
            print(f"start: {start:.1f} s")
            rows = [{"request": "start", "milliseconds": joined([start * 1e3])}]
            finish_all(client)
            for name in ("", *(f"/figure?kind={kind}" for kind in FIGURES)):
                times = np.array([seconds(client, f"/api/v1/studies/{study}{name}") for _ in range(REQUESTS)]) * 1e3
                p50, p95 = np.percentile(times, [50, 95])
                print(f"/studies/{study}{name}: median {p50:.0f} ms, p95 {p95:.0f} ms")
                rows.append({"request": f"/studies/{study}{name}", "milliseconds": joined(times)})
    write_rows(path, rows)


def finish_all(client: TestClient) -> None:
    """Finish every run with a different return."""
    worker = {"Authorization": f"Bearer {TOKEN}"}
    for _ in range(POINTS * SEEDS):
        answer = client.post("/api/v1/worker/claim", json={"name": "w", "queue": "cpu"}, headers=worker)
        while answer.status_code == 204:
            time.sleep(0.1)  # wait until the scheduler has created more runs
            answer = client.post("/api/v1/worker/claim", json={"name": "w", "queue": "cpu"}, headers=worker)
        run = answer.json()
        path = f"/api/v1/worker/runs/{run['run_id']}"
        value = 500.0 - 100 * abs(np.log10(run["config"]["learning_rate"]) + 3) + run["config"]["seed"]
        body = {"attempt": run["attempt"], "events": events(run["config"]["total_steps"], value)}
        client.post(f"{path}/events", json=body, headers=worker).raise_for_status()
        release = {"attempt": run["attempt"], "outcome": "finished"}
        client.post(f"{path}/release", json=release, headers=worker).raise_for_status()


def events(steps: int, value: float) -> list[dict[str, Any]]:
    """Return the events of a trainer that learns immediately."""
    place = {"step": steps, "frames": steps, "time": 1_700_000_000.0}
    started: dict[str, Any] = {
        "resumed_from": None,
        "seed": 1,
        "device": "cpu",
        "precision": "float32",
        "command": [],
        "versions": {},
    }
    episode = {"step": steps, "frames": steps, "episode_return": value, "length": 10}
    return [
        {"seq": 1, "kind": "started", "host": "here", **place, "step": 0, **started},
        {"seq": 2, "kind": "metrics", **place, "values": {}, "episodes": [episode]},
        {"seq": 3, "kind": "finished", **place},
    ]


def seconds(client: TestClient, path: str) -> float:
    """Time one request."""
    began = time.perf_counter()
    client.get(path).raise_for_status()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
