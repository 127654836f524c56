"""The same action on many runs."""

from tests.factories import Api


def test_runs_that_cannot_are_skipped_with_the_reason(api: Api) -> None:
    queued, stopped = api.launch()["id"], api.launch()["id"]
    api.act(stopped, "stop")
    result = api.user.post("/api/v1/runs/bulk", json={"action": "stop", "ids": [queued, stopped, 999, queued]}).json()
    assert result["done"] == [queued]
    assert result["skipped"] == [
        {"id": stopped, "reason": f"Run {stopped} has been stopped already, so there is nothing to stop."},
        {"id": 999, "reason": "There is no run 999."},
    ]
    assert api.run(queued)["state"] == "stopped"


def test_many_are_purged_at_once(api: Api) -> None:
    made = [api.launch()["id"] for _ in range(3)]
    for run_id in made[:2]:
        api.act(run_id, "stop")
    result = api.user.post("/api/v1/runs/bulk", json={"action": "purge", "ids": made}).json()
    assert result["done"] == made[:2]
    assert [row["id"] for row in api.user.get("/api/v1/runs").json()["items"]] == [made[2]]
