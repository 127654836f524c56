"""Runs without a score, and what their evaluations wait for or failed of."""

from typing import Any

from tests.backend.games.conftest import Scorer
from tests.factories import Api, evaluated_episode, event, started

NO_WORKER = "No worker that takes jobs is connected: start one with `arcadia worker --jobs 1`."
DAMAGED = "The checkpoint is damaged: its hash is not the announced one."


def told(scorer: Scorer) -> dict[str, Any] | None:
    """What is told of the evaluation of the only run of Pong."""
    (run,) = scorer.game("pong")["waiting"]
    evaluation: dict[str, Any] | None = run["evaluation"]
    return evaluation


def fail(api: Api, **ended: Any) -> None:
    """Do the oldest waiting job in vain."""
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    failed = {"message": DAMAGED, "traceback": "", **ended}
    assert api.send_of_job(*held, started(1), event(2, "failed", **failed)).is_success
    assert api.release_job(*held, "failed", message=failed["message"]).json() == {"state": "failed"}


def test_a_run_that_nobody_has_evaluated_tells_of_no_evaluation(scorer: Scorer) -> None:
    scorer.run()
    assert told(scorer) is None


def test_an_evaluation_says_why_it_waits(scorer: Scorer, api: Api) -> None:
    asked = api.evaluate(scorer.run())
    assert told(scorer) == {
        "id": asked["id"],
        "state": "queued",
        "reason": NO_WORKER,
        "traceback": None,
        "protocol": "no-op-5min",
        "step": 100,
        "episodes_done": 0,
        "episodes_total": 30,
    }
    api.beat(job_slots=1)
    waiting = told(scorer)
    assert waiting is not None
    assert waiting["reason"] == api.evaluation(asked["id"])["reason"] == "A worker is about to take it."


def test_one_that_is_played_says_how_far_it_is(scorer: Scorer, api: Api) -> None:
    run_id = scorer.run()
    played = api.evaluate(run_id)["id"]
    claimed = api.claim_job()
    ended = evaluated_episode(2, 1, 30)
    assert api.send_of_job(claimed["job_id"], claimed["attempt"], started(1), ended).is_success
    api.evaluate(run_id, seed=2)
    evaluation = told(scorer)
    assert evaluation is not None
    assert (evaluation["id"], evaluation["state"], evaluation["episodes_done"]) == (played, "running", 1)


def test_one_that_failed_says_of_what(scorer: Scorer, api: Api) -> None:
    asked = api.evaluate(scorer.run(), protocol="no-op-30min")
    fail(api)
    evaluation = told(scorer)
    assert evaluation is not None
    assert (evaluation["id"], evaluation["state"], evaluation["protocol"]) == (asked["id"], "failed", "no-op-30min")
    assert (evaluation["reason"], evaluation["traceback"]) == (DAMAGED, None)


def test_a_failure_that_is_a_bug_comes_with_its_traceback(scorer: Scorer, api: Api) -> None:
    api.evaluate(scorer.run())
    fail(api, message="RuntimeError: odd", traceback="Traceback: in play")
    evaluation = told(scorer)
    assert evaluation is not None
    assert (evaluation["reason"], evaluation["traceback"]) == ("RuntimeError: odd", "Traceback: in play")


def test_a_failure_is_no_longer_told_once_another_is_asked_for(scorer: Scorer, api: Api) -> None:
    run_id = scorer.run()
    api.evaluate(run_id)
    fail(api)
    again = api.evaluate(run_id)["id"]
    evaluation = told(scorer)
    assert evaluation is not None
    assert (evaluation["id"], evaluation["state"], evaluation["reason"]) == (again, "queued", NO_WORKER)
    api.user.post(f"/api/v1/evaluations/{again}/cancel")
    assert told(scorer) is None


def test_a_run_whose_second_evaluation_found_a_score_waits_no_more(scorer: Scorer, api: Api) -> None:
    run_id = scorer.run()
    api.evaluate(run_id)
    fail(api)
    scorer.evaluate(run_id, 3.0)
    assert scorer.game("pong")["waiting"] == []


def test_each_run_tells_of_its_own_evaluation(scorer: Scorer, api: Api) -> None:
    runs = [scorer.run() for _ in range(3)]
    api.evaluate(runs[0])
    fail(api)
    api.evaluate(runs[2])
    waiting = scorer.game("pong")["waiting"]
    states = [(run["id"], run["evaluation"] and run["evaluation"]["state"]) for run in waiting]
    assert states == [(runs[2], "queued"), (runs[1], None), (runs[0], "failed")]
