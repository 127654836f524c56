"""Reviews of a replay: how they are requested, done by a job, continued, and removed with their replay."""

import json
from typing import Any

from arcadia_backend.database import tables
from arcadia_backend.database.engine import Database
from arcadia_workers.contract.jobs import ReviewParameters
from arcadia_workers.contract.protocols.document import SAMPLED
from arcadia_workers.contract.review import ReviewDocument, ReviewedDecision
from tests.backend.test_saliency import made_track, replay
from tests.factories import Api, checkpoint_path, event, sha256, started, video

TRACK = made_track()


def document(*findings: str, horizon: int = 200) -> dict[str, Any]:
    """Return what a review has found."""
    found = ReviewDocument(
        env="ALE/Pong-v5",
        algorithm="paac",
        checkpoint_step=100,
        protocol="no-op-5min",
        seed=7,
        episode=2,
        acting=SAMPLED,
        horizon=horizon,
        gamma=0.99,
        clip_rewards=True,
        decisions=4,
        score=1.0,
        reviewed=[
            ReviewedDecision.model_validate({"decision": at, "reason": "lost", "taken": "UP", "finding": finding})
            for at, finding in enumerate(findings)
        ],
        simulations=96,
        seconds=2.5,
    )
    return json.loads(found.model_dump_json())  # type: ignore[no-any-return]


def request(api: Api, replay_id: int, status: int = 201, **options: Any) -> dict[str, Any]:
    """Request a review."""
    answer = api.user.post(f"/api/v1/replays/{replay_id}/reviews", json=options)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def read(api: Api, review_id: int) -> dict[str, Any]:
    found: dict[str, Any] = api.user.get(f"/api/v1/reviews/{review_id}").json()
    return found


def review(api: Api, *findings: str) -> tuple[int, int]:
    """Return the ids of a run and a replay with a finished review."""
    run_id, replay_id = replay(api)
    request(api, replay_id)
    _, held = claim(api)
    result = event(2, "review", document=document(*findings)), event(3, "finished")
    assert api.send_of_job(*held, started(1), *result).is_success
    assert api.release_job(*held, "finished").is_success
    assert api.release(run_id, 1, "finished").is_success
    return run_id, replay_id


def claim(api: Api) -> tuple[dict[str, Any], tuple[int, int]]:
    claimed = api.claim_job()
    return claimed, (claimed["job_id"], claimed["attempt"])


def test_a_worker_reviews_the_recorded_actions_and_reports_what_it_knows(api: Api) -> None:
    run_id, replay_id = replay(api)
    requested = request(api, replay_id, decisions=3)
    assert (requested["state"], requested["document"], requested["run_id"]) == ("queued", None, run_id)
    claimed, held = claim(api)
    assert claimed["kind"] == "review"
    parameters = claimed["parameters"]
    assert (parameters["decisions"], parameters["seed"], parameters["episode"]) == (3, 7, 2)
    assert (len(parameters["actions"]), parameters["known"]) == (requested["total"], None)
    known = document("mistake", "waiting", "waiting")
    reported = event(2, "advanced", 100, done=1, total=3), event(3, "review", 100, document=known)
    assert api.send_of_job(*held, started(1), *reported).is_success
    now = read(api, requested["id"])
    assert (now["state"], now["done"], now["total"], now["document"]) == ("running", 1, 3, known)
    result = document("mistake", "not shown", "no challenger")
    assert api.send_of_job(*held, event(4, "review", 100, document=result), event(5, "finished")).is_success
    assert api.release_job(*held, "finished").is_success
    done = read(api, requested["id"])
    assert (done["state"], done["document"]) == ("done", result)
    assert api.user.get(f"/api/v1/replays/{replay_id}/reviews").json() == [done]


def test_a_lost_attempt_continues_from_what_was_known(api: Api) -> None:
    _, replay_id = replay(api)
    requested = request(api, replay_id)
    _, held = claim(api)
    known = document("mistake", "waiting")
    assert api.send_of_job(*held, started(1), event(2, "review", document=known)).is_success
    assert api.release_job(*held, "lost").json() == {"state": "queued"}
    assert read(api, requested["id"])["document"] == known
    again, _ = claim(api)
    assert again["parameters"]["known"] == known


def test_a_stopped_review_keeps_what_it_found_and_can_be_extended(api: Api) -> None:
    _, replay_id = replay(api)
    requested = request(api, replay_id, decisions=2)
    _, held = claim(api)
    assert api.user.post(f"/api/v1/reviews/{requested['id']}/cancel").json()["reason"] == "Cancelling."
    assert request(api, replay_id, 409)["detail"].startswith(f"A review of replay {replay_id} is in progress.")
    known = document("mistake", "waiting")
    stopped = event(3, "stopped", reason="cancelled by the user")
    assert api.send_of_job(*held, started(1), event(2, "review", document=known), stopped).is_success
    assert api.release_job(*held, "stopped").is_success
    found = read(api, requested["id"])
    assert (found["state"], found["document"]) == ("cancelled", known)
    more = request(api, replay_id, decisions=3)
    assert (more["id"], more["state"], more["document"]) == (requested["id"], "queued", known)
    claimed, _ = claim(api)
    assert (claimed["parameters"]["known"], claimed["parameters"]["decisions"]) == (known, 3)


def test_a_review_is_continued_with_the_same_horizon(api: Api) -> None:
    _, replay_id = replay(api)
    requested = request(api, replay_id)
    _, held = claim(api)
    result = event(2, "review", document=document("mistake")), event(3, "finished")
    assert api.send_of_job(*held, started(1), *result).is_success
    assert api.release_job(*held, "finished").is_success
    refused = request(api, replay_id, 422, horizon=50)
    assert "looks 200 decisions ahead" in str(refused)
    assert api.user.delete(f"/api/v1/reviews/{requested['id']}").status_code == 204
    assert api.user.get(f"/api/v1/replays/{replay_id}/reviews").json() == []
    assert request(api, replay_id, horizon=50)["document"] is None


def test_deleting_a_run_deletes_its_reviews(api: Api) -> None:
    run_id, replay_id = replay(api)
    requested = request(api, replay_id)
    assert api.release(run_id, 1, "finished").is_success
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert api.user.get(f"/api/v1/reviews/{requested['id']}").status_code == 404
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"}).status_code == 204


def test_deleting_a_recording_deletes_the_review_of_its_replay(api: Api) -> None:
    run_id, _ = replay(api)
    recording = api.user.post(f"/api/v1/runs/{run_id}/recordings", json={}).json()
    _, held = claim(api)
    for kind, path, content in (("video", "r.mp4", b"film"), ("poster", "r.png", b"still"), ("track", "r.npz", TRACK)):
        query: dict[str, Any] = {"attempt": held[1], "kind": kind, "path": path, "sha256": sha256(content)}
        assert api.worker.put(f"/api/v1/worker/jobs/{held[0]}/files", params=query, content=content).is_success
    recorded = video(2, 100, 100, file="r.mp4", poster="r.png", track="r.npz", checkpoint=checkpoint_path(100))
    assert api.send_of_job(*held, started(1), recorded, event(3, "finished")).is_success
    assert api.release_job(*held, "finished").is_success
    requested = request(api, api.user.get(f"/api/v1/runs/{run_id}/replays").json()[-1]["id"])
    assert api.user.delete(f"/api/v1/recordings/{recording['id']}").status_code == 204
    assert api.user.get(f"/api/v1/reviews/{requested['id']}").status_code == 404


def test_a_review_of_an_earlier_version_is_readable(api: Api) -> None:
    _, replay_id = replay(api)
    requested = request(api, replay_id)
    _, held = claim(api)
    earlier = document("mistake", "not shown")
    del earlier["situations"]
    for each in earlier["reviewed"]:
        del each["taken_outcome"], each["better_outcome"]
    assert api.send_of_job(*held, started(1), event(2, "review", document=earlier)).is_success
    assert read(api, requested["id"])["document"] == document("mistake", "not shown")


def test_an_archive_brings_a_review_that_can_be_continued(api: Api) -> None:
    run_id, replay_id = review(api, "mistake", "no challenger")
    [before] = api.user.get(f"/api/v1/replays/{replay_id}/reviews").json()
    archive = api.user.get("/api/v1/archives", params={"runs": run_id}).content
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    [imported] = api.user.post("/api/v1/archives", content=archive).json()["runs"]
    [restored] = api.user.get(f"/api/v1/runs/{imported}/replays").json()
    [after] = api.user.get(f"/api/v1/replays/{restored['id']}/reviews").json()
    assert (after["state"], after["document"], after["run_id"]) == ("done", before["document"], imported)
    assert request(api, restored["id"], decisions=3)["id"] == after["id"]
    claimed, _ = claim(api)
    assert claimed["parameters"]["known"] == before["document"]


def test_a_broken_review_in_an_archive_is_refused(api: Api, database: Database) -> None:
    run_id, replay_id = review(api, "mistake")
    [found] = api.user.get(f"/api/v1/replays/{replay_id}/reviews").json()
    with database.write() as session:
        session.get_one(tables.Review, found["id"]).document = {"reviewed": 3}
    archive = api.user.get("/api/v1/archives", params={"runs": run_id}).content
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    refused = api.user.post("/api/v1/archives", content=archive)
    assert (refused.status_code, "is not consistent" in refused.text) == (422, True)


def test_a_report_shows_a_review_and_its_marks(api: Api) -> None:
    run_id, replay_id = review(api, "mistake", "no challenger", "testing")
    block = {"kind": "review", "replay": replay_id, "caption": "Where it lost"}
    report = api.user.post("/api/v1/reports", json={"title": "Lost points", "blocks": [block]}).json()
    [kept] = api.user.get(f"/api/v1/runs/{run_id}/replays").json()
    assert kept["pinned"], "pruning never deletes it"
    shown = api.user.post("/api/v1/reports/preview", json={"block": block}).json()["review"]
    assert (shown["run_id"], shown["replay_id"], shown["step"]) == (run_id, replay_id, 100)
    assert [each["finding"] for each in shown["document"]["reviewed"]] == ["mistake", "no challenger", "testing"]
    page = api.user.get(f"/api/v1/reports/{report['id']}/export").text
    assert page.count("<rect ") == 3
    assert "1 mistake in 3 reviewed of 4 decisions" in page
    assert "Where it lost" in page


def test_a_report_says_that_a_replay_has_no_review(api: Api) -> None:
    _, replay_id = replay(api)
    block = {"kind": "review", "replay": replay_id}
    shown = api.user.post("/api/v1/reports/preview", json={"block": block}).json()
    assert shown["problem"] == f"Replay {replay_id} has no review yet. Choose Review below the replay."


def test_an_archive_brings_a_report_with_its_review(api: Api) -> None:
    run_id, replay_id = review(api, "mistake")
    blocks = [{"kind": "review", "replay": replay_id}]
    report = api.user.post("/api/v1/reports", json={"title": "Lost points", "blocks": blocks}).json()
    archive = api.user.get("/api/v1/archives", params={"reports": report["id"]}).content
    assert api.user.delete(f"/api/v1/reports/{report['id']}").status_code == 204
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    result = api.user.post("/api/v1/archives", content=archive).json()
    [block] = api.user.get(f"/api/v1/reports/{result['reports'][0]}").json()["blocks"]
    shown = api.user.post("/api/v1/reports/preview", json={"block": block}).json()["review"]
    assert (shown["run_id"], shown["document"]["reviewed"][0]["finding"]) == (result["runs"][0], "mistake")


def test_an_agent_reviews_a_kept_game_and_is_kept_for_the_continuation(api: Api) -> None:
    game = api.keep_game()
    api.claim_job()  # its video
    run_id, attempt = api.running(config={"algorithm": "paac", "env": "ALE/Pong-v5"})
    first = api.save(run_id, attempt, 2, 100)
    url = f"/api/v1/kept-games/{game['id']}/reviews"
    assert api.user.get(url).json() == []
    wanted = {"run_id": run_id, "checkpoint": "newest", "decisions": 20}
    asked = api.user.post(url, json=wanted)
    assert asked.status_code == 201, asked.text
    assert (asked.json()["kept_game_id"], asked.json()["replay_id"], asked.json()["step"]) == (game["id"], None, 100)
    claimed, held = claim(api)
    assert claimed["checkpoint"]["step"] == 100
    given = ReviewParameters.model_validate(claimed["parameters"])
    assert given.kept is not None
    assert (given.kept.actions, given.seed, given.decisions) == ([(0, 60), (3, 140)], 7, 20)
    assert api.user.post(url, json=wanted).status_code == 409
    found = event(2, "review", document=document("not shown")), event(3, "finished")
    assert api.send_of_job(*held, started(1), *found).is_success
    assert api.release_job(*held, "finished").is_success
    second = api.save(run_id, attempt, 3, 200)
    refused = api.user.post(url, json=wanted)
    assert refused.status_code == 409
    assert refused.json()["detail"] == "Another agent has reviewed this game. Delete that review first."
    continued = api.user.post(url, json={"run_id": run_id, "decisions": 30})
    assert continued.status_code == 201, continued.text
    assert (continued.json()["total"], continued.json()["step"]) == (30, 100)
    practice = api.user.post(f"/api/v1/reviews/{asked.json()['id']}/practices", json={})
    assert practice.status_code == 409
    assert "Agents practice what they did" in practice.json()["detail"]
    assert first != second


def test_a_review_of_a_kept_game_is_deleted_with_it(api: Api) -> None:
    game = api.keep_game()
    api.claim_job()
    run_id, attempt = api.running(config={"algorithm": "paac", "env": "ALE/Pong-v5"})
    api.save(run_id, attempt, 2, 100)
    url = f"/api/v1/kept-games/{game['id']}"
    asked = api.user.post(f"{url}/reviews", json={"run_id": run_id, "checkpoint": "newest"}).json()
    assert api.user.delete(url).status_code == 204
    assert api.user.get(f"/api/v1/reviews/{asked['id']}").status_code == 404
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"}).status_code == 204


def test_agents_of_other_games_cannot_review_a_kept_game(api: Api) -> None:
    game = api.keep_game()
    run_id, attempt = api.running(config={"algorithm": "paac", "env": "ALE/Breakout-v5"})
    api.save(run_id, attempt, 2, 100)
    refused = api.user.post(f"/api/v1/kept-games/{game['id']}/reviews", json={"run_id": run_id})
    assert refused.status_code == 422
    assert "plays ALE/Breakout-v5, and the kept game is of ALE/Pong-v5" in refused.text
