"""The state of a run after its worker releases it."""

import pytest

from tests.factories import Api, event


@pytest.mark.parametrize(
    ("wish", "outcome", "state"),
    [
        (None, "finished", "finished"),
        (None, "failed", "failed"),
        (None, "stopped", "queued"),
        (None, "drained", "queued"),
        (None, "lost", "queued"),
        ("pause", "stopped", "paused"),
        ("pause", "drained", "paused"),
        ("pause", "lost", "paused"),
        ("pause", "finished", "finished"),
        ("stop", "stopped", "stopped"),
        ("stop", "drained", "stopped"),
        ("stop", "lost", "stopped"),
        ("stop", "failed", "failed"),
    ],
)
def test_outcome_and_desired_state_decide(api: Api, wish: str | None, outcome: str, state: str) -> None:
    run_id, attempt = api.running()
    if wish:
        api.act(run_id, wish)
    assert api.release(run_id, attempt, outcome).json() == {"state": state}
    run = api.run(run_id)
    assert run["state"] == state
    assert run["worker"] is None
    assert (run["finished_at"] is not None) == (state in ("finished", "failed", "stopped"))


def test_a_repeated_release_changes_nothing(api: Api) -> None:
    run_id, attempt = api.running()
    for _ in range(2):
        assert api.release(run_id, attempt, "lost").json() == {"state": "queued"}
    assert "again" not in str(api.user.get(f"/api/v1/runs/{run_id}/log").json())
    assert api.release(run_id, attempt, "failed", message="No space").json() == {"state": "queued"}
    (warning,) = [line for line in api.run(run_id)["warnings"] if "again" in line]
    assert "attempt 1 again, now as failed (No space). The first report counts: lost." in warning
    api.claim()
    response = api.release(run_id, attempt, "finished")
    assert response.status_code == 409
    assert response.json()["type"].endswith("stale-attempt")
    assert api.run(run_id)["state"] == "starting"


def test_a_failure_shows_its_traceback(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, event(2, "failed", message="division by zero", traceback="Traceback …"))
    assert api.run(run_id)["failure"] is None, "the run fails when the worker releases it"
    api.release(run_id, attempt, "failed")
    run = api.run(run_id)
    assert run["failure"] == {"message": "division by zero", "traceback": "Traceback …"}
    assert run["state_reason"] == "division by zero"


def test_a_lost_trainer_that_reported_its_end_has_finished(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, event(2, "finished", step=1_000))
    assert api.release(run_id, attempt, "lost").json() == {"state": "finished"}
    assert api.run(run_id)["step"] == 1_000


def test_the_sixth_loss_fails_the_run_with_the_reason(api: Api) -> None:
    run_id = api.launch()["id"]
    for loss in range(1, 6):
        attempt = api.claim()["attempt"]
        assert attempt == loss
        assert api.release(run_id, attempt, "lost", message="The trainer was killed.").json() == {"state": "queued"}
        reason = api.run(run_id)["state_reason"]
        assert reason.startswith(f"The trainer was killed. Back in the queue, {loss} of at most 5 times.")
    assert api.release(run_id, api.claim()["attempt"], "lost", message="Killed again.").json() == {"state": "failed"}
    failure = api.run(run_id)["failure"]["message"]
    assert failure == "Killed again. It was put back in the queue 5 times already, which is the limit."
    log = api.user.get(f"/api/v1/runs/{run_id}/log").json()["items"]
    assert [line["level"] for line in log].count("warning") == 5
    assert log[-1]["level"] == "error"


def test_draining_is_not_counted_as_a_loss(api: Api) -> None:
    run_id = api.launch()["id"]
    for _ in range(7):
        assert api.release(run_id, api.claim()["attempt"], "drained").json() == {"state": "queued"}
    assert api.run(run_id)["state_reason"].startswith("Worker w1 was shut down.")
