"""Launches of runs, and refused launches."""

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run
from tests.factories import CARTPOLE, Api


def test_configuration_is_completed_and_queued(api: Api) -> None:
    run = api.launch(name="  first  ", tags=["b", "a", "b"], notes="why", priority=3)
    assert (run["name"], run["state"], run["desired"], run["attempt"]) == ("first", "queued", "run", 0)
    assert (run["tags"], run["notes"], run["priority"], run["queue"]) == (["a", "b"], "why", 3, "cpu")
    assert (run["config"]["num_envs"], run["config"]["gamma"], run["total_steps"]) == (4, 0.99, 1_000)
    assert (run["parent"], run["failure"], run["worker"], run["last_return"]) == (None, None, None, None)
    assert run["created_at"].endswith("Z")
    assert api.run(run["id"]) == run


def test_preset_is_created_with_overrides(client: TestClient) -> None:
    run = client.post("/api/v1/runs", json={"preset": "paac-cartpole", "overrides": {"seed": 7}}).json()
    presets = {preset["name"]: preset["config"] for preset in client.get("/api/v1/presets").json()}
    assert run["config"] == {**presets["paac-cartpole"], "seed": 7}
    assert (run["name"], run["method"]) == ("PAAC on CartPole", "PAAC")


def test_cuda_run_is_in_the_gpu_queue_by_default(api: Api) -> None:
    cuda = {**CARTPOLE, "device": "cuda"}
    assert api.launch(config=cuda)["queue"] == "gpu"
    assert api.launch(config=cuda, queue="cpu")["queue"] == "cpu"
    assert api.launch(queue="gpu")["queue"] == "gpu"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"config": {**CARTPOLE, "num_envs": 0}}, "config.num_envs"),
        ({"config": {**CARTPOLE, "learning_rate": "fast"}}, "config.learning_rate"),
        ({"config": {**CARTPOLE, "lerning_rate": 1}}, "config.lerning_rate"),
        ({"config": {**CARTPOLE, "env": "os:system"}}, "config.env"),
        ({"config": {**CARTPOLE, "network": "nips"}}, "config.network"),
        ({"config": CARTPOLE, "overrides": {"num_envs": 10**9}}, "overrides.num_envs"),
        ({"preset": "paac-cartpole", "overrides": {"gamma": 2}}, "overrides.gamma"),
        ({"preset": "nothing"}, "preset"),
        ({"preset": "paac-pong", "config": CARTPOLE}, "config"),
        ({}, "config"),
        ({"config": CARTPOLE, "color": "red"}, "color"),
        ({"config": CARTPOLE, "name": " "}, "name"),
        ({"config": CARTPOLE, "name": "n" * 201}, "name"),
        ({"config": CARTPOLE, "tags": ["t"] * 21}, "tags"),
        ({"config": CARTPOLE, "tags": ["t" * 51]}, "tags.0"),
        ({"config": CARTPOLE, "notes": "n" * 20_001}, "notes"),
        ({"config": CARTPOLE, "priority": 1_001}, "priority"),
    ],
)
def test_invalid_field_is_reported_and_nothing_is_queued(api: Api, body: dict[str, object], field: str) -> None:
    response = api.user.post("/api/v1/runs", json=body)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert field in [error["field"] for error in problem["errors"]]
    assert problem["status"] == 422
    assert api.user.get("/api/v1/runs").json()["total"] == 0


def test_edit_changes_only_the_fields_sent(api: Api) -> None:
    run = api.launch(name="old", tags=["keep", "drop"], notes="n")
    changed = api.user.patch(f"/api/v1/runs/{run['id']}", json={"name": "new", "tags": ["keep", "add"]}).json()
    assert (changed["name"], changed["tags"], changed["notes"]) == ("new", ["add", "keep"], "n")
    assert api.run(run["id"]) == changed
    assert api.user.patch(f"/api/v1/runs/{run['id']}", json={"state": "running"}).status_code == 422


def test_missing_run_is_not_found(client: TestClient) -> None:
    response = client.get("/api/v1/runs/12")
    assert response.status_code == 404
    assert response.json() == {
        "type": "/problems/not-found",
        "title": "Not found",
        "status": 404,
        "detail": "There is no run 12.",
    }


def test_queued_run_has_a_reason(api: Api) -> None:
    run_id = api.launch()["id"]
    assert api.run(run_id)["state_reason"] == (
        "No CPU worker is connected: start one with `arcadia worker --queue cpu`."
    )
    api.beat("w1")
    assert api.run(run_id)["state_reason"] == "A CPU worker is about to take it."
    # One free worker claims one run.
    second = api.launch()["id"]
    unknown = f"When it starts is unknown: run {run_id} is ahead, and no run like it has been measured here."
    assert api.run(second)["state_reason"] == f"Waiting for a free CPU worker. 1 run is ahead. {unknown}"
    api.act(second, "stop")
    api.claim("w1")
    assert api.run(run_id)["state_reason"] == "Worker w1 took the run"
    waiting = api.launch()["id"]
    assert api.run(waiting)["state_reason"] == f"Waiting for a free CPU worker. It is next. {unknown}"


def test_run_that_a_free_worker_does_not_claim_has_a_reason(api: Api, database: Database) -> None:
    run_id = api.launch()["id"]
    api.beat("w1")
    with database.write() as session:
        run = session.get(Run, run_id)
        assert run is not None
        run.created_at -= timedelta(minutes=2)
    assert api.run(run_id)["state_reason"] == (
        "Next in the queue. A free CPU worker has not taken it yet: a busy host may need minutes."
    )


def test_ids_of_purged_runs_are_not_reused(api: Api) -> None:
    run_id = api.launch()["id"]
    api.act(run_id, "stop")
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert api.launch()["id"] > run_id
