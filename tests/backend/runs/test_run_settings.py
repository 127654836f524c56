"""The table of settings, which has the fields of all configurations.

After each test with the application, the fixture `client` compares the table with the configurations.
"""

import math
import random

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run, setting_rows
from tests.factories import CARTPOLE, PONG, Api
from tests.settings_table import expected_settings, stored_settings


def test_launched_copied_and_purged_runs_have_their_settings(api: Api, database: Database) -> None:
    first = api.launch(config=CARTPOLE | {"seed": 3})["id"]
    copy = api.user.post(f"/api/v1/runs/{first}/clone", json={"overrides": {"seed": 4}}).raise_for_status().json()
    last = api.launch(config=PONG)["id"]
    assert {(row["run_id"], row["number"]) for row in stored_settings(database) if row["name"] == "seed"} >= {
        (first, 3.0),
        (copy["id"], 4.0),
    }
    assert stored_settings(database) == expected_settings(database)
    for action in ("stop", "archive", "purge"):
        assert api.bulk(action, [first, last])["done"] == 2
    assert {row["run_id"] for row in stored_settings(database)} == {copy["id"]}
    assert stored_settings(database) == expected_settings(database)


def test_of_a_practice_only_the_share_is_a_setting(api: Api, database: Database) -> None:
    episode = {"seed": 3, "actions": "01", "mistakes": [2], "seen": 0.5, "score": 2.0}
    practice = {"share": 0.5, "before": 1, "episodes": [episode]}
    config = CARTPOLE | {"practice": practice}
    run = api.launch(config=config)
    control = api.launch(config=config | {"practice": practice | {"share": 0.0}})["id"]
    other = api.launch(config=config | {"practice": practice | {"before": 2}})["id"]
    plain = api.launch()
    assert run["config"]["practice"]["episodes"][0]["actions"] == "01"
    assert "practice" not in plain["config"]
    rows = [row for row in stored_settings(database) if "practice" in row["name"]]
    assert [(row["name"], row["number"]) for row in rows] == [
        ("practice.share", 0.5),
        ("practice.share", 0.0),
        ("practice.share", 0.5),
    ]
    listed = api.user.get("/api/v1/run-settings", params={"every": True}).json()["settings"]
    [setting] = [each for each in listed if "practice" in each["field"]]
    assert (setting["field"], setting["examples"]) == ("practice.share", [0.5, 0.0])
    found = api.user.get("/api/v1/runs", params={"filter": f"{setting['name']} > 0.1"}).raise_for_status().json()
    assert {each["id"] for each in found["items"]} == {run["id"], other}
    compared = api.user.get("/api/v1/compare", params={"runs": f"{run['id']},{control},{other}"}).json()
    assert {each["field"] for each in compared["differences"] if not each["same"]} == {
        "practice.share",
        "practice.starts",
    }
    clone = api.act(run["id"], "clone", overrides={"seed": 5})
    assert clone["config"]["practice"] == run["config"]["practice"]


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
        assert stored_settings(database) == expected_settings(database)
    assert any(row["type"] == "json" for row in stored_settings(database))
    assert not any(len(row["name"]) > 500 for row in stored_settings(database))


def test_a_rolled_back_change_keeps_the_settings(api: Api, database: Database) -> None:
    run_id = api.launch()["id"]
    before = stored_settings(database)
    with database.read() as session:
        session.get_one(Run, run_id).config = {"seed": 7}
        session.rollback()
    assert stored_settings(database) == before == expected_settings(database)


def test_numbers_beyond_those_of_expressions_keep_their_digits() -> None:
    found = {row["name"]: row for row in setting_rows(1, {"large": 1e70, "small": -1e-70, "nan": math.nan, "one": 1})}
    assert {name: (row["number"], row["text"]) for name, row in found.items()} == {
        "large": (None, f"1{70 * '0'}"),
        "small": (0.0, "-1e-70"),
        "nan": (None, "nan"),
        "one": (1.0, "1"),
    }
    assert {row["type"] for row in found.values()} == {"number"}
