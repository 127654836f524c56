"""Tests of groups of runs drawn as one line."""

import itertools
import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from arcadia_backend.colors import Stroke
from arcadia_backend.comparisons.groups import group_labels, group_runs, group_runs_over_games, group_samples
from arcadia_backend.database.tables import Run
from arcadia_backend.figures.curves_figure import RunCurve
from arcadia_backend.figures.groups import Band, Grouping, RunGroup, SmoothedLine, middle_curve, shared_places, widen
from arcadia_backend.metrics.queries import Window
from arcadia_backend.metrics.reading import Curve
from arcadia_workers.contract.inference.means import t_interval
from arcadia_workers.contract.inference.samples import Center, center_curve
from tests.backend.figures.test_growth import merged
from tests.factories import CARTPOLE, Api, metrics, started

CURVES = "/api/v1/figures/curves"
RLIABLE = json.loads((Path(__file__).parents[2] / "fixtures" / "rliable.json").read_text())
SEEDS = [
    SmoothedLine(np.array([0.0, 10.0, 20.0, 30.0]), np.array([0.0, 4.0, 8.0, 7.0])),
    SmoothedLine(np.array([0.0, 20.0]), np.array([2.0, 12.0])),
    SmoothedLine(np.array([0.0, 10.0, 20.0, 30.0]), np.array([1.0, 1.0, 1.0, 3.0])),
]
# The same runs at 0, 10, 20 and 30. The second ends at 20 and is at 7 halfway, at 10.
THERE = [[0.0, 2.0, 1.0], [4.0, 7.0, 1.0], [8.0, 12.0, 1.0], [7.0, 3.0]]


def standard_error(scores: list[float]) -> tuple[float, float]:
    """Return the interval of one standard error around the mean."""
    error = statistics.stdev(scores) / math.sqrt(len(scores))
    return statistics.mean(scores) - error, statistics.mean(scores) + error


def interval_of_three(scores: list[float]) -> tuple[float, float]:
    """Return the t-interval of the mean, or the mean itself for fewer than three runs."""
    ends = t_interval(scores) if len(scores) >= 3 else None
    return ends or (statistics.mean(scores),) * 2


@pytest.mark.parametrize(
    ("band", "slow", "within"),
    [
        ("range", lambda scores: (min(scores), max(scores)), 1e-12),
        ("standard-error", standard_error, 1e-12),
        ("bootstrap", interval_of_three, 1e-9),
    ],
)
def test_mean_and_band_match_a_direct_computation(band: Band, slow: Any, within: float) -> None:
    curve = middle_curve(SEEDS, Grouping(band), Window("step"))
    assert curve.x.tolist() == [0, 10, 20, 30]
    assert curve.count.tolist() == [3, 3, 3, 2]
    assert curve.mean.tolist() == pytest.approx([statistics.mean(scores) for scores in THERE])
    expected = [slow(scores) for scores in THERE]
    assert curve.min.tolist() == pytest.approx([low for low, _high in expected], abs=within)
    assert curve.max.tolist() == pytest.approx([high for _low, high in expected], abs=within)


# Five runs at two places. The fifth ends after the first place.
FIVE = [[1.0, 2.0], [5.0, 4.0], [3.0, 9.0], [40.0, 5.0], [2.0]]


def middle_half(scores: Sequence[float]) -> float:
    """Return the mean of four or five scores without the lowest and the highest."""
    return statistics.mean(sorted(scores)[1:-1])


def test_the_interquartile_mean_matches_a_direct_computation() -> None:
    lines = [SmoothedLine(np.arange(len(heights), dtype=float), np.array(heights)) for heights in FIVE]
    there = [[heights[0] for heights in FIVE], [heights[1] for heights in FIVE if len(heights) > 1]]
    bands = {band: middle_curve(lines, Grouping(band, "iqm"), Window("step")) for band in get_args(Band)}
    assert bands["range"].count.tolist() == [5, 4]
    assert bands["range"].mean.tolist() == pytest.approx([10 / 3, 4.5])
    assert (bands["range"].min.tolist(), bands["range"].max.tolist()) == ([1, 2], [40, 9])
    for place, scores in enumerate(there):
        resamples = [middle_half(drawn) for drawn in itertools.product(scores, repeat=len(scores))]
        error = bands["standard-error"].max[place] - bands["standard-error"].mean[place]
        # The standard deviation of 2,000 draws is within a few percent of that of all resamples.
        assert error == pytest.approx(statistics.pstdev(resamples), rel=0.05)


def test_the_interquartile_band_matches_rliable() -> None:
    scores = np.array(RLIABLE["curve"]["scores"])
    places = np.arange(scores.shape[1], dtype=float)
    drawn = middle_curve(
        [SmoothedLine(places, heights) for heights in scores], Grouping("bootstrap", "iqm"), Window("step")
    )
    expected = center_curve(scores, "iqm")
    assert drawn.mean.tolist() == pytest.approx(RLIABLE["curve"]["iqm"], rel=1e-12)
    assert (drawn.min.tolist(), drawn.max.tolist()) == (expected.interval.low.tolist(), expected.interval.high.tolist())


def test_a_run_counts_only_between_its_first_and_its_last_point() -> None:
    short, late = (
        SmoothedLine(np.array([0.0, 1.0]), np.array([5.0, 5.0])),
        SmoothedLine(np.array([1.0, 4.0]), np.array([7.0, 7.0])),
    )
    curve = middle_curve([short, late], Grouping("range"), Window("step"))
    assert curve.x.tolist() == [0, 1, 4]
    assert curve.count.tolist() == [1, 2, 1]
    assert curve.mean.tolist() == [5, 6, 7]
    assert (curve.max - curve.min).tolist() == [0, 2, 0], "a single run has no band"


def test_many_places_become_bin_borders_and_keep_the_ends() -> None:
    lines = [SmoothedLine(np.arange(start, 5_000.0, 7), np.arange(start, 5_000.0, 7)) for start in (1.0, 3.0)]
    places = shared_places(lines, Window("step", buckets=40))
    assert 20 <= len(places) <= 45
    assert {1.0, 3.0, lines[0].x[-1], lines[1].x[-1]} <= set(places.tolist())
    zoomed = shared_places(lines, Window("step", low=100, high=4_000, buckets=40))
    assert 20 <= len(zoomed) <= 45
    assert zoomed[0] >= 100
    assert zoomed[-1] <= 4_000
    log = shared_places(lines, Window("step", buckets=40, log=True))
    assert 20 <= len(log) <= 45
    assert (log > 0).all()


@pytest.mark.parametrize("center", ["mean", "iqm"])
def test_empty_lines_have_an_empty_mean(center: Center) -> None:
    nothing = SmoothedLine(np.empty(0), np.empty(0))
    assert not len(middle_curve([nothing, nothing], Grouping(center=center), Window("step")).x)


def test_a_zoom_is_read_with_a_margin() -> None:
    assert widen(Window("step")) == Window("step")
    assert widen(Window("step", 100, 200)) == Window("step", 90, 210)
    log = widen(Window("step", 10, 1_000, log=True))
    assert (log.low, log.high) == pytest.approx((10 ** (1 - 0.2), 10 ** (3 + 0.2)))


def run(number: int, parent: int | None = None, name: str = "PAAC on CartPole", **config: Any) -> Run:
    """Return a run of this configuration."""
    config = {"algorithm": "paac", "env": "CartPole-v1", "learning_rate": 0.01} | config
    return Run(
        id=number, name=name, algorithm="paac", env=config["env"], config=config, parent_run_id=parent, parent_step=1
    )


def test_runs_that_differ_only_in_their_seed_are_one_group() -> None:
    runs = [
        run(1, seed=1),
        run(2, seed=1, learning_rate=0.5),
        run(3, seed=2),
        run(4, seed=3, env="ALE/Pong-v5"),
        run(5, seed=1),
        run(6, seed=4, parent=1),
        run(7, seed=5, parent=1),
    ]
    assert [[each.id for each in group] for group in group_runs(runs)] == [[1, 3], [2], [4], [5], [6, 7]]


@pytest.mark.parametrize("by", [["learning_rate"], ["env"], []])
def test_repeated_seeds_are_not_further_samples(by: list[str]) -> None:
    """Check that three runs of one seed count as one, for any grouping."""
    runs = [run(1, seed=1), run(2, seed=1), run(3, seed=1), run(4, seed=2)]
    for groups in (group_runs(runs, by), group_runs_over_games(runs, by)):
        assert [[each.id for each in group] for group in groups] == [[1, 4], [2], [3]]


def test_runs_that_repeat_each_other_are_one_sample_of_a_group_named_by_fields() -> None:
    runs = [run(1, seed=1), run(2, seed=1), run(3, seed=2), run(4, seed=1, learning_rate=0.5), run(5, seed=9)]
    groups = group_samples(runs, ["learning_rate"], {1, 2, 3, 4})
    assert [[[each.id for each in sample] for sample in group] for group in groups] == [[[1, 2], [3]], [[4]]]
    assert group_labels(groups, ["learning_rate"]) == [
        "PAAC · CartPole · lr 0.01 (n = 2 from 3 runs)",
        "PAAC · CartPole · lr 0.5 (n = 1)",
    ]
    assert [[[each.id for each in sample] for sample in group] for group in group_samples(runs[:3], [], {1, 2, 3})] == [
        [[1], [3]],
        [[2]],
    ]


def test_a_sample_of_several_runs_is_their_mean() -> None:
    curves = [
        RunCurve(number, "a", Stroke("#000000", "solid"), Curve(True, 2, x, y, y, y, y, np.ones(2, np.int64)))
        for number, (x, y) in enumerate(
            [(np.array([0.0, 2.0]), np.array([1.0, 3.0])), (np.array([1.0, 2.0]), np.array([6.0, 5.0]))]
        )
    ]
    (line,) = RunGroup("a", [curves]).lines
    assert (line.x.tolist(), line.y.tolist()) == ([0, 1, 2], [1, 4, 4])


def labels(groups: list[list[Run]], by: list[str] | None = None) -> list[str]:
    """Return the labels of groups without repeated runs."""
    return group_labels([[[each] for each in group] for group in groups], by or [])


def test_the_legend_has_the_differing_fields_and_n() -> None:
    groups = [[run(1, seed=1), run(2, seed=2)], [run(3, seed=3, learning_rate=0.5), run(4, seed=4, learning_rate=0.5)]]
    assert labels(groups) == ["PAAC · CartPole · lr 0.01 (n = 2)", "PAAC · CartPole · lr 0.5 (n = 2)"]
    assert labels(groups[:1]) == ["PAAC · CartPole (n = 2)"]
    twice = [[run(1, seed=1), run(2, seed=2)], [run(3, seed=1), run(4, seed=2)]]
    assert labels(twice) == ["PAAC · CartPole from #1 (n = 2)", "PAAC · CartPole from #3 (n = 2)"]
    given = [[run(1, name="base", seed=1), run(2, name="base", seed=2)], [run(3, name="a"), run(4, name="b")]]
    assert labels(given) == ["base (n = 2)", "PAAC · CartPole (n = 2)"]


def test_groups_by_any_fields_are_named_by_their_values() -> None:
    runs = [
        run(1, seed=1, gamma=0.9),
        run(2, seed=2, gamma=0.99),
        run(3, seed=1, gamma=0.9, env="ALE/Pong-v5"),
        run(4, seed=1, learning_rate=0.5, t_max=5),
        run(5, seed=1, learning_rate=0.5, t_max=20),
    ]
    reported = {}
    for by in (["gamma"], ["learning_rate"], ["env"], ["learning_rate", "t_max"], []):
        groups = group_runs(runs, by)
        reported[",".join(by)] = dict(
            zip(labels(groups, by), [[each.id for each in group] for group in groups], strict=True)
        )
    assert reported["gamma"] == {
        "PAAC · discount 0.9 (n = 2)": [1, 3],
        "PAAC · CartPole · discount 0.99 (n = 1)": [2],
        "PAAC · CartPole · no discount (n = 2)": [4, 5],
    }
    assert reported["learning_rate"] == {
        "PAAC · lr 0.01 (n = 3)": [1, 2, 3],
        "PAAC · CartPole · lr 0.5 (n = 2)": [4, 5],
    }
    assert reported["env"] == {"PAAC · CartPole (n = 4)": [1, 2, 4, 5], "PAAC · Pong (n = 1)": [3]}
    assert list(reported["learning_rate,t_max"].values()) == [[1, 2, 3], [4], [5]]
    assert list(reported[""].values()) == [[1], [2], [3], [4], [5]]


def seeds(api: Api, *lengths: int, **config: Any) -> tuple[list[int], list[int]]:
    """Create running runs that differ only in their seed. Seed n reports n at each of its places."""
    runs, attempts = [], []
    for seed, length in enumerate(lengths, 1):
        run_id = api.launch(config=CARTPOLE | config | {"seed": seed})["id"]
        attempt = api.claim(f"w{run_id}")["attempt"]
        api.send(run_id, attempt, started(), *(metrics(at + 1, 10 * at, {"a": seed}) for at in range(1, length + 1)))
        runs.append(run_id)
        attempts.append(attempt)
    return runs, attempts


def query_of(runs: list[int], **more: Any) -> dict[str, Any]:
    """Return the query parameters."""
    return {"runs": ",".join(map(str, runs)), "metric": "a", "group": "seed", **more}


def test_a_group_is_one_line_and_tooltips_show_missing_seeds(api: Api) -> None:
    runs, _attempts = seeds(api, 3, 3, 2)
    (other,), _attempts = seeds(api, 3, learning_rate=0.5)
    figure = api.user.get(CURVES, params=query_of([*runs, other], band="range")).json()
    lines = [trace for trace in figure["data"] if trace["meta"]["part"] == "line"]
    group, alone = lines
    assert group["meta"]["group"] == runs
    assert (group["x"], group["y"]) == ([10, 20, 30], [2, 2, 1.5])
    assert group["text"] == ["2 [1, 3]", "2 [1, 3]", "1.5 [1, 2], n = 2 here"]
    assert group["name"].endswith("(n = 3)")
    assert alone["name"].endswith(f"lr 0.5 #{other}")
    assert {trace["meta"]["part"]: trace["y"] for trace in figure["data"]}["high"] == [3, 3, 2]
    shown = api.user.get(CURVES, params=query_of(runs, seeds=True)).json()["data"]
    thin = [trace for trace in shown if trace["meta"]["part"] == "seed"]
    assert [trace["y"] for trace in thin] == [[1, 1, 1], [2, 2, 2], [3, 3]]
    assert {trace["legendgroup"] for trace in shown} == {str(runs[0])}


@pytest.mark.parametrize("group", ["seed", "none"])
def test_many_lines_are_drawn_as_their_distribution(api: Api, monkeypatch: pytest.MonkeyPatch, group: str) -> None:
    monkeypatch.setattr("arcadia_backend.figures.groups.MAX_LINES", 2)
    runs = [run_id for gamma in (0.9, 0.95, 0.99) for run_id in seeds(api, 3, 2, gamma=gamma)[0]]
    figure = api.user.get(CURVES, params=query_of(runs, group=group)).json()
    assert [trace["meta"]["part"] for trace in figure["data"]] == ["p10", "p90", "p25", "p75", "line"]
    assert (figure["data"][-1]["x"], figure["data"][-1]["y"]) == ([10, 20, 30], [1.5, 1.5, 1])
    assert "Median of 6 runs" in figure["data"][-1]["name"]
    few = api.user.get(CURVES, params=query_of(runs[:2], group=group)).json()
    assert {trace["meta"]["part"] for trace in few["data"]} >= {"line"}
    assert "p10" not in {trace["meta"]["part"] for trace in few["data"]}


def test_a_groups_line_is_the_interquartile_mean_on_request(api: Api) -> None:
    runs, _attempts = seeds(api, 3, 3, 3, 2)
    figure = api.user.get(CURVES, params=query_of(runs, center="iqm", band="range")).json()
    (line,) = (trace for trace in figure["data"] if trace["meta"]["part"] == "line")
    assert line["y"] == [2.5, 2.5, 2]
    assert line["text"][2] == "2 [1, 3], n = 3 here"
    assert figure["layout"]["yaxis"]["title"]["text"].endswith(", interquartile mean")


def test_all_comparisons_group_by_the_requested_fields(api: Api) -> None:
    one = [seeds(api, 3, learning_rate=0.01, gamma=gamma)[0][0] for gamma in (0.9, 0.95, 0.99)]
    two = [seeds(api, 3, learning_rate=0.5, gamma=gamma)[0][0] for gamma in (0.9, 0.95, 0.99)]
    query: dict[str, Any] = {"runs": ",".join(map(str, [*one, *two])), "group_by": "learning_rate"}

    def answer(path: str) -> Any:
        own: dict[str, dict[str, Any]] = {
            "figures/curves": {"metric": "a", "group": "seed"},
            "compare/thresholds": {"score": 0},
        }
        return api.user.get(f"/api/v1/{path}", params={**query, **own.get(path, {})}).json()

    assert answer("compare")["groups"] == [one, two]
    lines = [trace for trace in answer("figures/curves")["data"] if trace["meta"]["part"] == "line"]
    assert [line["meta"]["group"] for line in lines] == [one, two]
    assert [line["name"] for line in lines] == [f"PAAC · CartPole · lr {rate} (n = 3)" for rate in (0.01, 0.5)]
    assert [group["run_ids"] for group in answer("compare/thresholds")["groups"]] == [one, two]
    for run_id in (*one, *two):
        api.send(run_id, 1, metrics(5, 100, returns=[run_id])).raise_for_status()
    assert {tuple(each["run_ids"]) for each in answer("compare/verdict")["standings"]} == {tuple(one), tuple(two)}
    assert len([trace for trace in answer("figures/profile")["data"] if "name" in trace]) == 2
    query["group_by"] = "num_envs"
    assert "agree in the fields" in answer("compare/verdict")["message"]
    query["group_by"] = "learning_rate,wings"
    for path in ("compare", "compare/verdict", "compare/thresholds", "figures/curves", "figures/profile"):
        (error,) = answer(path)["errors"]
        assert error["field"] == "group_by"
        assert error["message"].startswith("no run here has a field wings; use some of ")
        assert "learning_rate, " in error["message"]


def test_a_zoom_between_points_includes_every_seed(api: Api) -> None:
    (one, two), attempts = seeds(api, 0, 0)
    for run_id, attempt, shift in ((one, attempts[0], 0), (two, attempts[1], 5)):
        api.send(
            run_id, attempt, *(metrics(at + 2, 10 * at + shift, {"a": at}) for at in range(100))
        ).raise_for_status()
    zoom = query_of([one, two], **{"from": 400, "to": 600})
    (group,) = (t for t in api.user.get(CURVES, params=zoom).json()["data"] if t["meta"]["part"] == "line")
    assert (group["x"][0], group["x"][-1]) == (400, 600)
    assert group["name"].endswith("(n = 2)")
    assert not any("here" in text for text in group["text"])


def test_runs_are_grouped_only_on_request(api: Api) -> None:
    runs, _attempts = seeds(api, 3, 3)
    each = api.user.get(CURVES, params=query_of(runs) | {"group": "none"}).json()
    assert [trace["meta"]["run_id"] for trace in each["data"]] == runs
    (other,), _attempts = seeds(api, 3, learning_rate=0.5)
    alike = [
        api.user.get(CURVES, params=query_of([runs[0], other]) | {"group": how}).json() for how in ("seed", "none")
    ]
    assert alike[0] == alike[1]
    compared = api.user.get("/api/v1/compare", params={"runs": f"{runs[0]},{runs[1]},{other}"}).json()
    assert compared["groups"] == [runs, [other]]


@pytest.mark.nightly
def test_a_grouped_figure_is_updated_with_a_cursor(api: Api) -> None:
    runs, attempts = seeds(api, 20, 20)
    question = query_of(runs, smoothing=0.6, buckets=60)
    held = api.user.get(CURVES, params=question).json()
    for at in range(21, 36):
        for run_id, attempt in zip(runs[: 1 + at % 2], attempts, strict=False):
            seq = at + 1 if run_id == runs[0] else (at + 23) // 2
            api.send(run_id, attempt, metrics(seq, 10 * at, {"a": math.sin(at)})).raise_for_status()
        answer = api.user.get(CURVES, params=question | {"after": held["cursor"]}).json()
        whole = api.user.get(CURVES, params=question).json()
        held = merged(held, answer) | {"cursor": answer["cursor"]}
        assert (held["data"], held["layout"], held["cursor"]) == (whole["data"], whole["layout"], whole["cursor"])
