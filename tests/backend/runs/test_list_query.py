"""The list of runs: filters, order and pages."""

import base64
import json
import math
from typing import Any

import pytest

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run
from arcadia_backend.metrics.points import MetricSeries
from arcadia_backend.runs.list_query import SORTABLE
from tests.factories import CARTPOLE, Api, metrics

PONG = {"algorithm": "paac", "env": "ALE/Pong-v5"}


def ids(api: Api, **query: Any) -> list[int]:
    response = api.user.get("/api/v1/runs", params=query)
    assert response.status_code == 200, response.text
    page = response.json()
    assert page["total"] >= len(page["items"])
    return [run["id"] for run in page["items"]]


def walk(api: Api, sort: str, limit: int) -> list[int]:
    """Return the runs of all pages."""
    found: list[int] = []
    cursor = None
    while True:
        query: dict[str, str | int] = {"sort": sort, "limit": limit}
        if cursor:
            query["cursor"] = cursor
        page = api.user.get("/api/v1/runs", params=query).json()
        found += [run["id"] for run in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def test_list_is_newest_first_by_default(api: Api) -> None:
    made = [api.launch()["id"] for _ in range(3)]
    assert ids(api) == made[::-1]


def test_runs_are_filtered_by_id(api: Api) -> None:
    first, _, third = (api.user.post("/api/v1/runs", json={"config": CARTPOLE}).json()["id"] for _ in range(3))
    assert ids(api, id=[first, third, 999]) == [third, first]


def test_text_filter_finds_failure_messages(api: Api, database: Database) -> None:
    full, other, _ = [api.launch()["id"] for _ in range(3)]
    with database.write() as session:
        for run_id, message in ((full, "Out of memory: 16 GiB."), (other, "No such game.")):
            session.get_one(Run, run_id).failure_message = message
    assert ids(api, text="out of memory: 16 GiB.") == [full]


def test_filters_narrow_the_list(api: Api) -> None:
    pong = api.launch(config=PONG, tags=["atari", "long"], name="ping")["id"]
    cart = api.launch(tags=["long"], notes="A pole, 50% done")["id"]
    stopped = api.launch()["id"]
    api.act(stopped, "stop")
    assert ids(api, state="stopped") == [stopped]
    assert ids(api, state=["stopped", "queued"]) == [stopped, cart, pong]
    assert ids(api, tag="long") == [cart, pong]
    assert ids(api, tag=["long", "atari"]) == [pong]
    assert ids(api, env="ALE/Pong-v5") == [pong]
    assert ids(api, algorithm="paac") == [stopped, cart, pong]
    assert ids(api, algorithm="a3c") == []
    assert ids(api, text="PING") == [pong]
    assert ids(api, text="pole") == [stopped, cart], "matches the environment's name and the notes"
    assert ids(api, text="50%") == [cart]
    assert ids(api, text="_") == []
    assert ids(api, text="ata") == [pong]
    assert ids(api, text=f"#{cart}") == [cart]
    assert api.user.get("/api/v1/runs", params={"state": "asleep"}).status_code == 422


def test_archived_runs_are_hidden_until_restored(api: Api) -> None:
    kept, hidden = api.launch()["id"], api.launch()["id"]
    api.act(hidden, "stop")
    api.act(hidden, "archive")
    assert ids(api) == [kept]
    assert ids(api, archived=True) == [hidden]
    api.act(hidden, "restore")
    assert ids(api) == [hidden, kept]


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("descending", [False, True])
def test_pages_contain_every_run_once_in_any_order(api: Api, database: Database, descending: bool) -> None:
    made = [api.launch(name=name)["id"] for name in ("b", "a", "b", "c", "a")]
    api.act(made[0], "stop")
    _give_metric(database, dict(zip(made, (1.5, -2.0, math.nan, math.inf), strict=False)))
    sign = "-" if descending else ""
    for sort in (*SORTABLE, "metric:episode/return:last", "metric:episode/return:min", "metric:unknown:max"):
        whole = ids(api, sort=sign + sort)
        assert sorted(whole) == sorted(made), sort
        assert walk(api, sign + sort, 2) == whole, sort
    by_name = sorted(range(5), key=lambda i: ("babca"[i], i), reverse=descending)
    assert ids(api, sort=f"{sign}name") == [made[i] for i in by_name]


def cursor(sort: str, value: Any) -> str:
    """Return a cursor as a client may forge it."""
    return base64.urlsafe_b64encode(json.dumps([repr([sort]), [value], 1]).encode()).decode()


def test_sorting_by_a_metric_puts_runs_without_it_last(api: Api, database: Database) -> None:
    low, without, high = (api.launch()["id"] for _ in range(3))
    _give_metric(database, {low: -21.0, high: 18.5})
    assert ids(api, sort="metric:episode/return:last") == [low, high, without]
    assert ids(api, sort="-metric:episode/return:max") == [high, low, without]


def test_configuration_fields_sort_as_numbers_or_text(api: Api) -> None:
    given: list[dict[str, Any]] = [
        {"learning_rate": 0.5},
        {"learning_rate": 5e-05, "activation": "relu"},
        {"learning_rate": 0.01},
    ]
    large, small, middle = (api.launch(config=CARTPOLE | fields)["id"] for fields in given)
    other = api.launch(config={"algorithm": "n_step_q", "env": "CartPole-v1"})["id"]
    assert [i for i in ids(api, sort="config:learning_rate") if i != other] == [small, middle, large]
    assert [i for i in ids(api, sort="-config:learning_rate") if i != other] == [large, middle, small]
    # Runs whose method lacks the field come last.
    assert ids(api, sort="config:num_envs")[-1] == ids(api, sort="-config:num_envs")[-1] == other
    assert ids(api, sort="config:activation")[0] == small
    for sort in ("learning_rate", "num_envs", "activation", "clip_rewards", "hidden_layers"):
        for sign in ("", "-"):
            whole = ids(api, sort=f"{sign}config:{sort}")
            assert sorted(whole) == [large, small, middle, other], sort
            assert walk(api, f"{sign}config:{sort}", 1) == whole, sort


def test_fields_of_an_earlier_type_can_be_sorted(api: Api, database: Database) -> None:
    made = [api.launch()["id"] for _ in range(3)]
    with database.write() as session:
        for run_id, value in zip(made, ("much", None, [1, 2]), strict=True):
            run = session.get_one(Run, run_id)
            run.config = run.config | {"seed": value}
    last = api.launch()["id"]
    assert ids(api, sort="config:seed")[0] == last
    assert walk(api, "-config:seed", 1) == ids(api, sort="-config:seed")


def test_facets_count_all_runs(api: Api) -> None:
    first = api.launch(tags=["atari", "night"])["id"]
    api.launch(config=PONG, tags=["atari"])
    hidden = api.launch(tags=["old"])["id"]
    api.act(first, "stop")
    for action in ("stop", "archive"):
        api.act(hidden, action)
    reported = api.user.get("/api/v1/run-facets").json()
    assert reported == {
        "state": [{"value": "queued", "runs": 1}, {"value": "stopped", "runs": 1}],
        "origin": [{"value": "trained", "runs": 2}],
        "project": [{"value": "Main", "runs": 2}],
        "algorithm": [{"value": "paac", "runs": 2}],
        "env": [{"value": "ALE/Pong-v5", "runs": 1}, {"value": "CartPole-v1", "runs": 1}],
        "tag": [{"value": "atari", "runs": 2}, {"value": "night", "runs": 1}],
    }
    archived = api.user.get("/api/v1/run-facets", params={"archived": True}).json()
    assert archived["tag"] == [{"value": "old", "runs": 1}]


def test_list_includes_requested_metrics(api: Api) -> None:
    run_id, attempt = api.running()
    values: list[Any] = [2.0, 0.5, "Infinity", 1.0]
    api.send(run_id, attempt, *(metrics(seq, seq, {"a/b": value, "c": 0}) for seq, value in enumerate(values, 2)))
    without = api.launch()["id"]
    asked = {"metric": ["a/b", "episode/return"]}
    listed = {run["id"]: run for run in api.user.get("/api/v1/runs", params=asked).json()["items"]}
    assert listed[run_id]["metrics"] == {"a/b": {"last": 1.0, "min": 0.5, "max": "Infinity"}}
    assert "metrics" not in listed[without]
    assert api.user.get("/api/v1/metric-names").json() == ["a/b", "c"]


def test_filter_by_exact_name(api: Api) -> None:
    a, b = api.launch(name="pong 1")["id"], api.launch(name="pong 2")["id"]
    api.launch(name="pong 11")
    api.launch(name="Pong 1")
    found = [
        api.user.get("/api/v1/runs", params={"name": names, "sort": "id"}).json()
        for names in (["pong 1"], ["pong 1", "pong 2"])
    ]
    assert [[run["id"] for run in page["items"]] for page in found] == [[a], [a, b]]
    assert api.user.get("/api/v1/runs", params={"name": "pong"}).json()["total"] == 0


def test_new_run_does_not_shift_pages(api: Api) -> None:
    made = [api.launch()["id"] for _ in range(4)]
    first = api.user.get("/api/v1/runs", params={"limit": 2}).json()
    api.launch()
    second = api.user.get("/api/v1/runs", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [run["id"] for run in first["items"] + second["items"]] == made[::-1]
    assert second["next_cursor"] is None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"sort": "config"}, "sort"),
        ({"sort": "metric:a:mean"}, "sort"),
        ({"sort": "config:"}, "sort"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"cursor": "W10="}, "cursor"),
        ({"cursor": "WyJuYW1lIiwgImEiLCAxXQ=="}, "cursor"),
        ({"sort": "id", "cursor": cursor("id", 10**30)}, "cursor"),
        ({"sort": "created_at", "cursor": cursor("created_at", {"time": "0001-01-01T00:00:00+14:00"})}, "cursor"),
        ({"sort": "created_at", "cursor": cursor("created_at", {"time": "9999-12-31T23:59:59-14:00"})}, "cursor"),
        ({"sort": "name", "cursor": cursor("name", "\0")}, "cursor"),
        ({"sort": "name", "cursor": cursor("name", "\ud800")}, "cursor"),
        ({"limit": 1_001}, "limit"),
        ({"metric": "a\nb"}, "metric.0"),
        ({"metric": ["m"] * 51}, "metric"),
    ],
)
def test_invalid_query_is_reported(api: Api, query: dict[str, Any], field: str) -> None:
    response = api.user.get("/api/v1/runs", params=query)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]


@pytest.mark.parametrize("query", ["tag", "text", "algorithm", "env", "sort=metric:x%00:last&text"])
def test_unstorable_search_text_is_accepted(api: Api, query: str) -> None:
    api.launch()
    assert api.user.get(f"/api/v1/runs?{query}=%00a").json()["items"] == []


def test_colors_of_neighbors_differ_and_are_stable(api: Api) -> None:
    made = [api.launch(config=CARTPOLE) for _ in range(6)]
    assert len({run["color"] for run in made}) == 6
    assert [api.run(run["id"])["color"] for run in made] == [run["color"] for run in made]


def _give_metric(database: Database, values: dict[int, float]) -> None:
    with database.write() as session:
        for run_id, value in values.items():
            session.add(MetricSeries(run_id=run_id, name="episode/return", last=value, min=value, max=value))
