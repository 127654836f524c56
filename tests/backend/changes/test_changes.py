"""Changes of a run's configuration, from the request to the trainer's report."""

from typing import Any

import pytest

from tests.factories import CARTPOLE, Api, changed, event, metrics, started

LOWER = {"learning_rate": 0.001}
BEFORE = {"learning_rate": 0.0224}


def refused(api: Api, run_id: int, status: int, **body: Any) -> str:
    response = api.user.post(f"/api/v1/runs/{run_id}/changes", json=body)
    assert response.status_code == status, response.text
    detail: str = response.json()["detail"]
    return detail


def requested(api: Api, run_id: int, attempt: int) -> list[dict[str, Any]]:
    """Return the changes that the worker of a run gets."""
    changes: list[dict[str, Any]] = api.beat(run={"id": run_id, "attempt": attempt}).json()["changes"]
    return changes


def test_a_change_waits_until_the_trainer_reports_it(api: Api) -> None:
    run_id, attempt = api.running()
    change = api.change(run_id, LOWER)
    assert (change["number"], change["fields"], change["previous"]) == (1, LOWER, BEFORE)
    assert change["applied_at"] is change["applied_step"] is change["attempt"] is None
    assert change["requested_by"] == "testclient (API)"
    assert api.run(run_id)["config"]["learning_rate"] == 0.0224
    assert requested(api, run_id, attempt) == [{"number": 1, "fields": LOWER, "step": 0}]

    report = changed(2, 400, 1, LOWER, BEFORE)
    for _ in range(2):  # A worker may repeat its messages.
        assert api.send(run_id, attempt, report).is_success
    assert requested(api, run_id, attempt) == []
    assert api.run(run_id)["config"]["learning_rate"] == 0.001
    found = api.changes(run_id)
    assert found["start_config"]["learning_rate"] == 0.0224
    assert [(row["applied_step"], row["attempt"]) for row in found["items"]] == [(400, attempt)]
    log = [line["message"] for line in api.user.get(f"/api/v1/runs/{run_id}/log").json()["items"]]
    assert "Change 1 requested by testclient (API): learning rate 0.0224 → 0.001." in log
    assert log.count("Change 1 applied at step 400: learning rate 0.0224 → 0.001.") == 1
    assert api.run(run_id)["warnings"] == []
    assert api.send(run_id, attempt, changed(3, 500, 1, {"learning_rate": 0.5}, BEFORE)).is_success
    (warning,) = api.run(run_id)["warnings"]
    assert warning == "Change 1 was reported again with other values, which are not shown: learning_rate=0.5."


def test_an_applied_change_is_kept_in_the_next_attempt_and_applied_once(api: Api) -> None:
    run_id, attempt = api.running()
    api.change(run_id, LOWER)
    api.change(run_id, {"entropy_cost": 0.5})
    api.save(run_id, attempt, 2, 300)
    assert api.send(run_id, attempt, changed(3, 400, 1, LOWER, BEFORE)).is_success
    api.release(run_id, attempt, "lost")
    claim = api.claim()
    assert claim["config"]["learning_rate"] == 0.001
    assert claim["changes"] == [{"number": 2, "fields": {"entropy_cost": 0.5}, "step": 0}]

    # The second attempt repeats its report of the first change, as if the backend's response was lost.
    sent = [
        started(1, resumed_from=300),
        changed(2, 300, 1, LOWER, LOWER),
        changed(3, 300, 2, {"entropy_cost": 0.5}, {"entropy_cost": 0.01}),
    ]
    assert api.send(run_id, claim["attempt"], *sent).is_success
    rows = api.changes(run_id)["items"]
    assert [(row["applied_step"], row["attempt"]) for row in rows] == [(400, attempt), (300, claim["attempt"])]
    assert api.changes(run_id)["start_config"] == api.run(run_id)["config"] | BEFORE | {"entropy_cost": 0.01}


@pytest.mark.parametrize("field", ["gamma", "env", "seed", "num_envs", "network", "algorithm"])
def test_an_unsafe_field_is_refused_with_the_alternative(api: Api, field: str) -> None:
    run_id, _ = api.running()
    assert refused(api, run_id, 422, fields={field: CARTPOLE.get(field, 1)}) == (
        f"fields.{field}: a run cannot change this while it trains: fork the run from a checkpoint to change it"
    )


def test_wrong_values_are_explained(api: Api) -> None:
    run_id, attempt = api.running()
    assert "should be greater than 0, not -1" in refused(api, run_id, 422, fields={"learning_rate": -1})
    assert "did you mean learning_rate?" in refused(api, run_id, 422, fields={"learning_rat": 1})
    assert "the run has these values already" in refused(api, run_id, 422, fields={"learning_rate": 0.0224})
    assert "give fields or more_steps" in refused(api, run_id, 422)
    assert "not both" in refused(api, run_id, 422, fields={"total_steps": 5}, more_steps=5)
    api.send(run_id, attempt, metrics(2, 600))
    assert "has 600 steps already" in refused(api, run_id, 422, fields={"total_steps": 600})
    assert api.changes(run_id)["items"] == []


def test_more_steps_add_to_steps_that_are_still_pending(api: Api) -> None:
    run_id, _ = api.running()
    api.change(run_id, more_steps=500)
    assert api.change(run_id, more_steps=500)["fields"] == {"total_steps": 2_000}


def test_a_finished_run_trains_longer_from_its_last_checkpoint(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 1_000)
    assert api.send(run_id, attempt, event(3, "finished", 1_000)).is_success
    api.release(run_id, attempt, "finished")
    assert "has finished. Give it more than 1,000 total steps" in refused(api, run_id, 409, fields=LOWER)
    api.act(run_id, "archive")

    change = api.change(run_id, LOWER, more_steps=1_000)
    run = api.run(run_id)
    assert (run["state"], run["finished_at"], run["archived_at"]) == ("queued", None, None)
    claim = api.claim()
    assert [offered["step"] for offered in claim["checkpoints"]] == [1_000]
    fields = {**LOWER, "total_steps": 2_000}
    assert (
        claim["changes"]
        == [{"number": 1, "fields": fields, "step": 0}]
        == [{"number": 1, "fields": change["fields"], "step": 0}]
    )
    report = changed(2, 1_000, 1, fields, {**BEFORE, "total_steps": 1_000})
    assert api.send(run_id, claim["attempt"], started(1, resumed_from=1_000), report).is_success
    run = api.run(run_id)
    assert (run["total_steps"], run["config"]["total_steps"], run["state"]) == (2_000, 2_000, "running")


def test_a_failed_or_stopped_run_trains_longer(api: Api) -> None:
    for outcome in ("failed", "stopped"):
        run_id, attempt = api.running()
        api.save(run_id, attempt, 2, 600)
        if outcome == "stopped":
            api.act(run_id, "stop")
            assert "is stopping" in refused(api, run_id, 409, more_steps=500)
        api.release(run_id, attempt, outcome)
        api.change(run_id, more_steps=500)
        run = api.run(run_id)
        assert (run["state"], run["desired"], run["failure"]) == ("queued", "run", None)
        api.act(run_id, "stop")


def test_a_run_without_a_checkpoint_cannot_train_longer(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 1_000))
    api.release(run_id, attempt, "finished")
    assert "no checkpoint to continue from" in refused(api, run_id, 409, more_steps=5)


def test_a_run_that_finishes_before_it_sees_more_steps_is_queued_again(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 1_000)
    api.change(run_id, more_steps=500)
    api.send(run_id, attempt, event(3, "finished", 1_000))
    assert api.release(run_id, attempt, "finished").json() == {"state": "queued"}
    assert api.claim()["changes"][0]["fields"] == {"total_steps": 1_500}


def test_a_run_that_finishes_before_it_sees_another_change_is_finished(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 1_000)
    api.change(run_id, LOWER)
    assert api.release(run_id, attempt, "finished").json() == {"state": "finished"}


def test_a_paused_run_applies_the_change_when_it_continues(api: Api) -> None:
    run_id, attempt = api.running()
    api.act(run_id, "pause")
    api.release(run_id, attempt, "stopped")
    api.change(run_id, LOWER)
    assert api.run(run_id)["state"] == "paused"
    api.act(run_id, "resume")
    assert [change["fields"] for change in api.claim()["changes"]] == [LOWER]


def test_a_repeated_request_makes_one_change(api: Api) -> None:
    run_id, _ = api.running()
    for _ in range(2):
        response = api.user.post(
            f"/api/v1/runs/{run_id}/changes", json={"more_steps": 10}, headers={"Idempotency-Key": "a-key-of-a-client"}
        )
        assert response.status_code == 201
    assert len(api.changes(run_id)["items"]) == 1


def test_changes_are_marked_on_the_curve(api: Api) -> None:
    run_id, attempt = api.running()
    points = [metrics(2 + n, 100 * n, returns=[1.0]) for n in range(6)]
    api.change(run_id, LOWER)
    api.change(run_id, {"value_cost": 0.5})
    assert api.send(run_id, attempt, *points, changed(8, 250, 1, LOWER, BEFORE)).is_success
    marks = api.user.get(f"/api/v1/runs/{run_id}/marks").json()
    (mark,) = [mark for mark in marks if mark["kind"] == "change"]
    assert (mark["title"], mark["step"], mark["frames"]) == ("Learning rate 0.0224 → 0.001", 250, 1_000)
