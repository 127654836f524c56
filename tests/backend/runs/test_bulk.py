"""Bulk actions on runs."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from arcadia_backend.database.engine import Database
from arcadia_backend.runs import service
from arcadia_backend.runs.routes import BULK_BATCH_SIZE
from arcadia_backend.runs.schemas import CreateRun
from tests.factories import CARTPOLE, Api


@pytest.fixture
def commits() -> Iterator[list[Connection]]:
    """Yield a list that collects the committed transactions."""
    seen: list[Connection] = []

    def note(connection: Connection) -> None:
        seen.append(connection)

    event.listen(Engine, "commit", note)
    yield seen
    event.remove(Engine, "commit", note)


def test_runs_that_do_not_allow_the_action_are_skipped(api: Api) -> None:
    queued, stopped = api.launch()["id"], api.launch()["id"]
    api.act(stopped, "stop")
    result = api.user.post("/api/v1/runs/bulk", json={"action": "stop", "ids": [queued, stopped, 999, queued]}).json()
    assert result["done"] == [queued]
    assert result["skipped"] == [
        {"id": stopped, "reason": f"Run {stopped} has already stopped."},
        {"id": 999, "reason": "There is no run 999."},
    ]
    assert api.run(queued)["state"] == "stopped"


def test_many_runs_are_purged(api: Api) -> None:
    made = [api.launch()["id"] for _ in range(3)]
    for run_id in made[:2]:
        api.act(run_id, "stop")
    result = api.user.post("/api/v1/runs/bulk", json={"action": "purge", "ids": made}).json()
    assert result["done"] == made[:2]
    assert [row["id"] for row in api.user.get("/api/v1/runs").json()["items"]] == [made[2]]


def test_tags_are_added_to_and_removed_from_many_runs(api: Api) -> None:
    ids = [api.launch(tags=tags)["id"] for tags in (["a"], [], [f"t{number}" for number in range(19)])]
    result = api.user.post("/api/v1/runs/bulk", json={"action": "tag", "ids": [*ids, 99], "tags": ["b", "a"]}).json()
    assert result["done"] == ids[:2]
    assert result["skipped"] == [
        {"id": ids[2], "reason": f"Run {ids[2]} would have more than 20 tags."},
        {"id": 99, "reason": "There is no run 99."},
    ]
    assert [api.run(run_id)["tags"] for run_id in ids[:2]] == [["a", "b"], ["a", "b"]]
    result = api.user.post("/api/v1/runs/bulk", json={"action": "untag", "ids": ids[:2], "tags": ["a", "c"]}).json()
    assert result == {"done": ids[:2], "skipped": []}
    assert [api.run(run_id)["tags"] for run_id in ids[:2]] == [["b"], ["b"]]


@pytest.mark.parametrize(
    "wrong", [{"action": "tag"}, {"action": "stop", "tags": ["a"]}, {"action": "untag", "tags": []}]
)
def test_only_tag_actions_have_tags(api: Api, wrong: dict[str, Any]) -> None:
    answer = api.user.post("/api/v1/runs/bulk", json={"ids": [1], **wrong})
    assert answer.status_code == 422
    assert "the actions tag and untag need tags" in answer.text


def test_many_runs_take_few_transactions(api: Api, database: Database, commits: list[Connection]) -> None:
    with database.write() as session:
        ids = [service.create(session, CreateRun(config=CARTPOLE)).id for _ in range(BULK_BATCH_SIZE + 1)]
    commits.clear()
    answer = api.user.post("/api/v1/runs/bulk", json={"ids": ids, "action": "stop"}).json()
    assert answer == {"done": ids, "skipped": []}
    assert 2 <= len(commits) < 10


def test_slow_bulk_action_lets_others_write_in_between(
    api: Api, commits: list[Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcadia_backend.runs.routes.BULK_BATCH_SECONDS", -1)
    ids = [api.launch()["id"] for _ in range(3)]
    commits.clear()
    answer = api.user.post("/api/v1/runs/bulk", json={"ids": [99, *ids], "action": "stop"}).json()
    assert answer == {"done": ids, "skipped": [{"id": 99, "reason": "There is no run 99."}]}
    assert len(commits) >= 4
