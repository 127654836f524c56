"""Aliases: names of checkpoints with a history. They are accepted wherever a checkpoint is."""

from typing import Any

import pytest
from sqlalchemy import delete

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import AliasChange
from tests.factories import CARTPOLE, Api


def saved(api: Api, steps: int = 3) -> tuple[int, int, list[int]]:
    """Return a run, its attempt, and its checkpoints."""
    run_id, attempt = api.running()
    return run_id, attempt, [api.save(run_id, attempt, 2 + n, 100 * (n + 1)) for n in range(steps)]


def name(api: Api, alias: str, checkpoint: int, **more: Any) -> Any:
    """Set an alias and return its history."""
    response = api.user.put("/api/v1/aliases", json={"name": alias, "checkpoint_id": checkpoint, **more})
    assert response.status_code == 200, response.text
    return response.json()


def aliases(api: Api) -> dict[str, Any]:
    """Return the aliases by name."""
    return {each["name"]: each for each in api.user.get("/api/v1/aliases").json()}


def test_an_alias_moves_and_keeps_its_history(api: Api) -> None:
    run_id, _, (first, second, _) = saved(api)
    name(api, "pong/champion", first, who="ana", why="It won.")
    name(api, "pong/champion", second, who="ben", why="It won more.")
    name(api, "pong/champion", second)
    found = aliases(api)["pong/champion"]
    assert (found["run_id"], found["checkpoint_id"], found["step"], found["available"]) == (run_id, second, 200, True)
    history = api.user.get("/api/v1/aliases/history", params={"name": "pong/champion"}).json()
    assert [(each["checkpoint_id"], each["who"], each["why"]) for each in history] == [
        (second, "ben", "It won more."),
        (first, "ana", "It won."),
    ]
    rows = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    assert [row["aliases"] for row in rows] == [[], ["pong/champion"], []]
    assert rows[1]["kept_as"] == "alias"


def test_the_history_names_the_caller_by_default(api: Api) -> None:
    _, _, (first, *_) = saved(api)
    name(api, "pong/champion", first)
    assert api.user.delete("/api/v1/aliases", params={"name": "pong/champion"}).status_code == 204
    history = api.user.get("/api/v1/aliases/history", params={"name": "pong/champion"}).json()
    assert [each["who"].endswith("(API)") for each in history] == [True, True]


def test_requests_accept_an_alias_as_a_checkpoint(api: Api) -> None:
    run_id, _, (first, *_) = saved(api)
    name(api, "champion", first)
    assert api.evaluate(run_id, checkpoint="champion")["checkpoint_id"] == first
    recording = api.user.post(f"/api/v1/runs/{run_id}/recordings", json={"checkpoint": "champion"})
    assert recording.json()["checkpoint_id"] == first
    assert api.act(run_id, "fork", checkpoint_id="champion")["step"] == 100


def test_an_alias_of_another_run_is_refused(api: Api) -> None:
    run_id, attempt, (first, *_) = saved(api)
    api.release(run_id, attempt, "finished")
    name(api, "champion", first)
    other, _, _ = saved(api, 1)
    for alias, message in (("champion", f"names a checkpoint of run {run_id}"), ("nobody", "there is no alias")):
        response = api.user.post(f"/api/v1/runs/{other}/evaluations", json={"checkpoint": alias})
        assert response.status_code == 422
        assert message in response.json()["errors"][0]["message"]


def test_a_named_checkpoint_is_not_pruned(api: Api) -> None:
    run_id, attempt = api.running(config={**CARTPOLE, "checkpoints_kept": 3})
    first = api.save(run_id, attempt, 2, 100)
    second = api.save(run_id, attempt, 3, 200)
    name(api, "second", second)
    for n in range(6):
        api.save(run_id, attempt, 4 + n, 300 + 100 * n)
    kept = {row["id"] for row in api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json() if row["available"]}
    assert {first, second} < kept
    api.user.delete("/api/v1/aliases", params={"name": "second"})
    api.save(run_id, attempt, 10, 1_000)
    kept = {row["id"] for row in api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json() if row["available"]}
    assert second not in kept


def test_a_removed_alias_keeps_its_history(api: Api) -> None:
    _, _, (first, *_) = saved(api)
    name(api, "champion", first)
    removed = api.user.delete("/api/v1/aliases", params={"name": "champion", "who": "ana", "why": "Old."})
    assert removed.status_code == 204
    assert aliases(api) == {}
    history = api.user.get("/api/v1/aliases/history", params={"name": "champion"}).json()
    assert [(each["checkpoint_id"], each["why"]) for each in history] == [(None, "Old."), (first, "")]
    assert api.user.delete("/api/v1/aliases", params={"name": "champion"}).status_code == 404
    assert api.user.get("/api/v1/aliases/history", params={"name": "nobody"}).status_code == 404


def test_the_history_outlives_the_run(api: Api) -> None:
    run_id, attempt, (first, *_) = saved(api)
    name(api, "champion", first)
    api.release(run_id, attempt, "finished")
    api.act(run_id, "archive")
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert aliases(api)["champion"]["available"] is False


@pytest.mark.required_cases(3)
@pytest.mark.parametrize(
    "alias", ["best", "newest", "12", "a//b", "/a", "a/", "ü", "a/b/c/d/e", "", "a b", "a" * 101, "Pong"]
)
def test_invalid_names_are_refused(api: Api, alias: str) -> None:
    _, _, (first, *_) = saved(api)
    response = api.user.put("/api/v1/aliases", json={"name": alias, "checkpoint_id": first})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "name"


def test_an_unknown_checkpoint_is_refused(api: Api) -> None:
    response = api.user.put("/api/v1/aliases", json={"name": "a", "checkpoint_id": 99})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "checkpoint_id"


def test_a_deleted_checkpoint_cannot_be_named(api: Api) -> None:
    run_id, attempt = api.running(config={**CARTPOLE, "checkpoints_kept": 3})
    checkpoints = [api.save(run_id, attempt, 2 + n, 100 * (n + 1)) for n in range(6)]
    rows = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    deleted = next(row for row in rows if row["id"] in checkpoints and not row["available"])
    response = api.user.put("/api/v1/aliases", json={"name": "a", "checkpoint_id": deleted["id"]})
    assert response.status_code == 409
    assert f"step {deleted['step']} was deleted. Choose a checkpoint that has a file" in response.json()["detail"]


def test_archives_carry_aliases_unless_their_names_are_taken(api: Api, database: Database) -> None:
    run_id, attempt, (first, second, _) = saved(api)
    name(api, "moved", first)
    name(api, "moved", second, why="Better.")
    name(api, "taken", first)
    api.release(run_id, attempt, "finished")
    archive = api.user.get("/api/v1/archives", params={"runs": run_id}).content
    api.act(run_id, "archive")
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    with database.write() as session:
        session.execute(delete(AliasChange).where(AliasChange.name == "moved"))
    other, _, (champion, *_) = saved(api, 1)
    name(api, "taken", champion)
    (imported,) = api.user.post("/api/v1/archives", content=archive).json()["runs"]
    found = aliases(api)
    assert (found["moved"]["run_id"], found["moved"]["step"], found["moved"]["available"]) == (imported, 200, True)
    assert found["taken"]["run_id"] == other
    history = api.user.get("/api/v1/aliases/history", params={"name": "moved"}).json()
    assert [each["step"] for each in history] == [200, 100]
