"""Tests of the figures API."""

import math
import re
from typing import Any

from tests.factories import Api, metrics, started

CURVES = "/api/v1/figures/curves"
TOGETHER = "/api/v1/figures/together"


def test_each_run_has_its_own_color(api: Api) -> None:
    runs = []
    for name in ("one", "two"):
        run_id, attempt = api.running(name=name)
        api.send(run_id, attempt, metrics(2, 10, returns=[1]), metrics(3, 20, returns=[2]))
        api.release(run_id, attempt, "finished")
        runs.append(api.run(run_id))
    named = ",".join(str(run["id"]) for run in runs)
    figure = api.user.get(CURVES, params={"runs": named, "metric": "episode/return"}).json()
    compared = api.user.get("/api/v1/compare", params={"runs": named}).json()["runs"]
    assert [trace["name"] for trace in figure["data"]] == [run["label"] for run in compared] == ["one #1", "two #2"]
    assert [trace["line"]["color"] for trace in figure["data"]] == [run["color"] for run in compared]
    assert [trace["y"] for trace in figure["data"]] == [[1, 2], [1, 2]]
    assert figure["layout"]["showlegend"]


def test_runs_can_have_the_colors_of_the_lists(api: Api) -> None:
    runs = []
    for _ in range(2):
        run_id, attempt = api.running()
        api.send(run_id, attempt, metrics(2, 10, returns=[1]))
        runs.append(api.run(run_id))
    newest_first = f"{runs[1]['id']},{runs[0]['id']}"
    figure = api.user.get(CURVES, params={"runs": newest_first, "colors": "run"}).json()
    assert [trace["line"]["color"] for trace in figure["data"]] == [runs[1]["color"], runs[0]["color"]]


def test_the_time_axis_is_in_seconds(api: Api) -> None:
    run_id, attempt = api.running()
    sent = [metrics(seq, seq, {"a": seq}) | {"time": 1_700_000_000.0 + 60 * seq} for seq in range(2, 7)]
    api.send(run_id, attempt, *sent)
    ask: dict[str, Any] = {"runs": run_id, "metric": "a", "x": "time", "from": 60, "to": 180}
    figure = api.user.get(CURVES, params=ask).json()
    assert figure["data"][0]["x"] == [60, 120, 180]
    assert figure["layout"]["xaxis"]["ticktext"][0] == "1 min"


def test_a_line_has_no_more_points_than_buckets(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, *(metrics(seq, seq * 10, {"a": seq}) for seq in range(2, 502)))
    figure = api.user.get(CURVES, params={"runs": run_id, "metric": "a", "buckets": 20, "smoothing": 0.5}).json()
    line = figure["data"][-1]
    assert 16 <= len(line["x"]) <= 20
    assert line["x"][-1] == 5_010
    assert len(line["customdata"]) == len(line["x"])


def test_smoothing_is_the_same_at_every_zoom(api: Api) -> None:
    run_id, attempt = api.running()
    values = [math.sin(step / 300) + 0.5 * math.sin(step * step) for step in range(4_000)]
    sent = [metrics(seq, 10 * (seq - 2), {"a": value}) for seq, value in enumerate(values, 2)]
    for start in range(0, len(sent), 500):
        api.send(run_id, attempt, *sent[start : start + 500]).raise_for_status()

    def line(**query: Any) -> dict[int, float]:
        query = {"runs": run_id, "metric": "a", "smoothing": 0.9, **query}
        drawn = api.user.get(CURVES, params=query).json()["data"][-1]
        return dict(zip(drawn["x"], drawn["y"], strict=True))

    whole = line(buckets=400)
    for zoom in ({"from": 20_000, "to": 24_000, "buckets": 400}, {"from": 20_000, "to": 38_000, "buckets": 50}):
        part = line(**zoom)
        shared = whole.keys() & part.keys()
        assert len(shared) > 5
        assert max(abs(whole[x] - part[x]) for x in shared) < 0.03


def test_the_figure_is_empty_before_the_first_point(api: Api) -> None:
    run_id, attempt = api.running()
    assert api.user.get(CURVES, params={"runs": run_id}).json()["data"] == []
    api.release(run_id, attempt, "failed", message="no")
    answer = api.user.get(CURVES, params={"runs": run_id})
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/unknown-metric")


def test_errors_name_the_invalid_parameter(api: Api) -> None:
    run_id = api.launch()["id"]
    wrong: tuple[tuple[dict[str, Any], int, str], ...] = (
        ({"runs": "999"}, 404, "no run 999"),
        ({"runs": ""}, 422, "runs"),
        ({"runs": "1;drop"}, 422, "runs"),
        ({"runs": ",".join(map(str, range(1, 502)))}, 422, "at most 500 runs are allowed, got 501"),
        ({"runs": "1-400,300-501"}, 422, "at most 500 runs are allowed, got 501"),
        ({"runs": "1-999999999999"}, 422, "at most 500 runs are allowed, got more than 500"),
        ({"runs": "7-3"}, 422, "list run ids"),
        ({"runs": "1-2-3"}, 422, "list run ids"),
        ({"runs": str(run_id), "metric": "a\nb"}, 422, "metric"),
        ({"runs": str(run_id), "smoothing": 1}, 422, "smoothing"),
        ({"runs": str(run_id), "x": "parsecs"}, 422, "x"),
    )
    for params, status, word in wrong:
        answer = api.user.get(CURVES, params=params)
        assert answer.status_code == status, params
        assert word in answer.text


def test_several_metrics_of_a_run_share_a_chart(api: Api) -> None:
    run_id, attempt = api.running()
    counts = {"ga3c/agents": 16, "ga3c/trainers": 2}
    api.send(run_id, attempt, *(metrics(seq, seq, counts) for seq in (2, 3, 4)))
    query: dict[str, Any] = {"runs": run_id, "metrics": "ga3c/agents,ga3c/predictors,ga3c/trainers", "from": 3}
    figure = api.user.get(TOGETHER, params=query).json()
    assert [trace["name"] for trace in figure["data"]] == ["Agents", "Trainers"]
    assert [(trace["x"], trace["y"]) for trace in figure["data"]] == [([3, 4], [16, 16]), ([3, 4], [2, 2])]
    assert figure["layout"]["yaxis"] == {"type": "linear", "rangemode": "tozero"}
    colors = [trace["line"]["color"] for trace in figure["data"]]
    api.send(run_id, attempt, metrics(5, 5, {"ga3c/predictors": 3}))
    later = {trace["name"]: trace["line"]["color"] for trace in api.user.get(TOGETHER, params=query).json()["data"]}
    assert [later["Agents"], later["Trainers"]] == colors
    assert len(set(later.values())) == 3


def test_shares_of_metrics_are_stacked(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 10, {"time/environment": 3, "time/learning": 1}))
    query: dict[str, Any] = {"runs": run_id, "metrics": "time/environment,time/learning", "shares": True}
    figure = api.user.get(TOGETHER, params=query).json()
    assert {trace["stackgroup"] for trace in figure["data"]} == {"whole"}
    assert {trace["groupnorm"] for trace in figure["data"]} == {"fraction"}
    assert figure["layout"]["yaxis"]["range"] == [0, 1]


def test_several_metrics_require_one_run_and_valid_names(api: Api) -> None:
    run_id, attempt = api.running()
    wrong: tuple[tuple[dict[str, Any], int, str], ...] = (
        ({"runs": 999, "metrics": "a"}, 404, "no run 999"),
        ({"runs": run_id}, 422, "metrics"),
        ({"runs": run_id, "metrics": "a\tb"}, 422, "ga3c/agents,ga3c/trainers"),
        ({"runs": run_id, "metrics": "a\nb"}, 422, "without line breaks"),
        ({"runs": run_id, "metrics": "a\rb"}, 422, "without line breaks"),
        ({"runs": run_id, "metrics": ","}, 422, "ga3c/agents,ga3c/trainers"),
        ({"runs": f"{run_id},{api.launch()['id']}", "metrics": "a"}, 422, "one run"),
    )
    for params, status, words in wrong:
        answer = api.user.get(TOGETHER, params=params)
        assert answer.status_code == status, params
        assert words in answer.text
    assert api.user.get(TOGETHER, params={"runs": run_id, "metrics": "a"}).json()["data"] == []
    api.release(run_id, attempt, "failed", message="no")
    assert api.user.get(TOGETHER, params={"runs": run_id, "metrics": "a"}).status_code == 404


def test_figures_are_listed(api: Api) -> None:
    kinds = {kind["name"]: kind for kind in api.user.get("/api/v1/figures").json()}
    assert [*kinds] == [
        *("curves", "together", "percentiles", "metric-by-metric", "scatter", "episode-histogram", "action-shares"),
        *("evaluations", "sample-efficiency", "profile", "evaluation-scores", "calibrations", "calibration"),
    ]
    for name in kinds:
        assert api.user.get(f"/api/v1/figures/{name}").status_code != 404


def test_a_listed_figure_has_the_parameters_of_its_route(api: Api) -> None:
    kinds = {kind["name"]: kind for kind in api.user.get("/api/v1/figures").json()}
    paths = api.user.get("/api/v1/openapi.json").json()["paths"]
    for name, kind in kinds.items():
        accepted = {parameter["name"] for parameter in paths[f"/api/v1/figures/{name}"]["get"]["parameters"]}
        assert {*kind["parameters"], *(["after"] if kind["streams"] else [])} == accepted, name


def test_a_listed_figure_says_how_pages_show_it(api: Api) -> None:
    kinds = {kind["name"]: kind for kind in api.user.get("/api/v1/figures").json()}
    assert {name for name, kind in kinds.items() if kind["one_run"]} == {"together", "action-shares", "evaluations"}
    changed = {name for name, kind in kinds.items() if kind["follows_files"]}
    assert changed == {"action-shares", "evaluations", "calibrations"}
    assert (kinds["scatter"]["heading"], kinds["scatter"]["axis"]) == ("{y} by {x}", "run:{x}")
    for kind in kinds.values():
        placeholders = re.findall(r"{(\w+)}", kind["axis"])
        assert {*placeholders} <= {*kind["parameters"]}, kind["name"]


def forked(api: Api, run_id: int, step: int, *values: float) -> int:
    """Fork a run at a step and report a point every ten steps after it. Return the fork's ID."""
    (at,) = (row["id"] for row in api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json() if row["step"] == step)
    fork = int(api.act(run_id, "fork", checkpoint_id=at, overrides={"total_steps": 10_000})["id"])
    attempt = api.claim()["attempt"]
    api.send(fork, attempt, started(resumed_from=step)).raise_for_status()
    report(api, fork, attempt, step, *values)
    return fork


def report(api: Api, run_id: int, attempt: int, after: int, *values: float) -> None:
    """Report a point every ten steps and a checkpoint with the second, then finish the run."""
    points = [metrics(seq, after + 10 * (seq - 1), {"a": value}) for seq, value in enumerate(values, 2)]
    api.send(run_id, attempt, *points).raise_for_status()
    api.save(run_id, attempt, len(values) + 2, after + 20)
    api.release(run_id, attempt, "finished").raise_for_status()


def parts(api: Api, **query: Any) -> dict[str, dict[str, Any]]:
    """Return the traces of a figure by their uid."""
    data = api.user.get(CURVES, params={"metric": "a", "ancestry": True, **query}).json()["data"]
    return {trace["uid"]: trace for trace in data}


def test_a_fork_shows_all_its_ancestors(api: Api) -> None:
    first, attempt = api.running()
    report(api, first, attempt, 0, 1.0, 2.0, 3.0)
    second = forked(api, first, 20, 30.0, 40.0, 50.0)
    third = forked(api, second, 40, 500.0)

    shown = parts(api, runs=third)
    before, marks = shown[f"{third}-origin"], shown[f"{third}-fork"]
    assert (before["x"], before["y"]) == ([10, 20, 30, 40], [1, 2, 30, 40])
    assert before["line"]["dash"] == "dot"
    assert before["text"] == ["1 in run 1", "2 in run 1", "30 in run 2", "40 in run 2"]
    assert (marks["x"], marks["y"]) == ([20, 40], [2, 40])
    assert marks["text"] == ["forked from run 1 at step 20", "forked from run 2 at step 40"]
    assert shown[f"{third}-line"]["x"] == [50]
    assert parts(api, runs=third, x="frames")[f"{third}-origin"]["x"] == [40, 80, 120, 160]
    assert parts(api, runs=third, to=25)[f"{third}-origin"]["x"] == [10, 20], "a zoom on the part before the fork"


def test_ancestors_are_drawn_on_request_and_only_once(api: Api) -> None:
    first, attempt = api.running()
    report(api, first, attempt, 0, 1.0, 2.0, 3.0)
    second = forked(api, first, 20, 30.0)
    assert list(parts(api, runs=second, ancestry=False)) == [f"{second}-line"]
    assert list(parts(api, runs=second, x="time")) == [f"{second}-line"], "each run's time starts at 0"
    both = parts(api, runs=f"{first},{second}")
    assert list(both) == [f"{first}-line", f"{second}-fork", f"{second}-line"]
    api.user.delete(f"/api/v1/runs/{first}").raise_for_status()
    assert list(parts(api, runs=second)) == [f"{second}-line"], "a purged run leaves no trace"
