"""The choices for an evaluation of a run, and the best of its evaluations."""

from typing import Any

from tests.factories import Api, start_set

PONG = {"algorithm": "gorila", "env": "ALE/Pong-v5", "total_steps": 100_000}


def choices(api: Api, **more: Any) -> tuple[int, dict[str, Any]]:
    """Return a run and its choices for an evaluation."""
    run_id = int(api.launch(**more)["id"])
    return run_id, api.user.get(f"/api/v1/runs/{run_id}/evaluation-choices").json()


def fitting(offered: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the choices that fit the run."""
    return [each for each in offered if each["unfit_because"] is None]


def test_protocols_of_other_environments_are_listed_with_the_reason(api: Api) -> None:
    _, offered = choices(api)
    assert [each["name"] for each in fitting(offered["protocols"])] == ["episodes"]
    assert offered["usual_protocol"] == "episodes"
    refused = {each["name"]: each["unfit_because"] for each in offered["protocols"] if each["unfit_because"]}
    assert refused["no-op-5min"] == "no-op-5min is not for CartPole-v1: use episodes"
    assert [each["acting"]["name"] for each in fitting(offered["acting"])] == ["sampled", "greedy", "epsilon-greedy"]
    assert offered["usual_acting"]["name"] == "sampled"


def test_ways_of_acting_depend_on_the_method(api: Api) -> None:
    _, offered = choices(api, config=PONG, queue="cpu")
    assert [each["name"] for each in fitting(offered["protocols"])] == ["no-op-5min", "no-op-30min", "sticky-30min"]
    assert [each["acting"]["name"] for each in fitting(offered["acting"])] == ["greedy", "epsilon-greedy"]
    assert offered["usual_acting"] == {"name": "epsilon-greedy", "epsilon": 0.05}
    human, agent = offered["protocols"][3:5]
    assert "there are none of a person's play of Pong yet" in human["unfit_because"]
    assert (human["start_sets"], offered["protocols"][0]["start_sets"]) == ([], None)
    stored = api.import_starts(start_set("agent"), "of a good one")
    _, offered = choices(api, config=PONG, queue="cpu")
    human, agent = offered["protocols"][3:5]
    assert (agent["unfit_because"], agent["start_sets"]) == (None, [stored])
    assert "there are none of a person's play" in human["unfit_because"]


def test_every_offered_choice_is_accepted(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    offered = api.user.get(f"/api/v1/runs/{run_id}/evaluation-choices").json()
    for protocol in fitting(offered["protocols"]):
        for way in fitting(offered["acting"]):
            api.evaluate(run_id, protocol=protocol["name"], acting=way["acting"])


def test_the_best_evaluation_is_from_the_newest_per_checkpoint_with_the_runs_protocol(api: Api) -> None:
    pong = {**PONG, "algorithm": "paac", "num_envs": 4}
    run_id, attempt = api.running(config=pong)

    def best() -> dict[str, Any] | None:
        found: dict[str, Any] | None = api.user.get(f"/api/v1/runs/{run_id}/evaluations").json()["best"]
        return found

    def play(checkpoint: int, score: Any, protocol: str = "no-op-5min") -> int:
        asked: int = api.evaluate(run_id, checkpoint=checkpoint, protocol=protocol)["id"]
        api.play([score], protocol=protocol, env="ALE/Pong-v5")
        return asked

    early, late = (api.save(run_id, attempt, seq, 100 * seq) for seq in (2, 3))
    assert best() is None
    play(early, 30.0)
    play(late, 99.0, "no-op-30min")
    play(late, "NaN")
    api.evaluate(run_id, checkpoint=early, acting={"name": "greedy"}, protocol="no-op-5min")
    api.play([98.0], protocol="no-op-5min", env="ALE/Pong-v5")
    api.evaluate(run_id, checkpoint=late)
    first = best()
    assert first is not None
    assert (first["checkpoint_id"], first["mean"]) == (early, 30.0)
    api.claim_job()
    play(early, 5.0)
    last = play(late, 6.0)
    second = best()
    assert second is not None
    assert (second["id"], second["mean"], second["protocol"]) == (last, 6.0, "no-op-5min")
