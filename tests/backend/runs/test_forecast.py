"""Forecasts of runs: measured needs, the capacity of the workers, and the start."""

from typing import Any

import pytest

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import ArchiveImport
from tests.factories import CARTPOLE, Api, event, metrics

GIB = 2**30


def preview(api: Api, **more: Any) -> dict[str, Any]:
    """Return the forecast of a CartPole run."""
    response = api.user.post("/api/v1/runs/preview", json={"config": CARTPOLE, **more})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def train(api: Api, steps_per_second: int, seconds: int, **usage: float) -> int:
    """Train a run to its end at this rate."""
    total = steps_per_second * seconds
    run_id, attempt = api.running(config={**CARTPOLE, "total_steps": total})
    values = {f"system/{name}": value for name, value in usage.items()}
    events = [
        {**metrics(2, 1, values), "time": 1_700_000_001.0},
        {**metrics(3, total, values), "time": 1_700_000_001.0 + seconds},
        {**event(4, "finished", total), "time": 1_700_000_001.0 + seconds},
    ]
    assert api.send(run_id, attempt, *events).status_code == 200
    assert api.release(run_id, attempt, "finished").status_code == 200
    return run_id


def test_without_runs_and_workers_the_forecast_lists_the_unknowns(api: Api) -> None:
    found = preview(api)
    assert (found["measured_runs"], found["measured_on"], found["seconds"]) == (0, None, None)
    assert (found["memory_bytes"], found["cores"], found["gpu_memory_bytes"]) == (None, None, None)
    assert found["capacity"] == {"workers": 0, "idle": 0, "cores": None, "memory_bytes": None, "devices": []}
    assert (found["starts_in_seconds"], found["start_unknown"]) == (None, "No CPU worker is connected.")


def test_needs_are_measured_from_earlier_runs_of_the_method(api: Api) -> None:
    train(api, 100, 10, rss_bytes=1.0 * GIB, cpu_percent=150.0)
    train(api, 100, 10, rss_bytes=2.0 * GIB, cpu_percent=170.0)
    found = preview(api, overrides={"total_steps": 50_000})
    assert (found["measured_runs"], found["measured_on"]) == (2, "PAAC on CartPole")
    assert found["steps_per_second"] == pytest.approx(100, rel=0.01)
    assert found["seconds"] == pytest.approx(500 + found["startup_seconds"], rel=0.01)
    assert (found["memory_bytes"], found["cores"]) == (2 * GIB, pytest.approx(1.6))
    similar = preview(api, overrides={"env": "Acrobot-v1"})
    assert similar["measured_on"] == "PAAC on similar environments"
    assert preview(api, overrides={"device": "cuda"})["measured_runs"] == 0


def test_imported_runs_are_not_measured_here(api: Api, database: Database) -> None:
    run_id = train(api, 100, 10)
    with database.write() as session:
        session.add(ArchiveImport(run_id=run_id, installation="i", source_id=1, content_sha256="0" * 64))
    assert preview(api)["measured_runs"] == 0


def test_a_free_worker_starts_a_run_immediately(api: Api) -> None:
    api.beat("w1", memory_bytes=4 * GIB, cores=2)
    api.beat("w2", memory_bytes=8 * GIB, cores=4)
    found = preview(api)
    assert found["capacity"] == {"workers": 2, "idle": 2, "cores": 4, "memory_bytes": 8 * GIB, "devices": ["cpu"]}
    assert (found["runs_ahead"], found["starts_in_seconds"]) == (0, 0)
    assert preview(api, queue="gpu")["start_unknown"] == "No GPU worker is connected."


def test_the_start_depends_on_the_runs_ahead(api: Api) -> None:
    train(api, 100, 10)
    first = api.launch(config={**CARTPOLE, "total_steps": 10_000})
    claimed = api.claim()
    api.beat("w1", run={"id": first["id"], "attempt": claimed["attempt"]})
    running = preview(api)
    assert running["capacity"]["idle"] == 0
    assert running["starts_in_seconds"] == pytest.approx(100, rel=0.05)
    api.launch(config={**CARTPOLE, "total_steps": 20_000})
    api.launch(config={**CARTPOLE, "total_steps": 90_000}, priority=-1)
    queued = preview(api)
    assert (queued["runs_ahead"], queued["starts_in_seconds"]) == (1, pytest.approx(300, rel=0.05))
    assert preview(api, priority=5)["runs_ahead"] == 0
    assert preview(api, priority=-5)["starts_in_seconds"] == pytest.approx(1_200, rel=0.05)


def test_an_unmeasured_run_ahead_makes_the_start_unknown(api: Api) -> None:
    api.beat("w1")
    ahead = api.launch()
    found = preview(api)
    assert (found["runs_ahead"], found["starts_in_seconds"]) == (1, None)
    assert found["start_unknown"] == f"Run {ahead['id']} is ahead, and no run like it has been measured here."


def test_an_invalid_configuration_is_refused_as_at_launch(api: Api) -> None:
    response = api.user.post("/api/v1/runs/preview", json={"config": CARTPOLE, "overrides": {"gamma": 2}})
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == ["overrides.gamma"]
