"""Tests of percentiles, metric against metric, scatter, episode histogram and action shares."""

from typing import Any

import pytest

from tests.backend.test_replays import made_track, replay_with_track
from tests.factories import CARTPOLE, Api, metrics

FIGURES = "/api/v1/figures"


def finished(api: Api, values: list[dict[str, Any]], returns: list[float] | None = None, **config: Any) -> int:
    """Train a run that reports these values at steps 10, 20 and so on, with one episode at each."""
    run_id, attempt = api.running(config=CARTPOLE | config)
    episodes = returns or []
    for place, each in enumerate(values):
        at = [episodes[place]] if place < len(episodes) else []
        api.send(run_id, attempt, metrics(2 + place, 10 * (1 + place), each, returns=at)).raise_for_status()
    api.release(run_id, attempt, "finished")
    return run_id


def draw(api: Api, name: str, *runs: int, **query: Any) -> dict[str, Any]:
    """Return a figure of these runs."""
    params = {"runs": ",".join(map(str, runs)), **query}
    answer = api.user.get(f"{FIGURES}/{name}", params=params)
    assert answer.status_code == 200, answer.text
    figure: dict[str, Any] = answer.json()
    return figure


@pytest.mark.nightly
def test_percentiles_over_seeds_are_a_median_in_two_bands(api: Api) -> None:
    runs = [finished(api, [{"a": seed}, {"a": 10 * seed}], seed=seed) for seed in range(1, 12)]
    figure = draw(api, "percentiles", *runs, metric="a")
    heights = {trace["meta"]["part"]: trace["y"] for trace in figure["data"]}
    assert heights == {"p10": [2, 20], "p90": [10, 100], "p25": [3.5, 35], "p75": [8.5, 85], "line": [6, 60]}
    assert figure["data"][-1]["name"].endswith("(n = 11)")
    assert figure["data"][-1]["text"][0] == "6 [3.5, 8.5], 10–90 %: [2, 10]"


def test_percentiles_count_only_runs_with_a_value_there(api: Api) -> None:
    runs = [finished(api, [{"a": 1}, {"a": 1}], seed=1), finished(api, [{"a": 3}], seed=2)]
    line = draw(api, "percentiles", *runs, metric="a")["data"][-1]
    assert line["y"] == [2, 1]
    assert line["text"][1].endswith("n = 1 here")


def test_percentiles_of_one_run_are_its_curve(api: Api) -> None:
    run = finished(api, [{"a": 1}, {"a": 2}])
    (trace,) = draw(api, "percentiles", run, metric="a")["data"]
    assert trace["y"] == [1, 2]


def test_a_metric_against_another_pairs_values_of_the_same_steps(api: Api) -> None:
    run = finished(api, [{"a": 1, "b": 5}, {"a": 2}, {"a": 3, "b": 7}, {"a": 4}])
    figure = draw(api, "metric-by-metric", run, x_metric="a", y_metric="b")
    (trace,) = figure["data"]
    assert (trace["x"], trace["y"]) == ([1, 3], [5, 7])
    assert trace["text"][1] == "step 30: B 7, A 3"
    assert figure["layout"]["xaxis"]["title"]["text"] == "A"
    (swapped,) = draw(api, "metric-by-metric", run, x_metric="b", y_metric="a", **{"from": 30})["data"]
    assert (swapped["x"], swapped["y"]) == ([7], [3])


def test_metrics_that_no_run_reported_together_are_unknown(api: Api) -> None:
    runs = [finished(api, [{"a": 1}]), finished(api, [{"b": 1}])]
    query = {"runs": ",".join(map(str, runs)), "x_metric": "a", "y_metric": "b"}
    answer = api.user.get(f"{FIGURES}/metric-by-metric", params=query)
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/unknown-metric")


def test_a_scatter_has_a_point_for_each_run(api: Api) -> None:
    runs = [finished(api, [{"a": rate * 100}], [rate], learning_rate=rate, seed=1) for rate in (0.25, 0.5)]
    figure = draw(api, "scatter", *runs, x="learning_rate", y="best_return * 2")
    (trace,) = figure["data"]
    assert (trace["x"], trace["y"]) == ([0.25, 0.5], [0.5, 1])
    assert len(set(trace["marker"]["color"])) == 2
    titles = [figure["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
    assert titles == ["Learning rate", "best_return * 2"]
    (by_metric,) = draw(api, "scatter", *runs, x="last(a)", y="return")["data"]
    assert by_metric["x"] == [25, 50]


def test_a_scatter_counts_runs_without_a_value(api: Api) -> None:
    runs = [finished(api, [{"a": 1}], [1.0]), finished(api, [{"a": 1}])]
    figure = draw(api, "scatter", *runs, x="id")
    assert len(figure["data"][0]["x"]) == 1
    assert figure["layout"]["xaxis"]["title"]["text"] == "Number (1 run without a value left out)"
    assert draw(api, "scatter", runs[1], x="id")["data"] == []


def test_a_wrong_expression_of_a_scatter_is_marked(api: Api) -> None:
    run = finished(api, [])
    answer = api.user.get(f"{FIGURES}/scatter", params={"runs": run, "x": "learning_rat", "y": "return"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "x"


def test_a_histogram_counts_the_training_episodes(api: Api) -> None:
    run = finished(api, [{}, {}, {}], [1, 2, 2])
    (bars,) = draw(api, "episode-histogram", run)["data"]
    assert [bar for bar in zip(bars["x"], bars["y"], strict=True) if bar[1]] == [(1, 1), (2, 2)]
    late = draw(api, "episode-histogram", run, **{"from": 20})
    assert sum(late["data"][0]["y"]) == 2
    assert late["layout"]["xaxis"]["title"]["text"] == "return of an episode from step 20"


def test_a_histogram_of_several_groups_has_shares_over_the_same_bars(api: Api) -> None:
    runs = [finished(api, [{}, {}], [1, 2], seed=1), finished(api, [{}, {}], [3, 4], seed=2)]
    other = finished(api, [{}], [10], learning_rate=0.5)
    two, one = draw(api, "episode-histogram", *runs, other)["data"]
    assert two["x"] == one["x"]
    assert sum(two["y"]) == pytest.approx(1)
    assert max(one["y"]) == 1
    assert two["name"].endswith("(n = 2)")


def test_a_histogram_can_include_extreme_outliers(api: Api) -> None:
    run = finished(api, [{}] * 6, [0.0, 0.1, 0.2, 0.3, 0.4, 1e14])
    (bars,) = draw(api, "episode-histogram", run)["data"]
    assert sum(bars["y"]) == 6


def test_action_shares_come_from_the_replays_of_checkpoints(api: Api) -> None:
    run_id = replay_with_track(api, made_track())["run_id"]
    figure = draw(api, "action-shares", run_id)
    (cells,) = figure["data"]
    assert (cells["x"], cells["y"], cells["z"]) == ([100], ["NOOP", "UP"], [[0.5], [0.5]])
    assert cells["hovertext"][0][0] == "NOOP: 50.0% at step 100"


def test_action_shares_are_empty_without_replays(api: Api) -> None:
    assert draw(api, "action-shares", finished(api, []))["data"] == []


def test_a_replay_without_a_readable_track_is_omitted(api: Api) -> None:
    run_id = replay_with_track(api, b"not a track")["run_id"]
    assert draw(api, "action-shares", run_id)["data"] == []


@pytest.mark.parametrize(
    ("name", "query"),
    [("percentiles", ""), ("scatter", "&x=id"), ("episode-histogram", ""), ("action-shares", "")],
)
def test_the_figures_work_in_reports(api: Api, name: str, query: str) -> None:
    run = finished(api, [{"a": 1}], [1.0])
    block = {"kind": "chart", "address": f"{FIGURES}/{name}?runs={run}{query}"}
    content = api.user.post("/api/v1/reports/preview", json={"block": block}).json()
    assert content["problem"] is None
    assert content["figure"]["layout"]["xaxis"]["title"]["text"]
