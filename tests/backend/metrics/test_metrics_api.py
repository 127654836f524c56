"""Tests of the metrics API."""

from typing import Any

from sqlalchemy import func, select

from arcadia_backend.database.engine import Database
from arcadia_backend.metrics.points import MetricChunk, MetricClock, MetricPage, MetricSeries
from tests.factories import Api, metrics, started

ALL = "/api/v1/runs/{}/metrics"


def test_points_are_merged_into_buckets_only_if_there_are_too_many(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, *(metrics(seq, seq * 10, {"train/entropy": seq}) for seq in range(2, 102)))
    raw = api.user.get(ALL.format(run_id), params={"names": "train/entropy", "buckets": 100}).json()
    assert raw["series"]["train/entropy"]["resolution"] == "raw"
    assert raw["series"]["train/entropy"]["mean"] == list(range(2, 102))
    few = api.user.get(ALL.format(run_id), params={"names": "train/entropy", "buckets": 10}).json()
    assert not few["complete"], "points were merged"
    assert not few["continues"], "the points replace all earlier ones"
    series = few["series"]["train/entropy"]
    assert (series["resolution"], series["total"]) == ("buckets", 100)
    assert 8 <= len(series["x"]) <= 10
    assert sum(series["count"]) == 100
    assert (min(series["min"]), max(series["max"]), series["x"][-1], series["last"][-1]) == (2, 101, 1010, 101)


def test_zooming_in_returns_every_point(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, *(metrics(seq, seq * 10, {"train/entropy": seq}) for seq in range(2, 502)))
    zoom: dict[str, Any] = {"names": "train/entropy", "buckets": 10, "from": 1_000, "to": 1_050}
    answer = api.user.get(ALL.format(run_id), params=zoom).json()
    assert answer["complete"]
    series = answer["series"]["train/entropy"]
    assert series["resolution"] == "raw"
    assert series["x"] == [1_000, 1_010, 1_020, 1_030, 1_040, 1_050]


def test_nan_and_infinity_are_sent_as_strings(api: Api) -> None:
    run_id, attempt = api.running()
    values = ["NaN", 1.5, "Infinity", "-Infinity"]
    sent = [metrics(seq, seq, {"train/grad_norm": value}) for seq, value in enumerate(values, start=2)]
    assert api.send(run_id, attempt, *sent).status_code == 200
    series = api.user.get(ALL.format(run_id)).json()["series"]["train/grad_norm"]
    assert series["mean"] == series["last"] == values
    summary = api.user.get("/api/v1/compare", params={"runs": run_id}).json()["summary"][0]["metrics"]
    assert summary["train/grad_norm"] == {"last": "-Infinity", "max": "Infinity", "mean_last_100": "NaN"}


def test_a_cursor_returns_only_new_points(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 10, {"a": 1}), metrics(3, 20, {"a": 2}))
    first = api.user.get(ALL.format(run_id)).json()
    assert first["complete"]
    api.send(run_id, attempt, metrics(4, 30, {"a": 3, "b": 7}))
    then = api.user.get(ALL.format(run_id), params={"after": first["cursor"]}).json()
    assert (then["complete"], then["continues"]) == (False, True)
    assert then["series"]["a"]["x"] == [30]
    assert then["series"]["b"]["x"] == [30]
    assert api.user.get(ALL.format(run_id), params={"after": then["cursor"]}).json()["series"]["a"]["x"] == []


def test_a_cursor_from_before_a_resume_returns_everything(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, *(metrics(seq, seq * 10, {"a": seq}) for seq in range(2, 7)))
    cursor = api.user.get(ALL.format(run_id)).json()["cursor"]
    api.release(run_id, attempt, "drained")
    attempt = api.claim()["attempt"]
    api.send(run_id, attempt, started(1, resumed_from=30), metrics(2, 40, {"a": 100}))
    answer = api.user.get(ALL.format(run_id), params={"after": cursor}).json()
    assert (answer["complete"], answer["continues"]) == (True, False)
    assert answer["series"]["a"]["x"] == [20, 30, 40]
    assert answer["series"]["a"]["last"] == [2, 3, 100]


def test_superseded_points_do_not_count_in_the_runs_statistics(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 10, returns=[5, 7]), metrics(3, 50, returns=[900]))
    assert (api.run(run_id)["episodes"], api.run(run_id)["last_return"]) == (3, 304)
    api.release(run_id, attempt, "drained")
    attempt = api.claim()["attempt"]
    api.send(run_id, attempt, started(1, resumed_from=10))
    run = api.run(run_id)
    assert (run["episodes"], run["last_return"], run["best_return"]) == (2, 6, 6)
    summary = api.user.get("/api/v1/compare", params={"runs": run_id}).json()["summary"][0]
    assert summary["metrics"]["episode/return"] == {"last": 7, "max": 7, "mean_last_100": 6}


def test_time_leaves_out_the_gaps_between_attempts(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 10, {"a": 1}), metrics(3, 20, {"a": 2}))
    api.release(run_id, attempt, "drained")
    attempt = api.claim()["attempt"]
    api.send(run_id, attempt, started(1, resumed_from=20))
    later = [metrics(seq, 10 * seq, {"a": seq}) | {"time": 1_800_000_000.0 + seq} for seq in (3, 4)]
    api.send(run_id, attempt, later[0] | {"seq": 2}, later[1] | {"seq": 3})
    assert api.user.get(ALL.format(run_id), params={"x": "time"}).json()["series"]["a"]["x"] == [0, 1, 1, 2]


def test_an_epoch_is_four_million_frames(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 500_000, {"a": 1}), metrics(3, 1_000_000, {"a": 2}))
    assert api.user.get(ALL.format(run_id), params={"x": "epoch"}).json()["series"]["a"]["x"] == [0.5, 1.0]


def test_names_are_listed_in_order(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 10, {"train/entropy": 1, "a": 2}, returns=[3]))
    names = api.user.get(f"/api/v1/runs/{run_id}/metric-names").json()
    assert names == ["a", "episode/length", "episode/return", "train/entropy"]


def test_the_catalog_has_titles_units_and_chart_groups(api: Api) -> None:
    sections = {section["prefix"]: section for section in api.user.get("/api/v1/metric-catalog").json()}
    assert list(sections)[:2] == ["episode", "train"]
    assert sections["ga3c"]["metrics"][0] == {"name": "ga3c/policy_lag", "title": "Policy lag", "unit": "updates"}
    assert sections["ga3c"]["groups"][0]["counts"]
    (where_time_goes,) = sections["time"]["groups"]
    assert where_time_goes["shares"]
    assert [metric["name"] for metric in where_time_goes["metrics"]] == [
        "time/environment",
        "time/selection",
        "time/learning",
    ]


def test_an_unreported_metric_is_empty_until_the_run_ends_then_unknown(api: Api) -> None:
    run_id, attempt = api.running()
    ask = {"names": "episode/return"}
    assert api.user.get(ALL.format(run_id), params=ask).json()["series"]["episode/return"]["total"] == 0
    api.release(run_id, attempt, "finished")
    answer = api.user.get(ALL.format(run_id), params=ask)
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/unknown-metric")


def test_invalid_parameters_are_rejected_by_field(api: Api) -> None:
    run_id, _attempt = api.running()
    for params, field in (
        ({"x": "weeks"}, "x"),
        ({"buckets": 0}, "buckets"),
        ({"buckets": 10_000_000}, "buckets"),
        ({"after": "nonsense"}, "after"),
        ({"names": ",".join(f"m{number}" for number in range(51))}, "names"),
        ({"names": "a\rb"}, "names"),
    ):
        answer = api.user.get(ALL.format(run_id), params=params)
        assert answer.status_code == 422, params
        assert answer.json()["errors"][0]["field"] == field
    assert api.user.get(ALL.format(999)).status_code == 404


def test_purging_a_run_deletes_its_points(api: Api, database: Database) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, *(metrics(seq, seq, {"a": seq}) for seq in range(2, 602)))
    api.release(run_id, attempt, "finished")
    api.user.delete(f"/api/v1/runs/{run_id}").raise_for_status()
    with database.read() as session:
        for table in (MetricSeries, MetricChunk, MetricPage, MetricClock):
            assert session.scalar(select(func.count()).select_from(table)) == 0
