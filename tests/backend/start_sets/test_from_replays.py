"""Start sets from decisions of replays: how they are requested, made by a job, and stored."""

import io
from typing import Any

import numpy as np
import pytest

from arcadia_workers.contract import tracks
from arcadia_workers.contract.protocols.starts import StartSetFile
from tests.backend.test_saliency import made_track, replay
from tests.factories import CARTPOLE, Api, event, limit_jobs, sha256, start_set, started

SETS = "/api/v1/start-sets"


def ask(api: Api, replay_id: int, status: int = 201, **wanted: Any) -> dict[str, Any]:
    """Request start points."""
    body = {"name": "rally", "decision": 2, **wanted}
    answer = api.user.post(f"/api/v1/replays/{replay_id}/start-points", json=body)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def repeat(api: Api, frames: list[int], outcome: str = "done") -> dict[str, Any]:
    """Repeat the episode as a worker does. Return the claim."""
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    screens = [[frame, sha256(bytes([frame]))] for frame in frames]
    actions = [[0, 5], [2, 4], [0, 4], [2, 400]]
    points: dict[str, Any] = {"seed": 11, "actions": actions, "emulator": "ale-py 0.12.1", "screens": screens}
    assert api.send_of_job(*held, started(1), event(2, "start_points", **points), event(3, "finished")).is_success
    assert api.release_job(*held, "finished").json() == {"state": outcome}
    return claimed


def state(api: Api, replay_id: int, number: int) -> dict[str, Any]:
    """Return the state of a request."""
    found: dict[str, Any] = api.user.get(f"/api/v1/replays/{replay_id}/start-points/{number}").json()
    return found


def changed_track(length: int = 3, **head: Any) -> bytes:
    """Return the file of a track with another head or length."""
    track = tracks.read(io.BytesIO(made_track()))
    columns = {name: np.resize(column, (length, *column.shape[1:])) for name, column in track.columns.items()}
    return tracks.packed(tracks.Track(track.head.model_copy(update=head), columns))


def test_a_decision_becomes_a_start_set_for_evaluations(api: Api) -> None:
    run_id, replay_id = replay(api)
    asked = ask(api, replay_id)
    assert (asked["state"], asked["total"], asked["start_set_id"]) == ("queued", 1, None)
    assert "start one with" in asked["reason"]
    claimed = repeat(api, [13])
    assert (claimed["kind"], claimed["checkpoint"]) == ("start_points", None)
    wanted = claimed["parameters"]
    assert (wanted["actions"], wanted["decisions"], wanted["score"]) == ([1, 0], [2], -1.0)
    assert (wanted["action_set"], wanted["frames_per_action"], wanted["seed"], wanted["episode"]) == (
        "minimal",
        4,
        7,
        2,
    )
    done = state(api, replay_id, asked["id"])
    (stored,) = api.user.get(SETS).json()
    assert (done["state"], done["reason"], done["start_set_id"]) == ("done", None, stored["id"])
    assert (stored["name"], stored["player"], stored["protocol"], stored["points"]) == (
        "rally",
        "agent",
        "agent-starts",
        1,
    )
    assert stored["source"] == (
        f"paac of run {run_id} at step 100, decision 3 of replay {replay_id} by no-op-5min with seed 7, episode 2"
    )
    exported = StartSetFile.model_validate(api.user.get(f"/api/v1/export/start-sets/{stored['id']}.json").json())
    (start,) = exported.starts
    assert (start.seed, start.actions, start.screen) == (11, ((0, 5), (2, 4), (0, 4)), sha256(bytes([13])))
    evaluation = {"protocol": "agent-starts", "start_set": stored["id"]}
    assert api.user.post(f"/api/v1/runs/{run_id}/evaluations", json=evaluation).status_code == 201


def test_every_second_decision_around_the_chosen_one_is_saved(api: Api) -> None:
    _, replay_id = replay(api)
    assert ask(api, replay_id, every=2)["total"] == 2
    claimed = repeat(api, [5, 13])
    assert (claimed["parameters"]["decisions"], claimed["parameters"]["actions"]) == ([0, 2], [1, 0])
    (stored,) = api.user.get(SETS).json()
    assert (stored["points"], "decision 3 and every 2 from it" in stored["source"]) == (2, True)


def test_the_checkpoint_is_not_needed(api: Api) -> None:
    _, replay_id = replay(api, track=made_track(played_by=b"other weights"))
    ask(api, replay_id)
    repeat(api, [13])
    assert len(api.user.get(SETS).json()) == 1


def test_a_repeated_attempt_stores_the_set_once(api: Api) -> None:
    _, replay_id = replay(api)
    number = ask(api, replay_id)["id"]
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    points: dict[str, Any] = {
        "seed": 11,
        "actions": [[0, 13]],
        "emulator": "ale-py 0.12.1",
        "screens": [[13, sha256(bytes([13]))]],
    }
    assert api.send_of_job(*held, started(1), event(2, "start_points", **points)).is_success
    api.release_job(*held, "lost", message="Its process was killed (signal 9).")
    assert state(api, replay_id, number)["state"] == "queued"
    repeat(api, [13])
    (stored,) = api.user.get(SETS).json()
    assert state(api, replay_id, number)["start_set_id"] == stored["id"]


def test_a_name_taken_after_the_request_fails_the_job_with_the_reason(api: Api) -> None:
    _, replay_id = replay(api)
    number = ask(api, replay_id)["id"]
    api.import_starts(start_set("agent"), name="rally")
    repeat(api, [13], outcome="failed")
    failed = state(api, replay_id, number)
    assert (failed["start_set_id"], "already has a start set named 'rally'" in failed["reason"]) == (None, True)
    assert len(api.user.get(SETS).json()) == 1


def test_finished_requests_of_a_run_are_deleted(api: Api) -> None:
    _, replay_id = replay(api)
    first = ask(api, replay_id)["id"]
    repeat(api, [13])
    second = ask(api, replay_id, name="another", decision=0)["id"]
    assert "There are no start points" in state(api, replay_id, first)["detail"]
    assert state(api, replay_id, second)["state"] == "queued"
    assert api.user.get(f"/api/v1/replays/{replay_id + 1}/start-points/{second}").status_code == 404


def test_impossible_requests_are_refused_with_the_reason(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    _, replay_id = replay(api)
    assert "3 decisions, so choose 0 to 2" in ask(api, replay_id, 422, decision=3)["errors"][0]["message"]
    assert ask(api, 999, 404)["detail"] == "There is no replay 999."
    assert ask(api, replay_id, 422, every=0)["errors"][0]["field"] == "every"
    api.import_starts(start_set("agent"), name="rally")
    assert "already has a start set named 'rally'" in ask(api, replay_id, 409)["detail"]
    limit_jobs(monkeypatch, "start_points", 0)
    assert "0 unfinished start points of run" in ask(api, replay_id, 409, name="another")["detail"]


def test_replays_that_cannot_be_repeated_from_a_start_point_are_refused(api: Api) -> None:
    _, sticky = replay(api, track=changed_track(protocol="sticky-30min"))
    assert "Choose a replay without sticky actions" in ask(api, sticky, 409)["detail"]
    _, other = replay(api, CARTPOLE, track=changed_track(env="CartPole-v1", protocol="episodes"))
    assert "only Atari games" in ask(api, other, 409)["detail"]


def test_too_many_points_are_refused_with_the_distance_that_fits(api: Api) -> None:
    _, replay_id = replay(api, track=changed_track(length=901))
    (error,) = ask(api, replay_id, 422, decision=0, every=9)["errors"]
    assert (error["field"], "101 start points" in error["message"], "use 10 or more" in error["message"]) == (
        "every",
        True,
        True,
    )
    assert ask(api, replay_id, every=10)["total"] == 90
