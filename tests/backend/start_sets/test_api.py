"""Start sets: how they are imported, listed, exported and removed, and refused requests."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import StartSet
from arcadia_backend.job_kinds import start_sets
from arcadia_workers.contract.protocols.starts import StartSetFile
from tests.factories import PONG, Api, start_set

PATH = "/api/v1/start-sets"


def refusal(api: Api, points: Any, status: int, name: str = "first games") -> dict[str, Any]:
    """Return the problem of a refused start set."""
    response = api.user.post(PATH, params={"name": name}, json=points)
    assert response.status_code == status, response.text
    document: dict[str, Any] = response.json()
    return document


def test_an_imported_set_is_listed_and_exported_unchanged(api: Api) -> None:
    points = start_set("human", 3)
    stored = api.import_starts(points, name=" Ana's first games ")
    assert (stored["name"], stored["env"], stored["player"]) == ("Ana's first games", "ALE/Pong-v5", "human")
    assert (stored["protocol"], stored["points"], stored["source"]) == ("human-starts", 3, "Ana played")
    assert stored["sha256"] == StartSetFile.model_validate(points).sha256
    assert api.user.get(PATH).json() == [stored] == [api.user.get(f"{PATH}/{stored['id']}").json()]
    exported = api.user.get(f"/api/v1/export/start-sets/{stored['id']}.json")
    assert StartSetFile.model_validate(exported.json()) == StartSetFile.model_validate(points)
    assert 'filename="pong-human-starts-ana-s-first-games.json"' in exported.headers["content-disposition"]
    assert len(exported.content) == stored["bytes"]


def test_the_list_can_be_filtered_by_game(api: Api) -> None:
    pong = api.import_starts(start_set("human"), name="one")
    breakout = api.import_starts(start_set("human", env="ALE/Breakout-v5"), name="one")
    assert [row["id"] for row in api.user.get(PATH).json()] == [breakout["id"], pong["id"]]
    assert [row["id"] for row in api.user.get(PATH, params={"env": "ALE/Pong-v5"}).json()] == [pong["id"]]
    refused = api.user.get(PATH, params={"env": "pong"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "env")
    assert refused.json()["errors"][0]["message"].endswith("unknown environment 'pong': did you mean ALE/Pong-v5?")


def test_stored_points_and_taken_names_are_refused(api: Api) -> None:
    api.import_starts(start_set("human"), name="one")
    assert refusal(api, start_set("human"), 409)["detail"] == "These points are already stored as 'one'."
    other = start_set("agent")
    assert "named 'one' for Pong. Choose another name" in refusal(api, other, 409, "one")["detail"]


def test_a_game_has_a_limited_number_of_sets(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_sets, "MAX_SETS", 1)
    api.import_starts(start_set("human"), name="one")
    assert "already has 1 start sets for Pong, which is the limit" in refusal(api, start_set("agent"), 409)["detail"]
    api.import_starts(start_set("human", env="ALE/Breakout-v5"), name="one")


def _with(**changes: Any) -> Callable[[], dict[str, Any]]:
    return lambda: {**start_set("human"), **changes}


def _with_start(**changes: Any) -> Callable[[], dict[str, Any]]:
    return lambda: {**start_set("human"), "starts": [{**start_set("human")["starts"][0], **changes}]}


def _points(many: int) -> list[dict[str, Any]]:
    return [{**start_set("human")["starts"][0], "seed": seed} for seed in range(many)]


@pytest.mark.parametrize(
    ("points", "field", "reported"),
    [
        (_with(player="dog"), "player", "'human' or 'agent'"),
        (_with(env="ALE/Pongg-v5"), "env", "did you mean ALE/Pong-v5"),
        (_with(env="CartPole-v1"), "env", "CartPole-v1 is not an Atari game; only Atari games have start points"),
        (_with(version=2), "version", "should be 1"),
        (_with(starts=[]), "starts", "at least 1 item"),
        (_with(starts=_points(1_001)), "starts", "at most 1000 items"),
        (_with(starts=_points(3) + _points(1)), "starts", "starts.0 and starts.3 have the same seed and actions"),
        (_with(points=3), "points", "no such field"),
        (_with_start(seed=-1), "starts.0.seed", "greater than or equal to 0"),
        (_with_start(seed=True), "starts.0.seed", "valid integer"),
        (_with_start(screen="0123"), "starts.0.screen", "should match pattern"),
        (_with_start(actions=[[0, 4], [18, 4]]), "starts.0.actions.1.0", "less than or equal to 17"),
        (_with_start(actions=[[0, 60_000], [1, 48_000]]), "starts.0", "its actions last 108,000 frames"),
    ],
)
def test_an_invalid_set_is_refused_with_the_field_and_the_reason(
    api: Api, points: Callable[[], dict[str, Any]], field: str, reported: str
) -> None:
    (error,) = refusal(api, points(), 422)["errors"]
    assert (error["field"], reported in error["message"]) == (field, True), error
    assert api.user.get(PATH).json() == []


def test_the_number_of_reported_errors_is_limited(api: Api) -> None:
    problem = refusal(api, {**start_set("human"), "starts": [{}] * 1_000}, 422)
    assert len(problem["errors"]) == 21
    assert problem["errors"][-1] == {"field": "body", "message": "2,980 more values are invalid"}


def test_the_largest_set_is_played_completely(api: Api) -> None:
    run_id, attempt = api.running(config=PONG)
    api.save(run_id, attempt, 2, 100)
    stored = api.import_starts({**start_set("human"), "starts": _points(1_000)}, name="many")
    assert api.evaluate(run_id, protocol="human-starts", start_set=stored["id"])["episodes_total"] == 1_000


def test_a_set_from_before_these_limits_is_exported_unchanged(api: Api, database: Database) -> None:
    run_id, attempt = api.running(config=PONG)
    api.save(run_id, attempt, 2, 100)
    stored = api.import_starts(start_set("human", 2), name="old")
    content = json.dumps({**start_set("human"), "starts": _points(1) * 1_500})
    with database.write() as session:
        row = session.get_one(StartSet, stored["id"])
        row.content, row.points = content, 1_500
    assert api.user.get(f"{PATH}/{stored['id']}").json()["points"] == 1_500
    assert api.user.get(f"/api/v1/export/start-sets/{stored['id']}.json").text == content
    asked = {"protocol": "human-starts", "start_set": stored["id"]}
    refused = api.user.post(f"/api/v1/runs/{run_id}/evaluations", json=asked)
    assert refused.json()["errors"] == [
        {
            "field": "start_set",
            "message": "'old' has 1,500 start points, and an evaluation plays at most 1,000: "
            "export it, and import a part of it",
        }
    ]


def test_a_name_is_required(api: Api) -> None:
    (error,) = refusal(api, start_set("human"), 422, name=" ")["errors"]
    assert error["field"] == "name"


def test_a_set_can_be_deleted_without_unfinished_evaluations_and_scores_are_kept(api: Api) -> None:
    run_id, attempt = api.running(config=PONG)
    api.save(run_id, attempt, 2, 100)
    stored = api.import_starts(start_set("human", 2), name="Ana's")
    asked = api.evaluate(run_id, protocol="human-starts", start_set=stored["id"])
    path = f"{PATH}/{stored['id']}"
    refused = api.user.delete(path)
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        'An unfinished evaluation uses "Ana\'s". Cancel first, or wait until it is done.',
    )
    api.play([1.0, 2.0], protocol="human-starts", env="ALE/Pong-v5")
    assert api.evaluation(asked["id"])["start_set"]["kept"]
    assert api.user.delete(path).status_code == 204
    assert api.user.get(path).status_code == 404
    found = api.evaluation(asked["id"])
    assert (found["mean"], found["start_set"]["name"], found["start_set"]["kept"]) == (1.5, "Ana's", False)
