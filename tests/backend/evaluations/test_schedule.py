"""Scheduled evaluations of new checkpoints."""

from typing import Any

import pytest

from tests.factories import CARTPOLE, Api, started

EVERY_THOUSAND = {**CARTPOLE, "total_steps": 100_000, "evaluate_every_steps": 1_000}


def steps(api: Api, run_id: int) -> list[int]:
    """Return the steps of the evaluated checkpoints in the order of their evaluations."""
    return [row["step"] for row in reversed(api.evaluations(run_id))]


def save(api: Api, run_id: int, attempt: int, *wanted: int, first: int = 2) -> None:
    """Save a checkpoint at each step."""
    for seq, step in enumerate(wanted, start=first):
        api.save(run_id, attempt, seq, step)


def test_the_first_checkpoint_at_or_after_each_multiple_is_evaluated(api: Api) -> None:
    run_id, attempt = api.running(config=EVERY_THOUSAND)
    save(api, run_id, attempt, 500, 1_000, 1_400, 2_100, 2_900, 5_500, 5_800, 6_000)
    assert steps(api, run_id) == [1_000, 2_100, 5_500, 6_000]
    (first, *_) = reversed(api.evaluations(run_id))
    assert (first["origin"], first["protocol"], first["episodes_total"]) == ("schedule", "episodes", 30)


def test_without_a_schedule_nothing_is_evaluated(api: Api) -> None:
    run_id, attempt = api.running()
    save(api, run_id, attempt, 1_000, 2_000)
    assert steps(api, run_id) == []


def test_a_checkpoint_that_is_reported_twice_is_evaluated_once(api: Api) -> None:
    run_id, attempt = api.running(config=EVERY_THOUSAND)
    for _ in range(2):
        save(api, run_id, attempt, 1_000)
    assert steps(api, run_id) == [1_000]


def test_superseded_checkpoints_are_evaluated_again(api: Api) -> None:
    run_id, attempt = api.running(config=EVERY_THOUSAND)
    save(api, run_id, attempt, 1_000, 2_000)
    api.release(run_id, attempt, "lost")
    second = api.claim()["attempt"]
    api.send(run_id, second, started(1, resumed_from=1_000))
    save(api, run_id, second, 1_500, 2_000)
    assert steps(api, run_id) == [1_000, 2_000, 2_000]


def test_a_fork_is_not_evaluated_for_steps_of_its_parent(api: Api) -> None:
    run_id, attempt = api.running(config=EVERY_THOUSAND)
    checkpoint_id = api.save(run_id, attempt, 2, 1_500)
    fork = api.act(run_id, "fork", checkpoint_id=checkpoint_id)["id"]
    api.release(run_id, attempt, "finished")
    forked = api.claim()["attempt"]
    api.send(fork, forked, started(1, resumed_from=1_500))
    save(api, fork, forked, 1_900, 2_000)
    assert steps(api, fork) == [2_000]


def test_a_schedule_far_ahead_of_the_workers_waits_for_an_evaluation(api: Api) -> None:
    run_id, attempt = api.running(config=EVERY_THOUSAND)
    save(api, run_id, attempt, *range(1_000, 12_500, 1_000), 12_300)
    api.release(run_id, attempt, "finished")
    ten = list(range(1_000, 11_000, 1_000))
    assert steps(api, run_id) == ten
    api.play([1.0])
    assert steps(api, run_id) == [*ten, 12_300], "the last one is not skipped"


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(("method", "path"), [("POST", "/cancel"), ("DELETE", "")], ids=["cancelled", "removed"])
@pytest.mark.parametrize("chosen", [0, -1], ids=["the first", "the last"])
def test_the_last_checkpoint_is_evaluated_after_another_is_cancelled_or_removed(
    api: Api, method: str, path: str, chosen: int
) -> None:
    run_id, attempt = api.running(config=EVERY_THOUSAND)
    save(api, run_id, attempt, *range(1_000, 12_500, 1_000), 12_300)
    api.release(run_id, attempt, "finished")
    given_up = list(reversed(api.evaluations(run_id)))[chosen]
    assert api.user.request(method, f"/api/v1/evaluations/{given_up['id']}{path}").is_success
    assert steps(api, run_id)[-1] == 12_300
    waiting = [row["step"] for row in api.evaluations(run_id) if row["state"] == "queued"]
    assert (len(waiting), given_up["step"] in waiting) == (10, False)


def test_a_removed_evaluation_is_not_repeated(api: Api) -> None:
    run_id, attempt = api.running(config=EVERY_THOUSAND)
    save(api, run_id, attempt, *range(1_000, 10_500, 1_000))
    newest = api.evaluations(run_id)[0]
    assert api.user.delete(f"/api/v1/evaluations/{newest['id']}").status_code == 204
    save(api, run_id, attempt, 10_400, first=12)
    assert steps(api, run_id) == list(range(1_000, 9_500, 1_000)), "the interval of the removed evaluation stays used"
    save(api, run_id, attempt, 11_100, first=13)
    assert steps(api, run_id)[-1] == 11_100


@pytest.mark.parametrize(
    ("config", "reported"),
    [
        ({"evaluation_protocol": "no-op-5min"}, "no-op-5min is not for CartPole-v1: use episodes"),
        ({"env": "ALE/Pong-v5", "evaluation_protocol": "episodes"}, "episodes is not for ALE/Pong-v5"),
        ({"evaluate_every_steps": -1}, "evaluate_every_steps"),
    ],
)
def test_an_invalid_schedule_is_refused_at_launch(api: Api, config: dict[str, Any], reported: str) -> None:
    response = api.user.post("/api/v1/runs", json={"config": {**CARTPOLE, **config}})
    assert response.status_code == 422
    assert reported in response.json()["detail"]
