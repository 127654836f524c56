"""Start sets: listed, and saved from a replay."""

from __future__ import annotations

import json
from typing import Any

import pytest
from arcadia import Client, JobFailedError, Replay
from fake_server import URL, FakeServer

SAVING: dict[str, Any] = {
    "id": 5,
    "replay_id": 7,
    "name": "long rally",
    "state": "queued",
    "reason": None,
    "done": 0,
    "total": 3,
    "start_set_id": None,
}
START_SET = {
    "id": 2,
    "name": "long rally",
    "env": "ALE/Pong-v5",
    "player": "agent",
    "protocol": "agent-starts",
    "points": 3,
}


def open_replay(server: FakeServer) -> Replay:
    return Replay(Client(URL, transport=server.transport).transport, {"id": 7, "run_id": 12})


def test_start_points_are_saved_once_a_worker_has_reached_them() -> None:
    reached = [{**SAVING, "state": "running", "done": 1}, {**SAVING, "state": "done", "done": 3, "start_set_id": 2}]
    paths = {"/replays/7/start-points": SAVING, "/replays/7/start-points/5": reached, "/start-sets/2": START_SET}
    server = FakeServer(paths)
    start_set = open_replay(server).save_start_points("long rally", 130, every=50)
    assert (start_set.id, start_set.protocol, start_set.points) == (2, "agent-starts", 3)
    assert json.loads(server.requests[0].content) == {"name": "long rally", "decision": 130, "every": 50}


def test_a_failure_says_why() -> None:
    failed = {**SAVING, "state": "failed", "reason": "The replay ended early."}
    server = FakeServer({"/replays/7/start-points": SAVING, "/replays/7/start-points/5": failed})
    with pytest.raises(JobFailedError, match=r"Start points long rally were not saved. The replay ended early."):
        open_replay(server).save_start_points("long rally", 130)


def test_start_sets_are_listed_by_environment() -> None:
    server = FakeServer({"/start-sets": [[START_SET]]})
    client = Client(URL, transport=server.transport)
    (start_set,) = client.start_sets(env="ALE/Pong-v5")
    assert repr(start_set) == "<StartSet 2 'long rally' of ALE/Pong-v5: 3 points>"
    assert server.requests[0].url.params["env"] == "ALE/Pong-v5"
