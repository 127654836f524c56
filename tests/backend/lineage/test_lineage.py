"""The lineage of a run: ancestors, checkpoints, evaluations, forks and agents."""

from tests.backend.agents.conftest import Agents, agents
from tests.factories import Api
from tests.workers.trainer.agents.made_agents import STEP

__all__ = ["agents"]


def test_a_lineage_lists_the_results_of_each_checkpoint(agents: Agents) -> None:
    api = agents.api
    run_id = agents.train(name="Origin")
    (checkpoint,) = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    api.user.put("/api/v1/aliases", json={"name": "champion", "checkpoint_id": checkpoint["id"]})
    api.beat(job_slots=1)
    api.evaluate(run_id, episodes=2)
    api.play([10.0, 20.0])
    fork = api.act(run_id, "fork", checkpoint_id=checkpoint["id"], name="Fork")["id"]
    agent = agents.load(agents.export(run_id), name="Agent")["run_id"]

    lineage = api.user.get(f"/api/v1/runs/{run_id}/lineage").json()
    assert (lineage["ancestors"], lineage["run"]["name"]) == ([], "Origin")
    (found,) = lineage["checkpoints"]
    assert (found["step"], found["aliases"], found["available"]) == (STEP, ["champion"], True)
    assert [(each["mean"], each["episodes"]) for each in found["evaluations"]] == [(15.0, 2)]
    assert [each["id"] for each in found["forks"]] == [fork]
    assert [(each["id"], each["origin"]) for each in found["agents"]] == [(agent, "agent")]

    for child in (fork, agent):
        (parent,) = api.user.get(f"/api/v1/runs/{child}/lineage").json()["ancestors"]
        assert (parent["id"], parent["step"]) == (run_id, STEP)


def test_a_deleted_ancestor_is_mentioned(api: Api) -> None:
    run_id, attempt = api.running()
    checkpoint = api.save(run_id, attempt, 2, 100)
    fork = api.act(run_id, "fork", checkpoint_id=checkpoint)["id"]
    api.release(run_id, attempt, "finished")
    api.act(run_id, "archive")
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    lineage = api.user.get(f"/api/v1/runs/{fork}/lineage").json()
    assert (lineage["ancestors"], lineage["ancestor_deleted"]) == ([], True)
