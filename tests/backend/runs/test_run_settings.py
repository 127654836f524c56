"""The table of settings, which has the fields of all configurations after each way to change them."""

import math
import random
from typing import Any

from sqlalchemy import select

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run, RunSetting, setting_rows
from tests.factories import CARTPOLE, PONG, Api


def stored(database: Database) -> list[dict[str, Any]]:
    """Return the rows of the table."""
    columns = RunSetting.__table__.columns
    with database.read() as session:
        rows = [dict(row) for row in session.execute(select(*columns)).mappings()]
    return sorted(rows, key=lambda row: (row["run_id"], row["name"]))


def expected(database: Database) -> list[dict[str, Any]]:
    """Return the rows that the configurations have."""
    with database.read() as session:
        runs = session.execute(select(Run.id, Run.config))
        rows = [row for run_id, config in runs for row in setting_rows(run_id, config)]
    return sorted(rows, key=lambda row: (row["run_id"], row["name"]))


def test_launched_copied_and_purged_runs_have_their_settings(api: Api, database: Database) -> None:
    first = api.launch(config=CARTPOLE | {"seed": 3})["id"]
    copy = api.user.post(f"/api/v1/runs/{first}/clone", json={"overrides": {"seed": 4}}).raise_for_status().json()
    last = api.launch(config=PONG)["id"]
    assert {(row["run_id"], row["number"]) for row in stored(database) if row["name"] == "seed"} >= {
        (first, 3.0),
        (copy["id"], 4.0),
    }
    assert stored(database) == expected(database)
    for action in ("stop", "archive", "purge"):
        body = {"ids": [first, last], "action": action}
        assert api.user.post("/api/v1/runs/bulk", json=body).json()["done"] == [first, last]
    assert {row["run_id"] for row in stored(database)} == {copy["id"]}
    assert stored(database) == expected(database)


def test_changed_configurations_have_their_settings(api: Api, database: Database) -> None:
    made = random.Random(3)
    values = [None, True, False, 0, -0.0, 1, 2.5, 1e-70, -1e70, 10**400, "", "ä", "true", [1, "ü, ö"], {"a": [1, 2]}]
    names = ["seed", "x", "", "a.b", 'quote"', "é", "n" * 501, "😀"]
    ids = [api.launch()["id"] for _ in range(3)]
    for _ in range(40):
        with database.write() as session:
            run = session.get_one(Run, made.choice(ids))
            for _ in range(made.choice((1, 2))):
                config = {name: made.choice(values) for name in names if made.random() < 0.6}
                run.config = config
                if made.random() < 0.5:
                    session.flush()
        assert stored(database) == expected(database)
    assert any(row["type"] == "json" for row in stored(database))
    assert not any(len(row["name"]) > 500 for row in stored(database))


def test_a_rolled_back_change_keeps_the_settings(api: Api, database: Database) -> None:
    run_id = api.launch()["id"]
    before = stored(database)
    with database.read() as session:
        session.get_one(Run, run_id).config = {"seed": 7}
        session.rollback()
    assert stored(database) == before == expected(database)


def test_numbers_beyond_those_of_expressions_keep_their_digits() -> None:
    found = {row["name"]: row for row in setting_rows(1, {"large": 1e70, "small": -1e-70, "nan": math.nan, "one": 1})}
    assert {name: (row["number"], row["text"]) for name, row in found.items()} == {
        "large": (None, "1e+70"),
        "small": (0.0, "-1e-70"),
        "nan": (None, "nan"),
        "one": (1.0, "1"),
    }
    assert {row["type"] for row in found.values()} == {"number"}
