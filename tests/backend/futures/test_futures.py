"""Futures of a replay: how they are requested, simulated by a job, listed, and removed with their replay."""

import json
from typing import Any

import pytest

from arcadia_backend.database import tables
from arcadia_backend.database.engine import Database
from arcadia_backend.job_kinds import futures
from arcadia_workers.contract.futures import ActionFutures, Future, FuturesDocument, FuturesVideo, MeanReturn
from arcadia_workers.contract.protocols.document import SAMPLED
from tests.backend.test_saliency import PONG, WEIGHTS, made_track, replay
from tests.factories import Api, checkpoint, checkpoint_path, event, limit_jobs, sha256, started

PART = MeanReturn(count=2, mean=0.5, interval=(0.1, 0.9))
MADE = FuturesDocument(
    **PART.model_dump(),
    env="ALE/Pong-v5",
    algorithm="paac",
    checkpoint_step=100,
    protocol="no-op-5min",
    seed=7,
    episode=2,
    decision=1,
    horizon=200,
    until="horizon",
    first=[],
    acting=SAMPLED,
    agent=None,
    agent_step=None,
    gamma=0.99,
    clip_rewards=True,
    value=float("nan"),
    returns=[0.4, 0.6],
    terminal=MeanReturn(count=0, mean=None, interval=None),
    bootstrapped=PART,
    score=PART,
    score_fan=[[0.0, 0.0, 0.0, 1.0, 1.0]],
    survival=[1.0],
    actions=[ActionFutures(**PART.model_dump(), name="UP", probability=0.7, action_value=None)],
    futures=[
        Future(discounted_return=0.4, bootstrap=0.1, score=0, decisions=200, life_lost_after=None, ended="stopped")
    ],
    seconds=2.5,
)
# JSON has no NaN, so scores are strings.
DOCUMENT: dict[str, Any] = json.loads(MADE.model_dump_json())


def request(api: Api, replay_id: int, status: int = 201, **wanted: Any) -> dict[str, Any]:
    """Request futures."""
    answer = api.user.post(f"/api/v1/replays/{replay_id}/futures", json={"decision": 1} | wanted)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def simulate(api: Api, outcome: str = "finished") -> dict[str, Any]:
    """Simulate the oldest queued futures as a worker does. Return the claim."""
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    reported = event(2, "advanced", 100, done=150, total=200), event(3, "futures", 100, document=DOCUMENT)
    assert api.send_of_job(*held, started(1), *reported, event(4, "finished")).is_success
    assert api.release_job(*held, outcome).is_success
    return claimed


def statuses(api: Api, file_ids: list[int]) -> set[int]:
    """Return the set of status codes of the downloads of some files."""
    return {api.user.get(f"/api/v1/files/{file_id}").status_code for file_id in file_ids}


def read(api: Api, futures_id: int) -> dict[str, Any]:
    found: dict[str, Any] = api.user.get(f"/api/v1/futures/{futures_id}").json()
    return found


def test_a_worker_simulates_futures_from_the_recorded_actions(api: Api) -> None:
    run_id, replay_id = replay(api)
    requested = request(api, replay_id, futures=16, first=["UP", "UP"], until="reward", temperature=0.5)
    assert (requested["state"], requested["total"], requested["document"]) == ("queued", 2 * 200, None)
    assert (requested["run_id"], requested["agent_run_id"], requested["agent_step"]) == (run_id, run_id, 100)
    claimed = simulate(api)
    assert claimed["kind"] == "futures"
    assert claimed["checkpoint"]["step"] == 100
    assert claimed["parameters"] == {
        "protocol": "no-op-5min",
        "seed": 7,
        "episode": 2,
        "actions": [1],
        "decision": 1,
        "futures": 16,
        "horizon": 200,
        "until": "reward",
        "first": ["UP", "UP"],
        "each_action": False,
        "temperature": 0.5,
        "record_videos": None,
        "videos_of": "ranked",
    }
    done = read(api, requested["id"])
    assert (done["state"], done["done"]) == ("done", 150)
    assert done["document"] == DOCUMENT
    assert done["document"]["value"] == "NaN"
    assert (done["value"], done["mean"], done["interval"]) == ("NaN", 0.5, [0.1, 0.9])
    assert done["videos"] == []
    del done["document"], done["videos"]
    assert api.user.get(f"/api/v1/replays/{replay_id}/futures").json() == [done]


def test_each_action_has_a_separate_simulation(api: Api) -> None:
    _, replay_id = replay(api)
    assert request(api, replay_id, each_action=True, horizon=50)["total"] == 8 * 50
    assert request(api, replay_id, each_action=True, horizon=50, record_videos=False)["total"] == 7 * 50


def test_another_run_of_the_game_can_play_the_futures(api: Api) -> None:
    run_id, replay_id = replay(api)
    other, _ = replay(api)
    requested = request(api, replay_id, agent={"run_id": other, "checkpoint": "newest"})
    assert (requested["run_id"], requested["agent_run_id"]) == (run_id, other)
    assert simulate(api)["checkpoint"]["step"] == 100


def test_a_lost_attempt_is_repeated_and_stored_once(api: Api) -> None:
    _, replay_id = replay(api)
    requested = request(api, replay_id)
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    assert api.send_of_job(*held, started(1), event(2, "futures", document=DOCUMENT)).is_success
    assert api.release_job(*held, "lost").json() == {"state": "queued"}
    assert read(api, requested["id"])["document"] is None
    simulate(api)
    assert [each["state"] for each in api.user.get(f"/api/v1/replays/{replay_id}/futures").json()] == ["done"]


def simulate_with_videos(api: Api, outcome: str = "finished") -> list[int]:
    """Simulate the oldest queued futures with two videos. Return the ids of their files."""
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    videos = [
        FuturesVideo(shows="best", future=0, file="best.mp4"),
        FuturesVideo(shows="ghosts", future=None, file="g"),
    ]
    document = json.loads(MADE.model_copy(update={"videos": videos}).model_dump_json())
    reported = event(2, "futures", 100, document=document)
    assert "best.mp4 was not uploaded" in api.send_of_job(*held, started(1), reported).text
    ids = []
    for video in videos:
        content = f"{video.shows} of attempt {held[1]}".encode()
        query: dict[str, str | int] = {"attempt": held[1], "kind": "video", "path": video.file}
        query["sha256"] = sha256(content)
        stored = api.worker.put(f"/api/v1/worker/jobs/{held[0]}/files", params=query, content=content)
        ids.append(stored.json()["file_id"])
    ended = [event(3, "finished")] if outcome == "finished" else []
    assert api.send_of_job(*held, started(1), reported, *ended).is_success
    assert api.release_job(*held, outcome).is_success
    return ids


def test_videos_of_a_lost_attempt_are_replaced_and_deleted_with_the_futures(api: Api) -> None:
    _, replay_id = replay(api)
    requested = request(api, replay_id)
    lost = simulate_with_videos(api, "lost")
    kept = simulate_with_videos(api)
    found = read(api, requested["id"])
    assert found["videos"] == [
        {"shows": "best", "future": 0, "file_id": kept[0]},
        {"shows": "ghosts", "future": None, "file_id": kept[1]},
    ]
    assert api.user.get(f"/api/v1/files/{kept[0]}").content == b"best of attempt 2"
    assert statuses(api, lost) == {404}
    assert api.user.delete(f"/api/v1/futures/{requested['id']}").status_code == 204
    assert statuses(api, kept) == {404}


def test_videos_of_another_runs_agent_are_deleted_with_the_replays_run(api: Api) -> None:
    run_id, replay_id = replay(api)
    other, _ = replay(api)
    request(api, replay_id, agent={"run_id": other, "checkpoint": "newest"})
    kept = simulate_with_videos(api)
    assert statuses(api, kept) == {200}
    assert api.release(run_id, 1, "finished").is_success
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert statuses(api, kept) == {404}


def move(api: Api, run_id: int, status: int = 201) -> Any:
    """Export a run, delete it and import it again. Return the answer."""
    archive = api.user.get("/api/v1/archives", params={"runs": run_id}).content
    assert api.release(run_id, 1, "finished").is_success
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    answer = api.user.post("/api/v1/archives", content=archive)
    assert answer.status_code == status, answer.text
    return answer.json()


def futures_of(api: Api, run_id: int) -> list[dict[str, Any]]:
    """Return the futures of a run's only replay."""
    [restored] = api.user.get(f"/api/v1/runs/{run_id}/replays").json()
    return [read(api, each["id"]) for each in api.user.get(f"/api/v1/replays/{restored['id']}/futures").json()]


def test_an_archive_brings_futures_with_their_videos(api: Api) -> None:
    run_id, replay_id = replay(api)
    request(api, replay_id, first=["UP"])
    simulate_with_videos(api)
    request(api, replay_id)
    [_waiting, before] = futures_of(api, run_id)
    [imported] = move(api, run_id)["runs"]
    [waiting, after] = futures_of(api, imported)
    assert (waiting["state"], waiting["reason"]) == ("cancelled", "It had not ended when its run was exported.")
    assert (after["state"], after["first"], after["document"]) == ("done", ["UP"], before["document"])
    assert [(each["shows"], each["future"]) for each in after["videos"]] == [("best", 0), ("ghosts", None)]
    films = [api.user.get(f"/api/v1/files/{each['file_id']}").content for each in after["videos"]]
    assert films == [b"best of attempt 1", b"ghosts of attempt 1"]
    assert request(api, after["replay_id"])["state"] == "queued", "the imported replay can be simulated again"


def test_an_archive_leaves_out_futures_that_need_two_runs(api: Api) -> None:
    run_id, replay_id = replay(api)
    other, _ = replay(api)
    request(api, replay_id, agent={"run_id": other, "checkpoint": "newest"})
    simulate_with_videos(api)
    for each in (run_id, other):
        [imported] = move(api, each)["runs"]
        assert futures_of(api, imported) == []


def test_broken_futures_in_an_archive_are_refused(api: Api, database: Database) -> None:
    run_id, replay_id = replay(api)
    requested = request(api, replay_id)
    simulate(api)
    with database.write() as session:
        session.get_one(tables.Futures, requested["id"]).document = {"value": "much"}
    assert "is not consistent" in move(api, run_id, 422)["detail"]


def test_a_process_without_a_result_fails(api: Api) -> None:
    _, replay_id = replay(api)
    requested = request(api, replay_id)
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    assert api.send_of_job(*held, started(1), event(2, "finished")).is_success
    assert api.release_job(*held, "finished").json() == {"state": "failed"}
    assert read(api, requested["id"])["reason"]


def test_queued_futures_can_be_deleted(api: Api) -> None:
    _, replay_id = replay(api)
    requested = request(api, replay_id)
    assert api.user.delete(f"/api/v1/futures/{requested['id']}").status_code == 204
    assert api.user.get(f"/api/v1/futures/{requested['id']}").status_code == 404
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"}).status_code == 204


def test_deleting_a_run_deletes_its_futures(api: Api) -> None:
    run_id, replay_id = replay(api)
    other, attempt = api.running(config=PONG)
    api.upload(other, attempt, checkpoint_path(50), WEIGHTS)
    assert api.send(other, attempt, checkpoint(2, 50, WEIGHTS)).is_success
    own, of_other = request(api, replay_id), request(api, replay_id, agent={"run_id": other, "checkpoint": "newest"})
    assert api.release(run_id, 1, "finished").is_success
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert [api.user.get(f"/api/v1/futures/{each['id']}").status_code for each in (own, of_other)] == [404, 404]
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"}).status_code == 204


def test_invalid_requests_are_refused_with_the_reason(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    _, replay_id = replay(api)
    assert "no replay 999" in request(api, 999, 404)["detail"]
    for wanted, message in (
        ({"decision": 3}, "3 decisions, so choose 0 to 2"),
        ({"first": ["JUMP"]}, "choose from NOOP, UP"),
        ({"first": ["UP"], "each_action": True}, "remove first"),
        ({"futures": 257}, "less than or equal to 256"),
        ({"temperature": 0}, "greater than or equal to 0.01"),
        ({"temperature": 2, "agent": {"run_id": replay(api, PONG | {"algorithm": "n_step_q"})[0]}}, "action values"),
        ({"futures": 7}, "greater than or equal to 8"),
        ({"agent": {"run_id": replay(api, PONG | {"env": "ALE/Breakout-v5"})[0]}}, "same environment"),
        ({"agent": {"run_id": replay(api, PONG | {"action_set": "full"})[0]}}, "same actions"),
    ):
        errors = request(api, replay_id, 422, **wanted)["errors"]
        assert message in errors[0]["message"], errors
    assert "no run 999" in request(api, replay_id, 404, agent={"run_id": 999})["detail"]
    _, pruned = replay(api, track=made_track(played_by=b"other weights"))
    assert "was deleted" in request(api, pruned, 409)["detail"]
    _, broken = replay(api, track=b"no archive")
    assert "cannot be read" in request(api, broken, 409)["detail"]
    monkeypatch.setattr(futures, "MAX_KEPT", 0)
    assert "Delete some first" in request(api, replay_id, 409)["detail"]
    limit_jobs(monkeypatch, "futures", 0)
    assert "already wait" in request(api, replay_id, 409)["detail"]
