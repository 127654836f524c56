"""Failures that several runs share."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run
from tests.factories import Api

FULL = "Out of memory: 16 GiB were not enough."
MANY = 1_000


def failed(session: Any, messages: Sequence[str | None], **more: Any) -> None:
    """Make a failed run of each message."""
    row = {"algorithm": "paac", "env": "CartPole-v1", "queue": "cpu", "config": {}, "total_steps": 1, "state": "failed"}
    rows = [{**row, "name": f"run {number}", "failure_message": each, **more} for number, each in enumerate(messages)]
    session.execute(insert(Run), rows)


def groups(api: Api, **query: Any) -> list[tuple[str, int]]:
    response = api.user.get("/api/v1/run-failures", params=query)
    assert response.status_code == 200, response.text
    return [(group["message"], group["runs"]) for group in response.json()]


def test_equal_failures_are_grouped_over_all_pages(api: Api, database: Database) -> None:
    with database.write() as session:
        failed(session, [FULL] * (MANY - 5) + [f"{FULL}\nAt step {n}." for n in range(2)] + ["No such game."] * 3)
    assert groups(api) == [(FULL, MANY - 3), ("No such game.", 3)]
    shown = api.user.get("/api/v1/runs", params={"state": "failed", "text": FULL, "limit": 1}).json()
    assert shown["total"] == MANY - 3, "the message finds the runs of its group"


def test_small_groups_are_omitted(api: Api, database: Database) -> None:
    with database.write() as session:
        failed(session, [FULL, FULL, "  ", None, "No such game."])
    assert groups(api) == []
    assert groups(api, min_runs=2) == [(FULL, 2)]
    assert groups(api, min_runs=1) == [(FULL, 2), ("No such game.", 1)]


def test_groups_respect_the_list_filters(api: Api, database: Database) -> None:
    with database.write() as session:
        failed(session, [FULL] * 3)
        failed(session, [FULL] * 3, env="ALE/Pong-v5")
        failed(session, [FULL] * 3, state="stopped")
    assert groups(api) == [(FULL, 6)]
    assert groups(api, env="ALE/Pong-v5") == [(FULL, 3)]
    assert groups(api, archived=True) == groups(api, state="queued") == groups(api, text="no such") == []


def test_long_messages_are_cut_to_the_search_length(api: Api, database: Database) -> None:
    with database.write() as session:
        failed(session, ["x" * 199 + " yyy"] * 3)
    assert groups(api) == [("x" * 199, 3)]
