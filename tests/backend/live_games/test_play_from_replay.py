"""Games in which people continue a replay: how they are requested, played by a job, and kept."""

import io
from typing import Any

from fastapi import FastAPI

from arcadia_workers.contract import tracks
from tests.backend.test_saliency import made_track, replay
from tests.factories import Api, event, kept_game, started

FRAMES_BEFORE = 80


def ask(api: Api, replay_id: int, status: int = 201, decision: int = 2) -> dict[str, Any]:
    """Request a game."""
    answer = api.user.post(f"/api/v1/replays/{replay_id}/play", json={"decision": decision})
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def play_and_keep(api: Api, replay_id: int) -> dict[str, Any]:
    """Play a game and keep it, as a worker does. Return the claim."""
    ask(api, replay_id)
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    continued = {"frames": FRAMES_BEFORE, "score": 3, "agent_frames": 20}
    game = kept_game(2, screens=0, continued=continued)
    assert api.send_of_job(*held, started(1), game, event(3, "finished")).is_success
    assert api.release_job(*held, "finished").json() == {"state": "done"}
    return claimed


def kept(api: Api, **query: Any) -> list[dict[str, Any]]:
    """List kept games."""
    found: list[dict[str, Any]] = api.user.get("/api/v1/kept-games", params=query).json()
    return found


def test_a_worker_gets_the_episode_up_to_the_decision(api: Api) -> None:
    _, replay_id = replay(api)
    game = ask(api, replay_id)
    assert (game["replay_id"], game["decision"], game["env"], game["state"]) == (replay_id, 2, "ALE/Pong-v5", "queued")
    claimed = api.claim_job()
    assert (claimed["kind"], claimed["checkpoint"]["step"]) == ("play", 100)
    origin = {"replay_id": replay_id, "decision": 2, "protocol": "no-op-5min", "seed": 7, "episode": 2}
    assert claimed["parameters"] == {"env": "ALE/Pong-v5", "origin": origin | {"actions": [1, 0], "score": -1.0}}
    address = f"/api/v1/replays/{replay_id}/play/{game['id']}"
    assert api.user.get(address).json()["state"] == "running"
    assert api.user.get(f"/api/v1/games/pong/play/{game['id']}").status_code == 404
    assert api.user.get(f"/api/v1/replays/{replay_id + 1}/play/{game['id']}").status_code == 404
    assert api.user.post(f"{address}/end").json()["reason"] == "Cancelling."


def test_a_game_of_a_lost_worker_is_played_again(api: Api) -> None:
    _, replay_id = replay(api)
    game = ask(api, replay_id)
    claimed = api.claim_job()
    api.release_job(claimed["job_id"], claimed["attempt"], "lost", message="Its process was killed (signal 9).")
    again = api.user.get(f"/api/v1/replays/{replay_id}/play/{game['id']}").json()
    assert again["state"] == "queued"
    assert again["reason"].startswith("Its process was killed (signal 9). Back in the queue")


def test_a_kept_game_knows_its_decision_and_its_video_starts_there(api: Api) -> None:
    _, replay_id = replay(api)
    play_and_keep(api, replay_id)
    other = api.keep_game(score=5)
    (game,) = kept(api, replay_id=replay_id)
    assert {row["id"] for row in kept(api)} == {game["id"], other["id"]}
    assert (game["score"], game["continued"]) == (
        21,
        {"replay_id": replay_id, "decision": 2, "score": 3, "frames": 120, "agent_frames": 20},
    )
    assert other["continued"] is None
    film = api.claim_job()
    assert (film["kind"], film["parameters"]["skipped"]) == ("film", FRAMES_BEFORE)
    refused = api.user.post(f"/api/v1/kept-games/{game['id']}/start-points", params={"name": "mine"})
    assert (refused.status_code, "continues a replay" in refused.json()["detail"]) == (409, True)


def test_a_kept_game_outlives_its_replay_and_is_not_your_best_score(api: Api) -> None:
    run_id, replay_id = replay(api)
    play_and_keep(api, replay_id)
    assert api.send(run_id, 1, event(4, "finished", 1_000)).is_success
    assert api.release(run_id, 1, "finished").is_success
    assert api.user.post(f"/api/v1/runs/{run_id}/archive").is_success
    assert api.user.delete(f"/api/v1/runs/{run_id}").is_success
    (game,) = kept(api)
    assert (game["continued"]["replay_id"], game["continued"]["decision"]) == (None, 2)
    assert "You" not in str(api.user.get("/api/v1/games/pong").json()["tables"])


def test_impossible_games_are_refused_with_the_reason(api: Api, app: FastAPI) -> None:
    _, replay_id = replay(api)
    assert "3 decisions, so choose 0 to 2" in ask(api, replay_id, 422, decision=3)["errors"][0]["message"]
    assert ask(api, 999, 404)["detail"] == "There is no replay 999."
    _, pruned = replay(api, track=made_track(played_by=b"other weights"))
    assert "which was deleted" in ask(api, pruned, 409)["detail"]
    numbers = tracks.read(io.BytesIO(made_track()))
    head = numbers.head.model_copy(update={"numbers_kind": "gaussian"})
    _, continuous = replay(api, track=tracks.packed(tracks.Track(head, numbers.columns)))
    assert "because its actions are numbers" in ask(api, continuous, 409)["detail"]
    app.state.settings = app.state.settings.model_copy(update={"max_live_games": 1})
    ask(api, replay_id)
    assert "The limit of live games" in ask(api, replay_id, 409)["detail"]


def test_ended_games_of_a_run_are_deleted(api: Api) -> None:
    _, replay_id = replay(api)
    first = ask(api, replay_id)["id"]
    assert api.user.post(f"/api/v1/replays/{replay_id}/play/{first}/end").json()["state"] == "cancelled"
    second = ask(api, replay_id, decision=0)["id"]
    assert api.user.get(f"/api/v1/replays/{replay_id}/play/{first}").status_code == 404
    assert api.user.get(f"/api/v1/replays/{replay_id}/play/{second}").json()["decision"] == 0
