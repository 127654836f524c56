"""The list of checkpoints on the run's page."""

from tests.factories import Api


def test_checkpoints_are_sorted_by_step_with_their_mean_returns(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100, return_mean=3.5, best=True)
    api.save(run_id, attempt, 3, 200, return_mean=2.5)
    rows = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    assert [(row["step"], row["frames"], row["return_mean"], row["available"]) for row in rows] == [
        (100, 400, 3.5, True),
        (200, 800, 2.5, True),
    ]


def test_a_missing_run_is_not_found(api: Api) -> None:
    answer = api.user.get("/api/v1/runs/999/checkpoints")
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is no run 999.")
