"""Tests of runs without a score and the state of their evaluations."""

from typing import Any

from tests.backend.games.conftest import Scorer
from tests.factories import Api, evaluated_episode, event, started

NO_WORKER = "No worker that takes jobs is connected: start one with `arcadia worker --jobs 1`."
DAMAGED = "The checkpoint is damaged: its hash is not the announced one."


def shown(scorer: Scorer) -> dict[str, Any] | None:
    """Return the evaluation shown for the only run of Pong."""
    (run,) = scorer.game("pong")["waiting"]
    evaluation: dict[str, Any] | None = run["evaluation"]
    return evaluation


def fail(api: Api, **ended: Any) -> None:
    """Fail the oldest queued job."""
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    failed = {"message": DAMAGED, "traceback": "", **ended}
    assert api.send_of_job(*held, started(1), event(2, "failed", **failed)).is_success
    assert api.release_job(*held, "failed", message=failed["message"]).json() == {"state": "failed"}


def test_an_unevaluated_run_shows_no_evaluation(scorer: Scorer) -> None:
    scorer.run()
    assert shown(scorer) is None


def test_a_queued_evaluation_shows_its_reason(scorer: Scorer, api: Api) -> None:
    requested = api.evaluate(scorer.run())
    queued = shown(scorer)
    assert queued is not None
    assert (queued["id"], queued["job_id"]) == (requested["id"], requested["job_id"])
    assert (queued["state"], queued["reason"], queued["traceback"]) == ("queued", NO_WORKER, None)
    assert (queued["protocol"], queued["step"]) == ("no-op-5min", 100)
    assert (queued["episodes_done"], queued["episodes_total"]) == (0, 30)
    api.beat(job_slots=1)
    waiting = shown(scorer)
    assert waiting is not None
    assert waiting["reason"] == api.evaluation(requested["id"])["reason"] == "A worker is about to take it."


def test_a_running_evaluation_shows_its_progress(scorer: Scorer, api: Api) -> None:
    run_id = scorer.run()
    played = api.evaluate(run_id)["id"]
    claimed = api.claim_job()
    ended = evaluated_episode(2, 1, 30)
    assert api.send_of_job(claimed["job_id"], claimed["attempt"], started(1), ended).is_success
    api.evaluate(run_id, seed=2)
    evaluation = shown(scorer)
    assert evaluation is not None
    assert (evaluation["id"], evaluation["state"], evaluation["episodes_done"]) == (played, "running", 1)


def test_a_failed_evaluation_shows_its_reason(scorer: Scorer, api: Api) -> None:
    requested = api.evaluate(scorer.run(), protocol="no-op-30min")
    fail(api)
    evaluation = shown(scorer)
    assert evaluation is not None
    assert (evaluation["id"], evaluation["state"], evaluation["protocol"]) == (requested["id"], "failed", "no-op-30min")
    assert (evaluation["reason"], evaluation["traceback"]) == (DAMAGED, None)


def test_a_failure_caused_by_a_bug_has_a_traceback(scorer: Scorer, api: Api) -> None:
    api.evaluate(scorer.run())
    fail(api, message="RuntimeError: odd", traceback="Traceback: in play")
    evaluation = shown(scorer)
    assert evaluation is not None
    assert (evaluation["reason"], evaluation["traceback"]) == ("RuntimeError: odd", "Traceback: in play")


def test_a_new_evaluation_replaces_a_failed_one(scorer: Scorer, api: Api) -> None:
    run_id = scorer.run()
    api.evaluate(run_id)
    fail(api)
    again = api.evaluate(run_id)["id"]
    evaluation = shown(scorer)
    assert evaluation is not None
    assert (evaluation["id"], evaluation["state"], evaluation["reason"]) == (again, "queued", NO_WORKER)
    api.user.post(f"/api/v1/evaluations/{again}/cancel")
    assert shown(scorer) is None


def test_a_run_with_a_score_is_not_listed(scorer: Scorer, api: Api) -> None:
    run_id = scorer.run()
    api.evaluate(run_id)
    fail(api)
    scorer.evaluate(run_id, 3.0)
    assert scorer.game("pong")["waiting"] == []


def test_each_run_shows_its_own_evaluation(scorer: Scorer, api: Api) -> None:
    runs = [scorer.run() for _ in range(3)]
    api.evaluate(runs[0])
    fail(api)
    api.evaluate(runs[2])
    waiting = scorer.game("pong")["waiting"]
    states = [(run["id"], run["evaluation"] and run["evaluation"]["state"]) for run in waiting]
    assert states == [(runs[2], "queued"), (runs[1], None), (runs[0], "failed")]
