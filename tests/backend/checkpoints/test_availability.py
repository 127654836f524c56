"""The reasons why an agent cannot be used now. Pages disable buttons by them, and requests are refused with them."""

import io
import json
from typing import Any

import pytest

from arcadia_workers.contract import archives
from arcadia_workers.contract.agents import weights
from arcadia_workers.contract.layout import METADATA, CheckpointMetadata
from arcadia_workers.contract.tracks import TrackHead
from tests.backend.test_saliency import made_track, replay
from tests.factories import CARTPOLE, PONG, Api

REQUESTS: dict[str, dict[str, Any]] = {
    "evaluations": {},
    "recordings": {},
    "calibrations": {},
    "live": {"checkpoint": "newest"},
}


def actions(api: Api, run: int) -> dict[str, Any]:
    """Return the actions of a run, which the list of runs has too."""
    shown: dict[str, Any] = api.run(run)["actions"]
    page = api.user.get("/api/v1/runs", params={"id": run}).json()
    assert page["actions"][page["items"][0]["actions"]] == shown
    return shown


def assert_refused(api: Api, run: int, reason: str) -> None:
    """Check that all requests that play the agent are refused with the reason of its button."""
    assert actions(api, run)["play"] == f"This run {reason}"
    for name, body in REQUESTS.items():
        answer = api.user.post(f"/api/v1/runs/{run}/{name}", json=body)
        assert (answer.status_code, answer.json()["detail"]) == (409, f"Run {run} {reason}"), name
    answer = api.user.get(f"/api/v1/runs/{run}/agent")
    assert (answer.status_code, answer.json()["detail"]) == (409, f"Run {run} {reason}")


def test_a_run_without_a_checkpoint_says_whether_one_will_come(api: Api) -> None:
    run, attempt = api.running()
    assert_refused(api, run, "has no checkpoint yet. The first one is saved a few seconds after training starts.")
    assert actions(api, run)["change"] is None
    api.release(run, attempt, "failed", message="It broke.")
    assert_refused(api, run, "ended before it saved a checkpoint, so it has no agent.")


def test_a_run_whose_checkpoints_were_deleted_says_so(api: Api) -> None:
    run, attempt = api.running()
    api.save(run, attempt, 2, 100)
    assert actions(api, run)["play"] is None
    api.release(run, attempt, "finished")
    archive = api.user.get("/api/v1/archives", params={"runs": run, "files": "none"}).content
    api.user.delete(f"/api/v1/runs/{run}").raise_for_status()
    (imported,) = api.user.post("/api/v1/archives", content=archive).json()["runs"]
    reason = "has no checkpoint any more: all were deleted, or left out of the archive that it came from."
    assert_refused(api, imported, reason)
    change = actions(api, imported)["change"]
    assert change == "This run has no checkpoint to continue from. Launch it again with other settings."
    answer = api.user.post(f"/api/v1/runs/{imported}/changes", json={"more_steps": 10})
    assert answer.status_code == 409


def test_a_reported_run_has_no_agent(api: Api) -> None:
    run = api.user.post("/api/v1/reported/runs", json={"key": "a" * 8, "writer": "b" * 8, "name": "Script"})
    assert run.status_code == 201, run.text
    found = actions(api, run.json()["run_id"])
    assert found["play"] == "A script logged it without checkpoints."
    assert found["change"].startswith("A script logged it.")


def replay_actions(api: Api, run: int) -> dict[str, Any]:
    """Return what the track and the checkpoint of a run's only replay allow."""
    (row,) = api.user.get(f"/api/v1/runs/{run}/replays").json()
    found: dict[str, Any] = row["actions"]
    assert found.pop("edit") is None
    return found


def test_a_replay_needs_the_checkpoint_that_played_it(api: Api) -> None:
    run, number = replay(api, config=PONG)
    possible = dict.fromkeys(("simulate", "play", "saliency", "start_points"))
    assert replay_actions(api, run) == possible
    run, number = replay(api, config=PONG, track=made_track(played_by=b"other weights"))
    deleted = replay_actions(api, run)
    reason = "This needs the checkpoint at step 100, which was deleted."
    assert [name for name in possible if (deleted[name] or "").startswith(reason)] == ["simulate", "play", "saliency"]
    assert deleted["start_points"] is None
    requests = {"futures": {"decision": 0, "futures": 8}, "play": {"decision": 0}, "saliency": None}
    for path, body in requests.items():
        answer = api.user.post(f"/api/v1/replays/{number}/{path}", json=body)
        assert (answer.status_code, answer.json()["detail"]) == (409, deleted["simulate"]), path


def test_a_replay_of_an_agent_that_sees_numbers_has_no_saliency_and_no_start_points(api: Api) -> None:
    run, number = replay(api, config=CARTPOLE)
    found = replay_actions(api, run)
    assert found["saliency"] == "Agents of CartPole-v1 do not see pictures, so they have no saliency."
    answer = api.user.post(f"/api/v1/replays/{number}/saliency")
    assert (answer.status_code, answer.json()["detail"]) == (409, found["saliency"])


def test_a_replay_without_a_readable_track_cannot_be_continued(api: Api) -> None:
    run, _ = replay(api, config=PONG, track=b"no archive")
    assert set(replay_actions(api, run).values()) == {"The track of this replay cannot be read."}


@pytest.mark.parametrize(
    ("known", "unknown"), [(b"ALE/Pong-v5", b"ALE/P\xc5\x91ng-v5"), (b"no-op-5min", b"no-op-5minutes")]
)
def test_a_track_with_unknown_names_cannot_be_continued(api: Api, known: bytes, unknown: bytes) -> None:
    head, columns = archives.unpacked(io.BytesIO(made_track()))
    changed = TrackHead.model_validate_json(json.dumps(head, ensure_ascii=False).encode().replace(known, unknown))
    run, number = replay(api, config=PONG, track=archives.packed(changed, columns))
    (reason,) = set(replay_actions(api, run).values())
    assert unknown.decode() in reason
    assert reason.endswith("which is not known here.")
    requests = {"futures": {"decision": 1, "futures": 8}, "play": {"decision": 1}, "saliency": None}
    for path, body in requests.items():
        answer = api.user.post(f"/api/v1/replays/{number}/{path}", json=body)
        assert (answer.status_code, answer.json()["detail"]) == (409, reason), path


@pytest.mark.parametrize("facts", [{}, {"weights_only": True}])
def test_a_checkpoint_says_whether_it_has_only_weights(api: Api, facts: dict[str, Any]) -> None:
    run, attempt = api.running()
    metadata = CheckpointMetadata(step=100, frames=400, facts=facts, config={"algorithm": "paac"})
    api.save(run, attempt, 2, 100, weights.pack({}, {METADATA: metadata.model_dump_json()}))
    (row,) = api.user.get(f"/api/v1/runs/{run}/checkpoints").json()
    assert row["weights_only"] is bool(facts)


def test_a_damaged_checkpoint_is_listed(api: Api) -> None:
    run, attempt = api.running()
    api.save(run, attempt, 2, 100, b"no checkpoint")
    assert api.user.get(f"/api/v1/runs/{run}/checkpoints").json()[0]["weights_only"] is False
