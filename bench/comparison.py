"""Measure the response time of the largest comparison on SQLite: `python -m bench.comparison`."""

import secrets
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from arcadia_backend.app import create_app
from arcadia_backend.comparisons.routes import MAX_RUNS
from arcadia_backend.config import Settings
from bench.arguments import read_arguments

SEEDS, EVENTS, EPISODES = 5, 30, 20
STEPS = EVENTS * EPISODES * 100
REQUESTS = 10
TOKEN = secrets.token_hex(8)
RATES = [float(rate) for rate in np.geomspace(1e-4, 1e-2, MAX_RUNS // SEEDS)]
STUDY: dict[str, Any] = {
    "name": "as many runs as a comparison takes",
    "preset": "paac-cartpole",
    "total_steps": STEPS,
    "axes": [{"field": "learning_rate", "values": RATES}],
    "seeds": SEEDS,
    "max_concurrent_runs": MAX_RUNS,
    # The steps of all runs, which the server asks to confirm.
    "confirm_steps": STEPS * MAX_RUNS,
}
PATHS = (
    "compare?",
    "figures/curves?",
    "figures/curves?group=seed&",
    "figures/curves?group=seed&center=iqm&band=standard-error&seeds=true&smoothing=0.9&",
    "compare/verdict?",
    "compare/thresholds?",
    "figures/profile?",
    "figures/sample-efficiency?",
)


def main() -> None:
    """Finish the runs, send the requests of the page, and print the times."""
    read_arguments("bench.comparison", __doc__)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate(
            {"data_dir": folder, "database_url": f"sqlite:///{Path(folder) / 'runs.db'}", "worker_token": TOKEN}
        )
        with TestClient(create_app(settings), base_url="http://localhost") as client:
            client.post("/api/v1/studies", json=STUDY).raise_for_status()
            runs = ",".join(str(finish(client)) for _ in range(MAX_RUNS))
            print(f"{MAX_RUNS} runs, {EVENTS * EPISODES} episodes each: median of {REQUESTS} requests")
            for path in PATHS:
                measure(client, path, runs)


def finish(client: TestClient) -> int:
    """Finish a run as a worker does, and return its number."""
    worker = {"Authorization": f"Bearer {TOKEN}"}
    claim = {"name": "w", "queue": "cpu"}
    run = client.post("/api/v1/worker/claim", json=claim, headers=worker).raise_for_status().json()
    path = f"/api/v1/worker/runs/{run['run_id']}"
    body = {"attempt": run["attempt"], "events": events(run["config"]["seed"])}
    client.post(f"{path}/events", json=body, headers=worker).raise_for_status()
    release = {"attempt": run["attempt"], "outcome": "finished"}
    client.post(f"{path}/release", json=release, headers=worker).raise_for_status()
    return int(run["run_id"])


def events(seed: int) -> list[dict[str, Any]]:
    """Return the events of a trainer that learns with some noise."""
    random = np.random.default_rng(seed)
    reported: list[dict[str, Any]] = [
        {
            "kind": "started",
            "host": "here",
            "resumed_from": None,
            "seed": seed,
            "device": "cpu",
            "precision": "float32",
            "command": [],
            "versions": {},
            "step": 0,
        }
    ]
    for ended in np.arange(1, EVENTS * EPISODES + 1).reshape(EVENTS, EPISODES) * 100:
        episodes = [
            {"step": int(step), "frames": int(step), "episode_return": float(random.normal(step, 500)), "length": 100}
            for step in ended
        ]
        reported.append({"kind": "metrics", "values": {}, "episodes": episodes, "step": int(ended[-1])})
    reported.append({"kind": "finished", "step": STEPS})
    return [
        {"seq": n + 1, "time": 1_700_000_000.0 + n, "frames": event["step"], **event}
        for n, event in enumerate(reported)
    ]


def measure(client: TestClient, path: str, runs: str) -> None:
    """Measure the wall time of some requests, and the processor time of this process."""
    took = []
    for _ in range(REQUESTS):
        wall, processor = time.perf_counter(), time.process_time()
        answer = client.get(f"/api/v1/{path}runs={runs}").raise_for_status()
        took.append((time.perf_counter() - wall, time.process_time() - processor))
    by_clock, of_processor = np.median(took, axis=0) * 1e3
    size = len(answer.content) / 1024
    print(f"{path[:-1]}: {by_clock:.0f} ms, {of_processor:.0f} ms of processor time, {size:.0f} KiB")


if __name__ == "__main__":
    main()
