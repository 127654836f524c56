"""Sorting by several columns and by computed columns."""

import math
import random
from typing import Any

import pytest

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run
from arcadia_backend.metrics.points import MetricClock, MetricSeries
from tests.factories import CARTPOLE, Api

RUNS = 17


def page(api: Api, **query: Any) -> dict[str, Any]:
    response = api.user.get("/api/v1/runs", params=query)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def walk(api: Api, limit: int, **query: Any) -> list[int]:
    """Return the runs of all pages."""
    found: list[int] = []
    cursor = None
    while True:
        part = page(api, limit=limit, **query, **({"cursor": cursor} if cursor else {}))
        assert part["total"] == RUNS
        found += [run["id"] for run in part["items"]]
        cursor = part["next_cursor"]
        if cursor is None:
            return found


@pytest.fixture
def rows(api: Api, database: Database) -> dict[int, dict[str, Any]]:
    """Return random runs with many equal and missing values."""
    made = random.Random(5)
    found: dict[int, dict[str, Any]] = {}
    for _ in range(RUNS):
        run_id = api.launch(config=CARTPOLE | {"seed": made.choice((1, 2))})["id"]
        found[run_id] = {
            "best_return": made.choice((None, 1.0, 2.0, math.nan)),
            "hours": made.choice((0.0, 1.0, 4.0)),
            "name": made.choice("abc"),
            "loss": made.choice((None, 0.5, 3.0)),
        }
    with database.write() as session:
        for run_id, row in found.items():
            run = session.get_one(Run, run_id)
            run.best_return, run.name = row["best_return"], row["name"]
            row["seed"] = run.config["seed"]
            session.add(MetricClock(run_id=run_id, attempt=1, first=0.0, last=row["hours"] * 3600))
            if row["loss"] is not None:
                session.add(MetricSeries(run_id=run_id, name="loss", last=row["loss"]))
    return found


def test_runs_are_sorted_by_several_columns(api: Api, rows: dict[int, dict[str, Any]]) -> None:
    # Runs without a value come last in both directions.
    expected = sorted(sorted(rows, reverse=True), key=lambda i: rows[i]["name"], reverse=True)
    expected.sort(key=lambda i: (rows[i]["loss"] is None, rows[i]["loss"] or 0))
    assert walk(api, RUNS, sort="last(loss),-name") == expected
    expected = sorted(sorted(rows), key=lambda i: rows[i]["name"])
    expected.sort(key=lambda i: -rows[i]["seed"])
    assert walk(api, RUNS, sort="-seed, name") == expected
    assert walk(api, RUNS, sort="-config:seed,name") == expected
    expected = sorted(sorted(rows), key=lambda i: -rows[i]["seed"])
    expected.sort(key=lambda i: (rows[i]["loss"] is None, rows[i]["loss"] or 0))
    assert walk(api, RUNS, sort="metric:loss:last,-config:seed,metric:other:max") == expected


@pytest.mark.required_cases(3)
@pytest.mark.parametrize(
    "sort",
    [
        "-best_return,created_at",
        "name,-config:seed",
        "-metric:loss:last,name",
        "max(last(loss), 1),-state,id",
        "-efficiency,name",
        "-best_return / hours",
        "env,-started,worker,notes,project",
    ],
)
def test_pages_in_any_order_have_each_run_once(api: Api, rows: dict[int, dict[str, Any]], sort: str) -> None:
    query = {"sort": sort, "compute": ["efficiency = best_return / hours"]}
    whole = walk(api, RUNS, **query)
    assert sorted(whole) == sorted(rows)
    assert walk(api, 3, **query) == whole
    for offset in (0, 1, 8, RUNS - 1, RUNS, 1_000):
        part = page(api, limit=4, offset=offset, **query)
        assert [run["id"] for run in part["items"]] == whole[offset : offset + 4]
        assert part["total"] == RUNS
        if part["next_cursor"] is not None:
            following = page(api, limit=4, cursor=part["next_cursor"], **query)
            assert [run["id"] for run in following["items"]] == whole[offset + 4 : offset + 8]


def test_computed_columns_are_returned_and_sorted(api: Api, rows: dict[int, dict[str, Any]]) -> None:
    compute = ["efficiency = best_return / hours", "root = sqrt(last(loss) - 1)"]
    items = page(api, compute=compute, sort="-efficiency", limit=RUNS)["items"]

    def efficiency(row: dict[str, Any]) -> float | None:
        best = row["best_return"]
        return best / row["hours"] if best is not None and not math.isnan(best) and row["hours"] else None

    for run in items:
        row = rows[run["id"]]
        root = math.sqrt(row["loss"] - 1) if row["loss"] == 3.0 else None
        assert run["computed"] == {"efficiency": efficiency(row), "root": root}
    found = [run["computed"]["efficiency"] for run in items]
    present = [value for value in found if value is not None]
    assert found == sorted(present, reverse=True) + [None] * (RUNS - len(present))
    assert 0 < len(present) < RUNS


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"sort": "tag"}, "sort"),
        ({"sort": "nothing_like_it"}, "sort"),
        ({"sort": ",".join(["name"] * 6)}, "sort"),
        ({"compute": ["best_return / hours"]}, "compute"),
        ({"compute": ["hours = best_return"]}, "compute"),
        ({"compute": ["a = env"]}, "compute"),
        ({"compute": ["a = 1", "a = 2"]}, "compute"),
        ({"compute": ["a = 1 > 2"]}, "compute"),
    ],
)
def test_wrong_orders_and_columns_are_rejected(api: Api, query: dict[str, Any], field: str) -> None:
    response = api.user.get("/api/v1/runs", params=query)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]


def test_a_cursor_fits_only_one_definition_of_a_column(api: Api) -> None:
    for _ in range(2):
        api.launch()
    first = page(api, sort="a", compute=["a = steps"], limit=1)
    query = {"sort": "a", "compute": ["a = frames"], "cursor": first["next_cursor"]}
    answer = api.user.get("/api/v1/runs", params=query)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "cursor")


def test_a_page_has_a_cursor_or_an_offset(api: Api) -> None:
    for _ in range(2):
        api.launch()
    cursor = page(api, limit=1)["next_cursor"]
    assert len(page(api, cursor=cursor, offset=0)["items"]) == 1
    answer = api.user.get("/api/v1/runs", params={"cursor": cursor, "offset": 1})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "offset")
    assert api.user.get("/api/v1/runs", params={"offset": -1}).status_code == 422
