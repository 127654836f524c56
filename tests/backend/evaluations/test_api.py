"""Evaluations over the API: how users request, read, cancel, remove and export them."""

import csv
from typing import Any

import pytest
from sqlalchemy import delete
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.accounts.audit import AUDITED
from arcadia_backend.database.tables import Job, Run
from arcadia_backend.web.lookup import find_run
from tests.factories import PONG, Api, evaluated_episode, evaluation, event, limit_jobs, sha256, start_set, started


def trained(api: Api, **more: Any) -> int:
    """Return a run with a checkpoint."""
    run_id, attempt = api.running(**more)
    api.save(run_id, attempt, 2, 100, return_mean=5.0)
    return run_id


def refusal(api: Api, run_id: int, status: int, **wanted: Any) -> str:
    """Return why an evaluation is refused."""
    response = api.user.post(f"/api/v1/runs/{run_id}/evaluations", json=wanted)
    assert response.status_code == status, response.text
    return str(response.json()["detail"])


def test_an_evaluation_is_requested_played_and_read(api: Api) -> None:
    api.beat(job_slots=1)
    run_id = trained(api)
    asked = api.evaluate(run_id, seed=3, episodes=2)
    assert (asked["state"], asked["protocol"], asked["step"], asked["seed"]) == ("queued", "episodes", 100, 3)
    assert (asked["origin"], asked["acting"]) == ("asked", {"name": "sampled", "epsilon": None})
    assert asked["reason"] == "A worker is about to take it."
    claimed = api.claim_job()
    assert claimed["checkpoint"]["sha256"] == asked["checkpoint_sha256"]
    acting = {"name": "sampled", "epsilon": None}
    assert claimed["parameters"] == {"protocol": "episodes", "acting": acting, "seed": 3, "episodes": 2}
    held = claimed["job_id"], claimed["attempt"]
    api.send_of_job(*held, started(1), evaluated_episode(2, 1, 2))
    playing = api.evaluation(asked["id"])
    assert (playing["state"], playing["episodes_done"], playing["episodes_total"]) == ("running", 1, 2)
    assert playing["mean"] is None
    api.send_of_job(*held, evaluated_episode(3, 2, 2), evaluation(4, [1.0, 3.0]), event(5, "finished"))
    assert api.release_job(*held, "finished").json() == {"state": "done"}
    done = api.evaluation(asked["id"])
    assert (done["state"], done["mean"], done["median"], done["interval"]) == ("done", 2.0, 2.0, [1.0, 3.0])
    assert [episode["score"] for episode in done["episodes"]] == [1.0, 3.0]
    assert done["not_normalized_because"].startswith("the papers publish no")
    lines = api.user.get(f"/api/v1/export/evaluations/{asked['id']}.csv").text.splitlines()
    assert lines == ["episode,score,frames,frames_before,length,ended", "0,1.0,400,8,98,over", "1,3.0,400,8,98,over"]


def test_scores_may_be_nan_or_infinity(api: Api) -> None:
    run_id = trained(api)
    asked = api.evaluate(run_id)
    api.play([1.0, "NaN", "Infinity"], median="NaN")
    found = api.evaluation(asked["id"])
    assert [episode["score"] for episode in found["episodes"]] == [1.0, "NaN", "Infinity"]
    assert (found["mean"], found["median"]) == ("NaN", "NaN")
    assert [row["mean"] for row in api.evaluations(run_id)] == ["NaN"]
    assert "1,NaN,400" in api.user.get(f"/api/v1/export/evaluations/{asked['id']}.csv").text


def test_all_evaluations_of_a_run_are_one_table(api: Api) -> None:
    run_id = trained(api)
    api.evaluate(run_id, episodes=2, acting={"name": "epsilon-greedy", "epsilon": 0.25})
    api.play([1.0, "NaN"])
    api.evaluate(run_id)
    answer = api.user.get(f"/api/v1/export/runs/{run_id}/evaluations.csv")
    assert f'filename="run-{run_id}-evaluations.csv"' in answer.headers["content-disposition"]
    done, waiting = csv.DictReader(answer.text.splitlines())
    assert [done[name] for name in ("state", "step", "protocol", "acting", "epsilon", "episodes", "mean")] == [
        *("done", "100", "episodes", "epsilon-greedy", "0.25", "2", "NaN")
    ]
    assert (waiting["state"], waiting["mean"], waiting["finished_at"]) == ("queued", "", "")


def test_an_evaluation_of_a_superseded_checkpoint_is_marked(api: Api) -> None:
    run_id, attempt = api.running()
    first, second = (api.save(run_id, attempt, seq, step) for seq, step in ((2, 100), (3, 200)))
    for checkpoint in (first, second):
        api.evaluate(run_id, checkpoint=checkpoint)
        api.play([1.0])
    assert [row["superseded"] for row in api.evaluations(run_id)] == [False, False]
    api.lose(run_id, attempt, resumed_from=100)
    marked = {row["checkpoint_id"]: row["superseded"] for row in api.evaluations(run_id)}
    assert marked == {first: False, second: True}
    lines = csv.DictReader(api.user.get(f"/api/v1/export/runs/{run_id}/evaluations.csv").text.splitlines())
    assert [(line["step"], line["superseded"]) for line in lines] == [("100", "false"), ("200", "true")]


def test_differences_between_protocol_and_training_are_reported(api: Api) -> None:
    run_id = trained(api)
    first, second = api.evaluate(run_id), api.evaluate(run_id, seed=2)
    assert first["unlike_training"] == []
    api.play([1.0], unlike_training=["In training FIRE was pressed."])
    api.play([1.0])
    assert api.evaluation(first["id"])["unlike_training"] == ["In training FIRE was pressed."]
    assert api.evaluation(second["id"])["unlike_training"] == []


def test_a_run_without_a_checkpoint_cannot_be_evaluated_yet(api: Api) -> None:
    run_id, _ = api.running()
    assert refusal(api, run_id, 409).startswith(f"Run {run_id} has no checkpoint yet.")
    assert "no such checkpoint" in refusal(api, run_id, 422, checkpoint=99)


def test_invalid_evaluations_are_refused_with_the_valid_choices(api: Api) -> None:
    run_id = trained(api)
    assert refusal(api, run_id, 422, protocol="no-op-5-min").endswith("no protocol 'no-op-5-min': use episodes")
    assert refusal(api, run_id, 422, protocol="").endswith("no protocol '': use episodes")
    assert refusal(api, run_id, 422, protocol="no-op-5min").endswith("no-op-5min is not for CartPole-v1: use episodes")
    assert "use sampled, greedy or epsilon-greedy" in refusal(api, run_id, 422, acting={"name": "random"})
    assert "acting" in refusal(api, run_id, 422, acting={"name": "greedy", "epsilon": 0.5})
    reported = refusal(api, run_id, 422, protocol="x" * 101)
    assert reported == "protocol: String should have at most 100 characters"
    reported = refusal(api, run_id, 422, acting={"name": "epsilon-greedy", "epsilon": True})
    assert reported == "acting.epsilon: Input should be a number, not true or false"
    reported = refusal(api, run_id, 422, checkpoint="oldest")
    assert reported == "checkpoint: there is no alias 'oldest': use newest, best or the id of a checkpoint"
    for odd in (0, True):
        reported = refusal(api, run_id, 422, checkpoint=odd)
        assert reported == "checkpoint: give the id of a checkpoint, newest, best or an alias"


@pytest.mark.parametrize(("protocol", "whose"), [("human-starts", "a person's"), ("agent-starts", "an agent's")])
def test_without_a_start_set_the_error_says_how_to_get_one(api: Api, protocol: str, whose: str) -> None:
    run_id = trained(api, config=PONG)
    other = "agent" if protocol == "human-starts" else "human"
    api.import_starts(start_set(other), "of the other kind")
    api.import_starts(start_set("human", env="ALE/Breakout-v5"), "of another game")
    assert refusal(api, run_id, 422, protocol=protocol) == (
        f"start_set: {protocol} needs a set of start points: there are none of {whose} play of Pong yet: "
        "import a set on the page of Pong, or POST it to /start-sets"
    )
    assert api.evaluations(run_id) == []
    assert api.evaluate(run_id)["protocol"] == "no-op-5min"


def test_an_unfit_start_set_is_refused_with_those_that_fit(api: Api) -> None:
    run_id = trained(api, config=PONG)
    human, agent = (
        api.import_starts(start_set(player, 2), name)["id"] for player, name in (("human", "Ana"), ("agent", "PAAC"))
    )
    asked = {"protocol": "human-starts", "start_set": agent}
    assert refusal(api, run_id, 422, **asked) == (f"start_set: 'PAAC' is for agent-starts in Pong: use {human} (Ana)")
    breakout = api.import_starts(start_set("human", env="ALE/Breakout-v5"), "walls")["id"]
    refused = refusal(api, run_id, 422, protocol="human-starts", start_set=breakout)
    assert refused.startswith("start_set: 'walls' is for human-starts in Breakout: use")
    refused = refusal(api, run_id, 422, protocol="human-starts", start_set=human, episodes=3)
    assert refused.startswith("episodes: 'Ana' has 2 start points")
    assert "omit this" in refusal(api, run_id, 422, protocol="no-op-5min", start_set=human)
    refused = refusal(api, run_id, 422, protocol="human-starts", start_set=99)
    assert refused == f"start_set: there is no such set: use {human} (Ana)"


def test_start_points_reach_the_worker_and_the_result_names_them(api: Api) -> None:
    run_id = trained(api, config=PONG)
    stored = api.import_starts(start_set("human", 2), "Ana's")
    asked = api.evaluate(run_id, protocol="human-starts", start_set=stored["id"])
    used = {name: stored[name] for name in ("id", "name", "player", "source", "points", "sha256")}
    assert (asked["start_set"], asked["episodes_total"]) == ({**used, "kept": True}, 2)
    claimed = api.claim_job()
    assert claimed["starts"] == {"sha256": stored["sha256"], "bytes": stored["bytes"]}
    path, attempt = f"/api/v1/worker/jobs/{claimed['job_id']}/starts", claimed["attempt"]
    fetched = api.worker.get(path, params={"attempt": attempt})
    assert (fetched.status_code, fetched.headers["etag"]) == (200, f'"{stored["sha256"]}"')
    assert sha256(fetched.content) == stored["sha256"]
    assert api.worker.get(path, params={"attempt": attempt + 1}).status_code == 409
    assert api.user.get(path, params={"attempt": attempt}).status_code == 401


def test_a_games_page_names_the_start_points_of_a_score(api: Api) -> None:
    run_id = trained(api, config=PONG)
    stored = api.import_starts(start_set("human", 100), "Ana's")
    api.evaluate(run_id, protocol="human-starts", start_set=stored["id"])
    api.play([4.0] * 100, protocol="human-starts", env="ALE/Pong-v5")
    tables = api.user.get("/api/v1/games/pong").json()["tables"]
    (ours,) = [row["ours"] for table in tables for row in table["runs"]]
    assert (ours["protocol"], ours["start_set"], ours["short"]) == ("human-starts", "Ana's", False)


def test_a_job_without_start_points_has_none_to_fetch(api: Api) -> None:
    run_id = trained(api)
    api.evaluate(run_id)
    claimed = api.claim_job()
    assert claimed["starts"] is None
    path = f"/api/v1/worker/jobs/{claimed['job_id']}/starts"
    assert api.worker.get(path, params={"attempt": claimed["attempt"]}).status_code == 404


def test_episodes_appear_as_they_end_and_disappear_with_their_attempt(api: Api) -> None:
    run_id = trained(api)
    asked = api.evaluate(run_id, episodes=3)["id"]
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    api.send_of_job(*held, started(1), evaluated_episode(2, 1, 3, number=2, score="NaN"))
    api.send_of_job(*held, evaluated_episode(3, 2, 3, number=0, score=7.0))
    episodes = api.evaluation(asked)["episodes"]
    assert [(row["number"], row["score"], row["length"]) for row in episodes] == [(0, 7.0, 98), (2, "NaN", 98)]
    assert api.user.get(f"/api/v1/export/evaluations/{asked}.csv").status_code == 409
    api.release_job(*held, "lost")
    assert len(api.evaluation(asked)["episodes"]) == 2
    api.claim_job()
    assert api.evaluation(asked)["episodes"] == []


def test_the_best_checkpoint_can_be_requested(api: Api) -> None:
    run_id, attempt = api.running()
    for number, value in ((2, 9.0), (3, 1.0)):
        api.save(run_id, attempt, number, 100 * number, return_mean=value)
    assert api.evaluate(run_id, checkpoint="best")["step"] == 200
    assert api.evaluate(run_id)["step"] == 300


def test_the_list_is_paged(api: Api) -> None:
    run_id = trained(api)
    ids = [api.evaluate(run_id)["id"] for _ in range(3)]
    path = f"/api/v1/runs/{run_id}/evaluations"
    page = api.user.get(path, params={"limit": 2}).json()
    assert ([row["id"] for row in page["items"]], page["total"]) == (ids[:0:-1], 3)
    rest = api.user.get(path, params={"limit": 2, "cursor": page["next_cursor"]}).json()
    assert ([row["id"] for row in rest["items"]], rest["next_cursor"]) == (ids[:1], None)
    assert api.user.get(path, params={"cursor": "elsewhere"}).status_code == 422
    assert api.user.get("/api/v1/runs/999/evaluations").status_code == 404


def test_a_queued_evaluation_is_cancelled_at_once_and_a_running_one_by_its_worker(api: Api) -> None:
    run_id = trained(api)
    playing, waiting = (api.evaluate(run_id)["id"] for _ in range(2))
    claimed = api.claim_job()
    held = {"id": claimed["job_id"], "attempt": claimed["attempt"]}
    cancel = [api.user.post(f"/api/v1/evaluations/{each}/cancel").json() for each in (waiting, playing)]
    assert [(row["state"], row["reason"]) for row in cancel] == [("cancelled", None), ("running", "Cancelling.")]
    assert api.beat(job_slots=1, jobs=[held]).json()["jobs"] == [{**held, "desired": "cancel"}]
    api.release_job(held["id"], held["attempt"], "stopped")
    assert api.evaluation(playing)["state"] == "cancelled"
    again = api.user.post(f"/api/v1/evaluations/{playing}/cancel")
    assert (again.status_code, again.json()["detail"]) == (
        409,
        "The job is already cancelled, so it cannot be cancelled.",
    )


def test_the_worker_of_a_removed_evaluation_drops_it(api: Api) -> None:
    run_id = trained(api)
    asked = api.evaluate(run_id)
    claimed = api.claim_job()
    held = {"id": claimed["job_id"], "attempt": claimed["attempt"]}
    assert api.user.delete(f"/api/v1/evaluations/{asked['id']}").status_code == 204
    assert api.evaluations(run_id) == []
    assert api.beat(jobs=[held]).json()["jobs"] == [{**held, "desired": None}]
    assert api.send_of_job(held["id"], held["attempt"], started(1)).status_code == 404


@pytest.mark.parametrize(("method", "path"), [("POST", "/cancel"), ("DELETE", "")])
def test_an_evaluation_removed_by_a_concurrent_request_is_not_found(
    api: Api, monkeypatch: pytest.MonkeyPatch, method: str, path: str
) -> None:
    asked = api.evaluate(trained(api))["id"]

    def lock_late(session: Session, run_id: int, *, lock: bool = False) -> Run:
        session.execute(delete(Job).execution_options(synchronize_session=False, **AUDITED))
        return find_run(session, run_id, lock=lock)

    monkeypatch.setattr(jobs, "find_run", lock_late)
    answer = api.user.request(method, f"/api/v1/evaluations/{asked}{path}")
    assert (answer.status_code, answer.json()["detail"]) == (404, f"There is no evaluation {asked}.")


@pytest.mark.parametrize(
    ("slots", "reported"),
    [
        (None, "No worker that takes jobs is connected: start one with `arcadia worker --jobs 1`."),
        (0, "No worker that takes jobs is connected: start one with `arcadia worker --jobs 1`."),
        (1, "Waits for an evaluation on worker w1."),
        (2, "A worker is about to take it."),
    ],
)
def test_a_queued_evaluation_has_a_reason(api: Api, slots: int | None, reported: str) -> None:
    run_id = trained(api)
    api.evaluate(run_id)
    api.claim_job()
    if slots is not None:
        api.beat(job_slots=slots)
    assert api.evaluate(run_id)["reason"] == reported


def test_the_number_of_unfinished_evaluations_is_limited(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    limit_jobs(monkeypatch, "evaluation", 1)
    run_id = trained(api)
    api.evaluate(run_id)
    answer = api.user.post(f"/api/v1/runs/{run_id}/evaluations", json={})
    assert (answer.status_code, "unfinished evaluations" in answer.json()["detail"]) == (409, True)


def test_the_reason_counts_the_jobs_ahead_in_the_queue(api: Api) -> None:
    run_id = trained(api)
    api.beat(job_slots=1)
    waiting = [api.evaluate(run_id, seed=seed)["id"] for seed in (1, 2, 3)]
    assert [api.evaluation(number)["reason"] for number in waiting] == [
        "A worker is about to take it.",
        "1 other job is ahead of it in the queue.",
        "2 other jobs are ahead of it in the queue.",
    ]


def test_the_api_document_allows_nan_and_infinity_as_scores(api: Api) -> None:
    document = api.user.get("/api/v1/openapi.json").json()
    score = document["components"]["schemas"]["ScoredEpisode"]["properties"]["score"]
    assert {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]} in score["anyOf"]
