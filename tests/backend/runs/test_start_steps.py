"""Steps of a starting run: the wait, the claim, and the steps that the trainer reports."""

import time
from datetime import datetime
from typing import Any

from tests.factories import Api, event, started


def step_event(seq: int, name: str | None, at: float) -> dict[str, Any]:
    """Return an event that starts a step, or that ends the last step."""
    return event(seq, "start_step", name=name, time=at)


def steps(api: Api, run_id: int) -> list[tuple[str, bool]]:
    """Return the name of each step, and whether it has ended."""
    return [(step["name"], step["ended_at"] is not None) for step in api.run(run_id)["start_steps"]]


def reason(api: Api, run_id: int) -> str | None:
    """Return the reason in the list and on the run's page, which must be the same."""
    (listed,) = [run for run in api.user.get("/api/v1/runs").json()["items"] if run["id"] == run_id]
    shown: str | None = api.run(run_id)["state_reason"]
    assert listed.get("state_reason") == shown
    return shown


def test_run_has_steps_until_its_first_update(api: Api) -> None:
    run_id = api.launch()["id"]
    assert steps(api, run_id) == [("Waiting for a worker", False)]
    attempt = api.claim()["attempt"]
    waited = [("Waiting for a worker", True), ("Worker w1 took the run", False)]
    assert (steps(api, run_id), reason(api, run_id)) == (waited, "Worker w1 took the run")
    now = time.time()
    api.send(run_id, attempt, step_event(1, "Loading PyTorch", now))
    assert (api.run(run_id)["state"], reason(api, run_id)) == ("starting", "Loading PyTorch")
    api.send(run_id, attempt, started(2), step_event(3, "Starting 32 environments", now + 2.5))
    assert (api.run(run_id)["state"], reason(api, run_id)) == ("running", "Starting 32 environments")
    api.send(run_id, attempt, step_event(4, "First update", now + 3), step_event(5, None, now + 4))
    assert (api.run(run_id)["state"], reason(api, run_id)) == ("running", None)
    names = ["Waiting for a worker", "Worker w1 took the run", "Loading PyTorch", "Starting 32 environments"]
    assert steps(api, run_id) == [(name, True) for name in [*names, "First update"]]


def test_resumed_attempt_has_its_own_steps(api: Api) -> None:
    run_id = api.launch()["id"]
    attempt = api.claim()["attempt"]
    api.send(run_id, attempt, step_event(1, "Loading PyTorch", time.time()))
    api.act(run_id, "pause")
    api.release(run_id, attempt, "stopped")
    assert (steps(api, run_id), reason(api, run_id)) == ([], None)
    resumed = time.time()
    api.act(run_id, "resume")
    assert steps(api, run_id) == [("Waiting for a worker", False)]
    api.claim("w2")
    assert steps(api, run_id) == [("Waiting for a worker", True), ("Worker w2 took the run", False)]
    (waiting, _) = api.run(run_id)["start_steps"]
    assert datetime.fromisoformat(waiting["began_at"]).timestamp() >= resumed - 1


def test_slow_worker_clock_gives_no_negative_duration(api: Api) -> None:
    run_id = api.launch()["id"]
    attempt = api.claim()["attempt"]
    api.send(run_id, attempt, step_event(1, "Loading PyTorch", 1_000.0), step_event(2, None, 1_001.0))
    for step in api.run(run_id)["start_steps"]:
        assert step["ended_at"] >= step["began_at"]
