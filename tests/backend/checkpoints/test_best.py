"""The best checkpoint: by evaluation if there is one, and by training otherwise. Jobs keep their checkpoints."""

from typing import Any

import pytest

from tests.factories import CARTPOLE, Api, evaluation, started, video

KEEP_FOUR = {**CARTPOLE, "checkpoints_kept": 4}


def rows(api: Api, run_id: int) -> dict[int, dict[str, Any]]:
    """Return a run's checkpoints by their steps."""
    return {row["step"]: row for row in api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()}


def best(api: Api, run_id: int) -> tuple[int, str]:
    """Return the step of the best checkpoint, and whether an evaluation or training decided."""
    ((step, by),) = [(step, row["best_by"]) for step, row in rows(api, run_id).items() if row["best"]]
    return step, by


def available(api: Api, run_id: int) -> list[int]:
    """Return the steps of the checkpoints that are kept."""
    return [step for step, row in rows(api, run_id).items() if row["available"]]


def record(api: Api, run_id: int, attempt: int, seq: int, step: int) -> None:
    """Report a replay of a step's checkpoint."""
    for ending, kind in (("mp4", "video"), ("png", "poster")):
        api.upload(run_id, attempt, f"replays/{step}.{ending}", f"{kind} of {step}".encode(), kind)
    assert api.send(run_id, attempt, video(seq, step, played=step)).is_success


def evaluated(api: Api, run_id: int, step: int, scores: list[float]) -> None:
    """Evaluate the checkpoint of a step."""
    api.evaluate(run_id, checkpoint=rows(api, run_id)[step]["id"])
    api.play(scores)


def test_evaluations_decide_the_best_checkpoint(api: Api) -> None:
    run_id, attempt = api.running()
    for seq, (step, trained) in enumerate(((100, 1.0), (200, 9.0), (300, 5.0)), start=2):
        api.save(run_id, attempt, seq, step, return_mean=trained)
    assert best(api, run_id) == (200, "training")
    evaluated(api, run_id, 100, [3.0])
    assert best(api, run_id) == (100, "evaluation")
    evaluated(api, run_id, 300, [4.0])
    assert best(api, run_id) == (300, "evaluation")
    evaluated(api, run_id, 100, [6.0])
    assert best(api, run_id) == (100, "evaluation"), "the newest evaluation of a checkpoint counts"
    api.save(run_id, attempt, 5, 400, return_mean=99.0)
    assert best(api, run_id) == (100, "evaluation")


def test_the_best_is_chosen_again_when_an_evaluation_is_removed(api: Api) -> None:
    run_id, attempt = api.running()
    for seq, (step, trained) in enumerate(((100, 1.0), (200, 9.0)), start=2):
        api.save(run_id, attempt, seq, step, return_mean=trained)
    api.release(run_id, attempt, "finished")
    evaluated(api, run_id, 200, [3.0])
    evaluated(api, run_id, 100, [5.0])
    assert best(api, run_id) == (100, "evaluation")
    for left in ((200, "evaluation"), (200, "training")):
        newest = api.evaluations(run_id)[0]["id"]
        assert api.user.delete(f"/api/v1/evaluations/{newest}").status_code == 204
        assert best(api, run_id) == left


@pytest.mark.parametrize("wanted", [{"episodes": 29}, {"acting": {"name": "greedy"}}], ids=["fewer", "greedily"])
def test_evaluations_with_fewer_episodes_or_another_acting_do_not_count(api: Api, wanted: dict[str, Any]) -> None:
    run_id, attempt = api.running()
    for seq, (step, trained) in enumerate(((100, 1.0), (200, 9.0)), start=2):
        api.save(run_id, attempt, seq, step, return_mean=trained)
    api.evaluate(run_id, checkpoint=rows(api, run_id)[100]["id"], **wanted)
    api.play([3.0])
    assert best(api, run_id) == (200, "training")


def test_a_lost_and_cancelled_evaluation_does_not_count(api: Api) -> None:
    run_id, attempt = api.running()
    for seq, (step, trained) in enumerate(((100, 1.0), (200, 9.0)), start=2):
        api.save(run_id, attempt, seq, step, return_mean=trained)
    number = api.evaluate(run_id, checkpoint=rows(api, run_id)[100]["id"])["id"]
    held = api.claim_job()["job_id"], 1
    api.send_of_job(*held, started(1), evaluation(2, [3.0] * 30))
    api.release_job(*held, "lost")
    assert best(api, run_id) == (200, "training"), "it will be repeated"
    api.user.post(f"/api/v1/evaluations/{number}/cancel")
    assert best(api, run_id) == (200, "training")
    assert api.user.get(f"/api/v1/runs/{run_id}/evaluations").json()["best"] is None


def test_superseded_checkpoints_are_not_the_best(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100, return_mean=1.0)
    left = api.save(run_id, attempt, 3, 200, return_mean=9.0)
    api.user.patch(f"/api/v1/runs/{run_id}/checkpoints/{left}", json={"pinned": True})
    evaluated(api, run_id, 200, [20.0])
    evaluated(api, run_id, 100, [5.0])
    assert best(api, run_id) == (200, "evaluation")
    second = api.lose(run_id, attempt, resumed_from=100)
    assert best(api, run_id) == (100, "evaluation")
    assert api.user.get(f"/api/v1/runs/{run_id}/evaluations").json()["best"]["step"] == 100
    api.save(run_id, second, 2, 300, return_mean=2.0)
    api.lose(run_id, second, resumed_from=300)
    assert best(api, run_id) == (100, "evaluation"), "still superseded after a third attempt resumed beyond it"


def test_the_best_by_evaluation_and_the_best_by_training_are_both_kept(api: Api) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR)
    for number in range(1, 5):
        api.save(run_id, attempt, 1 + number, 100 * number, return_mean=50.0 if number == 2 else number)
    evaluated(api, run_id, 300, [7.0])
    for number in range(5, 20):
        api.save(run_id, attempt, 1 + number, 100 * number, return_mean=number)
    there = {step: row["kept_as"] for step, row in rows(api, run_id).items() if row["available"]}
    assert there == {100: "first", 200: "spread", 300: "best", 1900: "last"}


def test_removing_an_evaluation_deletes_no_checkpoint_and_no_replay(api: Api) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR | {"checkpoints_kept": 3})
    for number in range(1, 4):
        api.save(run_id, attempt, 2 * number, 100 * number, return_mean=50.0 if number == 2 else number)
        record(api, run_id, attempt, 2 * number + 1, 100 * number)
    evaluated(api, run_id, 300, [7.0])
    for number in range(4, 8):
        api.save(run_id, attempt, 4 + number, 100 * number, return_mean=number)
    assert available(api, run_id) == [100, 200, 300, 700]
    assert api.user.delete(f"/api/v1/evaluations/{api.evaluations(run_id)[0]['id']}").status_code == 204
    assert available(api, run_id) == [100, 200, 300, 700]
    assert 300 in [row["step"] for row in api.user.get(f"/api/v1/runs/{run_id}/replays").json()]
    assert best(api, run_id) == (200, "training")
    api.save(run_id, attempt, 12, 2_000, return_mean=1.0)
    assert available(api, run_id) == [100, 200, 2_000], "the next save prunes checkpoints"


def test_a_checkpoint_stays_when_the_evaluation_that_waits_for_it_is_removed(api: Api) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR)
    for number in range(1, 5):
        api.save(run_id, attempt, 1 + number, 100 * number, return_mean=number)
    waiting = api.evaluate(run_id, checkpoint=rows(api, run_id)[300]["id"])["id"]
    api.save(run_id, attempt, 6, 500, return_mean=5.0)
    there = available(api, run_id)
    assert (len(there), 300 in there) == (5, True)
    assert api.user.delete(f"/api/v1/evaluations/{waiting}").status_code == 204
    assert available(api, run_id) == there


@pytest.mark.nightly
def test_a_checkpoint_that_a_queued_job_needs_is_not_pruned(api: Api) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR)
    for number in range(1, 5):
        api.save(run_id, attempt, 1 + number, 100 * number, return_mean=number)
    waiting = api.evaluate(run_id, checkpoint=rows(api, run_id)[300]["id"])["id"]
    for number in range(5, 20):
        api.save(run_id, attempt, 1 + number, 100 * number, return_mean=number)
    there = [step for step, row in rows(api, run_id).items() if row["available"]]
    assert 300 in there
    assert len(there) == 5
    api.user.post(f"/api/v1/evaluations/{waiting}/cancel")
    assert 300 in [step for step, row in rows(api, run_id).items() if row["available"]]
    api.save(run_id, attempt, 21, 2_000, return_mean=20)
    assert 300 not in [step for step, row in rows(api, run_id).items() if row["available"]]


@pytest.mark.nightly
def test_checkpoints_of_queued_jobs_are_pruned_after_their_evaluation(api: Api) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR)
    for number in range(1, 5):
        api.save(run_id, attempt, 1 + number, 100 * number, return_mean=number)
    api.evaluate(run_id, checkpoint=rows(api, run_id)[200]["id"])
    api.evaluate(run_id, checkpoint=rows(api, run_id)[300]["id"])
    for number in range(5, 20):
        api.save(run_id, attempt, 1 + number, 100 * number, return_mean=number)
    assert len([row for row in rows(api, run_id).values() if row["available"]]) == 6
    api.play([1.0])
    api.play([2.0])
    there = [step for step, row in rows(api, run_id).items() if row["available"]]
    assert 300 in there, "the best by its evaluation"
    assert len(there) == 4


def test_nothing_is_pruned_before_the_next_attempt_reports_its_first_step(api: Api) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR)
    for number in range(1, 4):
        api.save(run_id, attempt, 1 + number, 100 * number, return_mean=number)
    api.evaluate(run_id)
    api.release(run_id, attempt, "lost")
    api.claim()
    api.play([1.0])
    assert [row["available"] for row in rows(api, run_id).values()] == [True] * 3


def test_evaluations_decide_even_if_the_last_attempt_never_started(api: Api) -> None:
    run_id, attempt = api.running()
    for seq, (step, trained) in enumerate(((100, 1.0), (200, 9.0)), start=2):
        api.save(run_id, attempt, seq, step, return_mean=trained)
    api.release(run_id, attempt, "lost")
    api.release(run_id, api.claim()["attempt"], "drained")
    api.act(run_id, "stop")
    evaluated(api, run_id, 100, [3.0])
    assert best(api, run_id) == (100, "evaluation")
