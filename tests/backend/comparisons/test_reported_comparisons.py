"""Comparisons of reported runs, which work like those of trained runs."""

from typing import Any

from tests.factories import Api


def report(api: Api, key: str, returns: float, **more: Any) -> int:
    """Report a finished run with the same return at several steps."""
    writer = {"key": key, "writer": "w"}
    created = api.user.post("/api/v1/reported/runs", json={"method": "PPO", "env": "my-env", **writer, **more})
    run_id = int(created.json()["run_id"])
    values = {"episode/return": returns, "loss, mean": 1.0}
    events: list[dict[str, Any]] = [
        {"seq": step, "time": 100.0 + step, "kind": "metrics", "step": step, "values": values} for step in range(1, 6)
    ]
    events.append({"seq": 6, "time": 106.0, "kind": "end", "outcome": "finished"})
    logged = api.user.post(f"/api/v1/reported/runs/{run_id}/events", json={"writer": "w", "events": events})
    assert logged.status_code == 200, logged.text
    return run_id


def compare(api: Api, runs: list[int], path: str = "compare", **query: Any) -> dict[str, Any]:
    """Return a comparison."""
    response = api.user.get(f"/api/v1/{path}", params={"runs": ",".join(map(str, runs)), **query})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def test_runs_that_differ_only_in_their_seed_are_one_group_with_a_verdict(api: Api) -> None:
    fast = [report(api, f"a{seed}", 10.0 + seed / 10, config={"lr": 0.1, "seed": seed}) for seed in range(3)]
    slow = [report(api, f"b{seed}", 5.0 + seed / 10, config={"lr": 0.2, "seed": seed}) for seed in range(3)]
    found = compare(api, fast + slow)
    assert found["groups"] == [fast, slow]
    different = {row["field"] for row in found["differences"] if not row["same"]}
    assert different == {"lr", "seed"}
    verdict = api.user.get("/api/v1/compare/verdict", params={"runs": ",".join(map(str, fast + slow))}).json()
    assert [standing["name"] for standing in verdict["standings"]] == ["PPO · my-env · lr 0.1", "PPO · my-env · lr 0.2"]
    assert verdict["pairs"][0]["significant"] is True


def test_methods_and_environments_differ_without_a_configuration(api: Api) -> None:
    ppo, sac = report(api, "a", 1.0), report(api, "b", 1.0, method="SAC")
    found = compare(api, [ppo, sac])
    assert found["groups"] == [[ppo], [sac]]
    (row,) = [row for row in found["differences"] if not row["same"]]
    assert (row["field"], row["values"]) == ("algorithm", {str(ppo): "PPO", str(sac): "SAC"})


def test_runs_without_a_recorded_seed_are_independent(api: Api) -> None:
    runs = [report(api, f"a{number}", 1.0) for number in range(3)]
    assert compare(api, runs)["groups"] == [runs]
    repeated = [report(api, f"b{number}", 1.0, config={"seed": 1}) for number in range(2)]
    assert compare(api, repeated)["groups"] == [[run] for run in repeated]


def test_a_reported_and_a_trained_run_are_compared(api: Api) -> None:
    trained, _attempt = api.running()
    reported = report(api, "a", 1.0, env="CartPole-v1", config={"learning_rate": 0.1})
    found = compare(api, [trained, reported])
    assert [run["origin"] for run in found["runs"]] == ["trained", "reported"]
    assert len({run["label"] for run in found["runs"]}) == 2
    figure = compare(api, [trained, reported], "figures/curves", metric="loss, mean")
    assert figure["data"]
