"""Agent files: export of a checkpoint, and import as a run that is evaluated, recorded and watched."""

import json
from typing import Any

import pytest

from arcadia_workers.contract.agents import weights
from tests.backend.agents.conftest import Agents, unpack
from tests.factories import PONG, metrics, sha256, video
from tests.workers.trainer.agents.made_agents import STEP, TITLES


@pytest.mark.nightly
def test_an_exported_agent_has_its_evaluations_curve_and_video(agents: Agents) -> None:
    api = agents.api
    run_id = agents.train(name="My run")
    api.beat(job_slots=1)
    api.evaluate(run_id, episodes=2)
    api.play([10.0, 20.0])
    members = unpack(agents.export(run_id, checkpoint="best"))
    document = json.loads(members["agent.json"])
    assert document["name"] == "My run"
    assert [each["mean"] for each in document["evaluations"]] == [15.0]
    assert "| episodes | sampled | 2 | 15 | 1 to 3 |" in members["README.md"].decode()
    assert {"weights.safetensors", "agent.onnx", "play.py", "config.json"} < members.keys()
    assert "replay.mp4" not in members


def test_the_curve_and_the_replay_end_at_the_checkpoint(agents: Agents) -> None:
    api = agents.api
    run_id, attempt = agents.start()
    events = [metrics(3, 500, returns=[3.0]), metrics(4, 900, returns=[7.0])]
    assert api.send(run_id, attempt, *events).is_success
    for path, content, kind in ((f"{STEP}.mp4", b"film", "video"), (f"{STEP}.png", b"still", "poster")):
        api.upload(run_id, attempt, f"replays/{path}", content, kind)
    assert api.send(run_id, attempt, video(5, 1_000, STEP)).is_success
    members = unpack(agents.export(run_id))
    assert members["replay.mp4"] == b"film"
    assert b"<polyline" in members["curve.svg"]


@pytest.mark.required_cases(2)
@pytest.mark.parametrize("title", TITLES)
def test_an_imported_agent_has_the_same_weights(agents: Agents, title: str) -> None:
    run_id = agents.train(title)
    exported = agents.export(run_id)
    result = agents.load(exported, project="Visitors")
    run = agents.api.run(result["run_id"])
    assert (run["origin"], run["state"], run["project"]) == ("agent", "finished", "Visitors")
    assert (run["env"], run["algorithm"]) == (TITLES[title]["env"], TITLES[title]["algorithm"])
    assert (run["step"], run["frames"]) == (STEP, 4 * STEP)
    again = unpack(agents.export(result["run_id"]))
    assert weights.read(again["weights.safetensors"]) == weights.read(unpack(exported)["weights.safetensors"])
    assert agents.load(exported) == {**result, "already": True}


def test_an_imported_agent_is_recorded_evaluated_and_watched(agents: Agents) -> None:
    api = agents.api
    run_id = agents.load(agents.export(agents.train("q")))["run_id"]
    api.beat(job_slots=2)
    job = api.claim_job()
    assert (job["kind"], job["parameters"]) == ("recording", {"protocol": "episodes", "seed": 1, "episode": 0})
    evaluation = api.evaluate(run_id)
    assert evaluation["acting"] == {"name": "epsilon-greedy", "epsilon": 0.05}
    choices = api.user.get(f"/api/v1/runs/{run_id}/evaluation-choices").json()
    assert choices["usual_protocol"] == "episodes"
    api.play([1.0] * 30)
    assert api.user.post(f"/api/v1/runs/{run_id}/live", json={}).status_code == 201
    (checkpoint,) = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    assert (checkpoint["best"], checkpoint["best_by"]) == (True, "evaluation")


@pytest.mark.parametrize("action", ["clone", "fork", "resume"])
def test_an_imported_agent_cannot_be_trained(agents: Agents, action: str) -> None:
    result = agents.load(agents.export(agents.train()))
    body = {"checkpoint_id": result["checkpoint_id"]} if action == "fork" else {}
    response = agents.user.post(f"/api/v1/runs/{result['run_id']}/{action}", json=body)
    assert response.status_code == 409
    assert "imported" in response.json()["detail"]


def test_an_imported_agent_can_be_archived_and_imported_elsewhere(agents: Agents) -> None:
    run_id = agents.load(agents.export(agents.train()))["run_id"]
    archive = agents.user.get("/api/v1/archives", params={"runs": run_id}).content
    assert agents.user.post(f"/api/v1/runs/{run_id}/archive").status_code == 200
    assert agents.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    imported = agents.user.post("/api/v1/archives", content=archive).json()["runs"]
    assert agents.export(imported[0])


def test_runs_without_checkpoints_have_no_agent(agents: Agents) -> None:
    run_id = agents.api.launch(config=PONG)["id"]
    response = agents.user.get(f"/api/v1/runs/{run_id}/agent")
    assert response.status_code == 409
    assert "has no checkpoint yet" in response.json()["detail"]


def test_a_damaged_checkpoint_is_not_exported(agents: Agents) -> None:
    api = agents.api
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    response = agents.user.get(f"/api/v1/runs/{run_id}/agent")
    assert response.status_code == 409
    assert "cannot be read" in response.json()["detail"]


def test_equal_checkpoints_make_equal_files(agents: Agents) -> None:
    run_id = agents.train()
    first: Any = sha256(agents.export(run_id))
    assert sha256(agents.export(run_id)) == first
