"""Bulk actions on runs."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, event

from backend.database.engine import Database
from backend.runs import service
from backend.runs.routes import BULK_BATCH_SIZE
from backend.runs.schemas import CreateRun
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
    monkeypatch.setattr("backend.runs.routes.BULK_BATCH_SECONDS", -1)
    ids = [api.launch()["id"] for _ in range(3)]
    commits.clear()
    answer = api.user.post("/api/v1/runs/bulk", json={"ids": [99, *ids], "action": "stop"}).json()
    assert answer == {"done": ids, "skipped": [{"id": 99, "reason": "There is no run 99."}]}
    assert len(commits) >= 4
