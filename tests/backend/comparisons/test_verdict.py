"""Verdicts on groups of runs."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from arcadia_backend.colors import PALETTE
from arcadia_backend.comparisons.scores import common_step
from arcadia_backend.comparisons.verdict import format_count, format_difference
from arcadia_workers.contract.inference.means import MIN_RUNS, t_interval, welch
from tests.backend.studies.conftest import Studies
from tests.backend.studies.conftest import schedule as schedule
from tests.backend.studies.conftest import studies as studies
from tests.factories import CARTPOLE, Api, event, metrics

RATES = (0.001, 0.01)


def training(
    api: Api, rate: float, seed: int, returns: Sequence[float], *, env: str = "CartPole-v1", steps: int = 1_000
) -> tuple[int, int]:
    """Create a run with episodes that end at steps 100, 200, … Return its id and attempt."""
    config = CARTPOLE | {"env": env, "learning_rate": rate, "seed": seed, "total_steps": steps}
    run_id, attempt = api.running(config=config)
    reported = [metrics(1 + n, 100 * n, returns=[each]) for n, each in enumerate(returns, 1)]
    assert api.send(run_id, attempt, *reported).is_success
    return run_id, attempt


def trained(api: Api, rate: float, seed: int, returns: Sequence[float], *, env: str = "CartPole-v1") -> int:
    """Create a run that has reached its planned end. Return its id."""
    return training(api, rate, seed, returns, env=env, steps=100 * len(returns))[0]


def verdict(api: Api, runs: Sequence[int], **query: Any) -> dict[str, Any]:
    answer = api.user.get("/api/v1/compare/verdict", params={"runs": ",".join(map(str, runs)), **query})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_better_group_is_reported_with_its_interval(api: Api) -> None:
    scores = {0.001: [10.0, 14.0, 12.0], 0.01: [31.0, 35.0, 30.0]}
    runs = [
        trained(api, rate, seed, [1.0] * 9 + [score]) for rate in RATES for seed, score in enumerate(scores[rate], 1)
    ]
    reported = verdict(api, runs)
    assert reported["at"] == 1_000
    best, other = reported["standings"]
    assert (best["name"], best["run_ids"], best["n"]) == ("PAAC · CartPole · lr 0.01", runs[3:], 3)
    # The last tenth of the steps has the episodes at 900, where each return was 1, and at 1,000.
    assert best["mean"]["value"] == pytest.approx(statistics.mean((1 + score) / 2 for score in scores[0.01]))
    assert other["mean"]["value"] == pytest.approx(6.5)
    assert [best["mean"][end] for end in ("low", "high")] == pytest.approx(t_interval([16.0, 18.0, 15.5]))
    (pair,) = reported["pairs"]
    assert (pair["best"], pair["other"], pair["significant"]) == (0, 1, True)
    assert pair["probability"] == {"value": 1.0, "low": None, "high": None}
    # From scipy: ttest_ind([16, 18, 15.5], [5.5, 7.5, 6.5], equal_var=False).confidence_interval().
    assert [pair["difference"][end] for end in ("value", "low", "high")] == pytest.approx([10.0, 7.2619336, 12.7380664])
    assert pair["text"] == (
        "PAAC · CartPole · lr 0.01 beats PAAC · CartPole · lr 0.001 at 1 k steps: "
        "+10, 95 % interval [7.26, 12.7], n = 3 and 3."
    )


def test_insignificant_difference_has_no_winner(api: Api) -> None:
    runs = [trained(api, rate, seed, [score + 10 * rate]) for rate in RATES for seed, score in enumerate((1, 5, 9), 1)]
    (pair,) = verdict(api, runs)["pairs"]
    assert not pair["significant"]
    assert pair["difference"]["low"] < 0 < pair["difference"]["high"]
    assert pair["text"].startswith(
        "No difference between PAAC · CartPole · lr 0.01 and PAAC · CartPole · lr 0.001 is shown at"
    )
    assert 0.5 < pair["probability"]["value"] < 1


@pytest.mark.nightly
def test_the_best_of_many_equal_groups_beats_none() -> None:
    """With an interval for each pair alone, one of ten equal groups beats another in half of the comparisons."""
    random = np.random.default_rng(0)
    alarms = np.zeros(2)
    for _ in range(300):
        scores = random.normal(0, 1, (10, 5))
        best, *others = scores[np.argsort(-scores.mean(axis=1))]
        intervals = [[welch(best, each, pairs) for each in others] for pairs in (1, math.comb(10, 2))]
        alarms += [any(each is not None and each.low > 0 for each in found) for found in intervals]
    assert alarms[0] / 300 > 0.4
    assert alarms[1] / 300 <= 0.05


def test_the_intervals_of_all_pairs_are_right_together(api: Api) -> None:
    scores = {0.1: [31.0, 35.0, 30.0], 0.01: [10.0, 14.0, 12.0], 0.001: [11.0, 12.0, 17.0]}
    runs = [trained(api, rate, seed, [score]) for rate in scores for seed, score in enumerate(scores[rate], 1)]
    pairs = verdict(api, runs)["pairs"]
    alone = verdict(api, runs[:6])["pairs"]
    assert [pair["difference"]["value"] for pair in pairs] == pytest.approx([18.667, 20.0], abs=0.001)
    assert pairs[1]["difference"]["low"] < alone[0]["difference"]["low"]


def test_failed_runs_are_named(api: Api) -> None:
    runs = [trained(api, rate, seed, [score + 10 * rate]) for rate in RATES for seed, score in enumerate((1, 5, 9), 1)]
    config = CARTPOLE | {"learning_rate": 0.01, "seed": 4, "total_steps": 100}
    failed, attempt = api.running(config=config)
    assert api.release(failed, attempt, "failed").is_success
    reported = verdict(api, [*runs, failed])
    assert {each["name"]: (each["n"], each["failed"]) for each in reported["standings"]} == {
        "PAAC · CartPole · lr 0.01": (3, 1),
        "PAAC · CartPole · lr 0.001": (3, 0),
    }
    assert reported["pairs"][0]["text"].endswith("Failed runs are left out: 1 of PAAC · CartPole · lr 0.01.")


def test_verdict_requires_three_seeds(api: Api) -> None:
    runs = [trained(api, 0.001, seed, [100 * seed]) for seed in range(1, 4)] + [trained(api, 0.01, 1, [350.0])]
    reported = verdict(api, runs)
    assert [(each["n"], each["seeds_missing"], each["mean"]["low"] is None) for each in reported["standings"]] == [
        (1, 2, True),
        (3, 0, False),
    ]
    (pair,) = reported["pairs"]
    assert (pair["significant"], pair["difference"], pair["probability"]) == (False, None, None)
    assert pair["text"].startswith(
        "No verdict on PAAC · CartPole · lr 0.01 and PAAC · CartPole · lr 0.001 at 100 steps:"
    )
    assert pair["text"].endswith(f": n = 1 and 3, and each needs {MIN_RUNS} seeds.")


def test_many_groups_with_too_few_seeds_have_one_sentence(api: Api) -> None:
    runs = [trained(api, rate, 1, [350.0]) for rate in (0.001, 0.003, 0.01)]
    reported = verdict(api, [*runs, trained(api, 0.001, 2, [350.0])])
    assert reported["message"] == "No verdict: each group needs 3 seeds, and none of these 3 groups has more than 2."
    assert reported["pairs"] == []
    assert [each["seeds_missing"] for each in reported["standings"]] == [1, 2, 2]


def test_a_failed_run_is_ignored_and_does_not_move_the_step(api: Api) -> None:
    long = [trained(api, 0.001, seed, [1.0] * 10) for seed in range(1, 4)]
    short = [trained(api, 0.01, seed, [2.0] * 10) for seed in (1, 2)]
    failed, attempt = training(api, 0.01, 3, [2.0] * 4)
    assert api.release(failed, attempt, "failed").is_success
    short.append(failed)
    reported = verdict(api, long + short)
    assert reported["at"] == 1_000
    assert {each["name"]: (each["n"], each["seeds_missing"]) for each in reported["standings"]} == {
        "PAAC · CartPole · lr 0.01": (2, 1),
        "PAAC · CartPole · lr 0.001": (3, 0),
    }


def test_seeds_without_episodes_are_ignored(api: Api) -> None:
    old = [trained(api, rate, seed, [score] * 10) for rate, score in ((0.001, 1.0), (0.01, 2.0)) for seed in (1, 2)]
    # None of these runs has finished an episode, and one has not started.
    configs = [CARTPOLE | {"learning_rate": 0.01, "seed": seed} for seed in (3, 4, 5)]
    new = [*(api.running(config=config)[0] for config in configs[:2]), api.launch(config=configs[2])["id"]]
    reported = verdict(api, old + new)
    assert reported["at"] == 1_000
    assert reported["message"].startswith(
        "No verdict yet: 3 of 7 runs have not reached 1 k steps (2 running, 1 queued)."
    )
    assert [(each["n"], each["seeds_missing"], each["mean"]["value"]) for each in reported["standings"]] == [
        (2, 1, 2.0),
        (2, 1, 1.0),
    ]
    assert len(reported["standings"][0]["run_ids"]) == 5
    runs = ",".join(map(str, old + new))
    for figure in ("profile", "sample-efficiency"):
        drawn = api.user.get(f"/api/v1/figures/{figure}", params={"runs": runs}).json()["data"]
        assert [trace["name"][-8:] for trace in drawn] == [" (n = 2)"] * 2, figure


@pytest.mark.parametrize(
    ("reached", "step"),
    [
        ([[10, 20, 30], [40, 50, 60]], 10),
        ([[10, 20, 30, 40], [40, 50, 60]], 20),
        ([[10, 20], [5]], 5),
        ([[0, 0, 90], [90, 90, 90]], 90),
        ([[200, 0, 150, 0, 0], [300, 300, 300]], 150),
        ([[0, 0, 0], [90, 90, 90]], 0),
    ],
)
def test_common_step_is_the_last_that_enough_runs_of_each_group_reached(reached: list[list[float]], step: int) -> None:
    assert common_step(reached) == step


def test_profile_has_share_of_runs_above_each_return(api: Api) -> None:
    runs = [trained(api, rate, seed, [score + 100 * rate]) for rate in RATES for seed, score in enumerate((1, 5, 9), 1)]
    few = trained(api, 0.5, 1, [4.0])
    figure = api.user.get("/api/v1/figures/profile", params={"runs": ",".join(map(str, [*runs, few]))}).json()
    lines = {trace["name"]: trace for trace in figure["data"] if "name" in trace}
    assert list(lines) == [f"PAAC · CartPole · lr {rate} (n = {n})" for rate, n in ((0.001, 3), (0.01, 3), (0.5, 1))]
    for trace, scores in zip(lines.values(), ([1.1, 5.1, 9.1], [2.0, 6.0, 10.0], [4.0]), strict=True):
        assert trace["x"][0] < 1.1 < 10 < trace["x"][-1]
        share = [sum(score > value for score in scores) / len(scores) for value in trace["x"]]
        assert trace["y"] == pytest.approx(share, abs=1e-6)
    # The band is exact: 3, 2 and 0 of 3 runs (scipy.stats.binomtest). A single run has no band.
    low, high = [trace for trace in figure["data"] if trace["uid"].startswith("PAAC · CartPole · lr 0.01-")][:2]
    at = [next(n for n, value in enumerate(low["x"]) if value > place) for place in (1.5, 5.0, 10.0)]
    ends = [(low["y"][n], high["y"][n]) for n in at]
    for found, expected in zip(ends, ((0.2924, 1), (0.0943, 0.9916), (0, 0.7076)), strict=True):
        assert found == pytest.approx(expected, abs=1e-4)
    assert len(figure["data"]) == 7


def test_message_explains_why_nothing_is_compared(api: Api) -> None:
    one, two = (trained(api, 0.001, seed, [1.0]) for seed in (1, 2))
    other_game = trained(api, 0.001, 1, [1.0], env="Acrobot-v1")
    silent = api.launch(config=CARTPOLE | {"learning_rate": 0.5})["id"]
    for runs, message in (
        ([one, two], "differ only in their seed"),
        ([one, other_game], "different environments cannot be compared"),
        ([one, silent], "At least one group has no run with a finished episode yet."),
    ):
        reported = verdict(api, runs)
        assert message in reported["message"]
        assert (reported["at"], reported["standings"], reported["pairs"]) == (None, [], [])


def test_differences_have_three_digits() -> None:
    assert [format_difference(number) for number in (0.6806, -12.34, 320.0, 1_234.5)] == [
        "0.681",
        "−12.3",
        "320",
        "1,234",
    ]


def test_step_counts_have_three_digits() -> None:
    assert [format_count(count) for count in (950, 99_900, 1_250_000, 3_000_000_000)] == [
        "950",
        "99.9 k",
        "1.25 M",
        "3 G",
    ]


def test_rounding_up_to_a_thousand_uses_the_next_unit() -> None:
    assert [format_count(count) for count in (999, 999_499, 999_999, 999_960_000)] == ["999", "999 k", "1 M", "1 G"]
    assert [format_difference(number) for number in (999.4, 999.7, -999.7)] == ["999", "1,000", "−1,000"]


@pytest.mark.nightly
def test_group_has_the_same_color_in_tables_and_figures(api: Api) -> None:
    """The seeds of the first group must not use up the colors of the next."""
    runs = [trained(api, rate, seed, [1.0] * 100) for rate in RATES for seed in range(1, 7)]
    named = {"runs": ",".join(map(str, runs))}

    def get(path: str, **query: Any) -> Any:
        answer = api.user.get(f"/api/v1/{path}", params=named | query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    first, second = PALETTE[:2]
    assert [run["color"] for run in get("compare", grouped=True)["runs"]] == [first] * 6 + [second] * 6
    assert len({run["color"] + run["dash"] for run in get("compare")["runs"]}) == 12
    assert [group["color"] for group in get("compare/thresholds")["groups"]] == [first, second]
    standings = sorted(get("compare/verdict")["standings"], key=lambda group: group["run_ids"])
    assert [group["color"] for group in standings] == [first, second]
    for figure, query in (("curves", {"group": "seed"}), ("profile", {}), ("sample-efficiency", {})):
        traces = get(f"figures/{figure}", **query)["data"]
        lines = [trace["line"]["color"] for trace in traces if trace.get("showlegend") is not False]
        assert lines == [first, second], figure


def test_finished_runs_have_the_scores_of_their_study(studies: Studies) -> None:
    study = studies.start(axes=[{"field": "learning_rate", "values": [0.001, 0.01]}], seeds="1-3")
    made = studies.train_all(lambda config: 1_000 * config["learning_rate"] + config["seed"] / 3)
    reported = verdict(studies.api, [run["run_id"] for run in made])
    assert reported["quantity"] == "Mean return of the last 100 episodes of each finished run."
    table = studies.read(study["id"])["table"]
    shown = {tuple(sorted(run["run_id"] for run in point["runs"])): point for point in table}
    for standing in reported["standings"]:
        point = shown[tuple(sorted(standing["run_ids"]))]
        shown_here = [standing["mean"][end] for end in ("value", "low", "high")]
        assert shown_here == pytest.approx([point[end] for end in ("mean", "low", "high")])


def test_unfinished_runs_are_compared_by_their_last_tenth(api: Api) -> None:
    runs = [trained(api, rate, seed, [1.0] * 10) for rate in RATES for seed in (1, 2, 3)]
    assert verdict(api, runs)["quantity"] == "Mean return over the last tenth of the first 1 k steps."


def test_no_verdict_while_runs_train(api: Api) -> None:
    """A difference that would be significant is no verdict until every run has reached its planned end."""
    scores = {0.001: [10.0, 14.0, 12.0], 0.01: [31.0, 35.0, 30.0]}
    runs = [training(api, rate, seed, [score] * 4) for rate in RATES for seed, score in enumerate(scores[rate], 1)]
    ids = [run_id for run_id, _ in runs]
    reported = verdict(api, ids)
    assert (reported["at"], reported["pairs"]) == (400, [])
    assert [each["mean"]["value"] for each in reported["standings"]] == [32.0, 12.0]
    assert reported["message"] == (
        "No verdict yet: 6 of 6 runs have not reached 1 k steps (6 running). The slowest is at 400 steps. The verdict "
        "follows when all have reached 1 k steps or ended, because one that is read off growing curves is often false."
    )
    for (run_id, attempt), score in zip(runs, [*scores[0.001], *scores[0.01]], strict=True):
        later = [metrics(1 + n, 100 * n, returns=[score]) for n in range(5, 11)]
        assert api.send(run_id, attempt, *later).is_success
    (pair,) = verdict(api, ids)["pairs"]
    assert (pair["significant"], pair["warning"]) == (True, "")


def test_a_step_that_all_runs_have_passed_can_be_chosen_with_a_warning(api: Api) -> None:
    scores = {0.001: [10.0, 14.0, 12.0], 0.01: [31.0, 35.0, 30.0]}
    runs = [training(api, rate, seed, [score] * 4)[0] for rate in RATES for seed, score in enumerate(scores[rate], 1)]
    (pair,) = verdict(api, runs, at=300)["pairs"]
    assert pair["significant"]
    assert pair["warning"] == (
        "These runs were first planned to be compared at 1 k steps, not at 300. Each end that is looked at raises the "
        "5 % chance of a false verdict."
    )
    assert verdict(api, runs, at=500)["message"].startswith("No verdict yet: 6 of 6 runs have not reached 500 steps")


@pytest.mark.parametrize("end", ["stopped", "changed"])
def test_an_end_that_was_chosen_during_training_causes_a_warning(api: Api, end: str) -> None:
    scores = {0.001: [10.0, 14.0, 12.0], 0.01: [31.0, 35.0, 30.0]}
    runs = [training(api, rate, seed, [score] * 4) for rate in RATES for seed, score in enumerate(scores[rate], 1)]
    for run_id, attempt in runs:
        if end == "stopped":
            api.act(run_id, "stop")
            assert api.release(run_id, attempt, "stopped").is_success
        else:
            fields, previous = {"total_steps": 400}, {"total_steps": 1_000}
            changed = event(6, "changed", 400, number=1, fields=fields, previous=previous)
            assert api.send(run_id, attempt, changed).is_success
    (pair,) = verdict(api, [run_id for run_id, _ in runs])["pairs"]
    assert pair["significant"]
    assert pair["warning"].startswith("These runs were first planned to be compared at 1 k steps, not at 400.")


def test_runs_at_the_highest_score_have_no_interval(api: Api) -> None:
    scores = {0.001: [10.0, 14.0, 12.0], 0.01: [500.0, 500.0, 500.0], 0.1: [314.0, 250.0, 410.0]}
    runs = [trained(api, rate, seed, [score]) for rate in scores for seed, score in enumerate(scores[rate], 1)]
    reported = verdict(api, runs)
    best, second, _ = reported["standings"]
    assert best["mean"] == {"value": 500.0, "low": None, "high": None}
    assert (best["no_interval"], best["scores"]) == ("All 3 runs score 500, the highest possible score.", [500.0] * 3)
    assert second["no_interval"] == ""
    assert 0 <= second["mean"]["low"] < second["mean"]["high"] <= 500
    assert all(pair["difference"]["high"] <= 500 for pair in reported["pairs"])


def test_groups_of_equal_runs_have_no_verdict(api: Api) -> None:
    runs = [trained(api, rate, seed, [1_000 * rate]) for rate in RATES for seed in (1, 2, 3)]
    (pair,) = verdict(api, runs)["pairs"]
    assert (pair["significant"], pair["difference"]) == (False, None)
    assert pair["text"].endswith("n = 3 and 3, and the runs of each are equal, so their spread is unknown.")
