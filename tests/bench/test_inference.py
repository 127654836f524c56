"""The promises of docs/inference.md in short simulations, and proof that earlier methods break them."""

import math
from functools import partial

import numpy as np
import pytest

from arcadia_backend.comparisons import verdict
from arcadia_workers.contract.inference import means
from arcadia_workers.contract.inference.means import Floats, MeanDifference, welch
from arcadia_workers.contract.inference.samples import interval, mean
from bench import inference, simulations
from bench.inference import FAMILIES, Draw, rows_of_episodes, rows_of_verdicts
from bench.looks import row_of_looks
from bench.losses import rows_of_actions, rows_of_losses
from bench.simulations import Ends, coverage

TRIALS = 200


@pytest.mark.parametrize("name", FAMILIES)
def test_intervals_of_groups_cover_the_truth(name: str) -> None:
    rows = inference.rows_of_groups(100, [name])
    assert [row.question for row in rows if simulations.broken(row, 100)] == []
    assert all(row.shares[2] is None for row in rows), "two runs have no interval"


def test_scores_at_the_maximum_have_hardly_any_interval() -> None:
    rows = inference.rows_of_groups(100, ["70 % at the maximum", "Pong-like, near the maximum"])
    means = [row for row in rows if row.question.startswith("mean")]
    assert all(row.shown[size] <= 0.3 for row in means for size in row.shown)


@pytest.mark.parametrize("name", ["70 % at the maximum", "70 % at a maximum that is not known"])
def test_a_t_interval_of_equal_scores_would_break_the_promise(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(means, "has_t_interval", lambda values, _bounds: np.bool_(len(values) >= 3))
    row = inference.rows_of_groups(100, [name])[0]
    assert simulations.broken(row, 100)


def test_pages_of_equal_groups_that_train_rarely_have_a_winner() -> None:
    row = row_of_looks(3, 2, 40)
    assert not row.is_broken
    assert row.false == row.false_at_end, "only the end shows a verdict"


def test_a_verdict_on_growing_curves_would_break_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "_describe_waiting", lambda _: "")
    assert row_of_looks(3, 2, 30).is_broken


def test_statistics_over_games_cover_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "SIZES", (5,))
    assert [row for row in inference.rows_of_games(40) if simulations.broken(row, 40)] == []


def test_the_best_of_equal_groups_rarely_beats_another(monkeypatch: pytest.MonkeyPatch) -> None:
    # The nightly stage has all of them.
    families = ("normal", "log-normal, σ = 1", "50 % fail silently", "70 % at the maximum")
    monkeypatch.setattr(inference, "FAMILIES", {name: FAMILIES[name] for name in families})
    monkeypatch.setattr(inference, "SIZES", (5,))
    assert [row for row in rows_of_verdicts(60) if simulations.broken(row, 60)] == []


def test_episodes_and_actions_hold_their_promises() -> None:
    rows = [*rows_of_episodes(60), *rows_of_losses(20), *rows_of_actions(60)]
    assert [row for row in rows if simulations.broken(row, 20)] == []


@pytest.mark.nightly
def test_all_promises_hold_in_a_longer_simulation() -> None:
    assert [row for row, trials in inference.simulate(300) if simulations.broken(row, trials)] == []


def test_a_compact_table_shows_the_worst_share_of_each_question() -> None:
    rows = [
        simulations.Row("mean", "normal", {2: None, 3: 0.96}),
        simulations.Row("mean", "bounded", {2: None, 3: 0.93}),
        simulations.Row("verdict", "normal", {3: 0.01}, wrong=True),
        simulations.Row("verdict", "bounded", {3: 0.04}, wrong=True),
    ]
    assert [*simulations.compact_table(rows)][2:] == [
        "| mean | 2 | covered: 2: –, 3: 93.0% |",
        "| verdict | 2 | wrong: 3: 4.0% |",
    ]
    assert [*simulations.table(rows)][3] == "| mean | bounded | covered: 2: –, 3: 93.0% |"


def bootstrap(draw: Draw, truth: float, size: int, random: np.random.Generator) -> tuple[Ends, float]:
    """Return the percentile bootstrap of a mean, which earlier versions used."""
    found = interval(mean, draw(random, (size, 1)), draws=500)
    return (float(found.low), float(found.high)), truth


def test_a_bootstrap_of_a_mean_would_break_the_promise() -> None:
    share = coverage(TRIALS, simulations.SEED, partial(bootstrap, FAMILIES["normal"].draw, 100.0, 3)).covered
    assert share is not None
    assert share < 0.85
    assert simulations.broken(simulations.Row("mean", "normal", {3: share}), TRIALS)


def uncorrected(groups: list[Floats]) -> list[MeanDifference | None]:
    """Compare the best group with each other one as if there were no more, as earlier versions did."""
    best = max(groups, key=lambda scores: float(scores.mean()))
    return [welch(best, other) for other in groups if other is not best]


@pytest.mark.nightly
def test_an_uncorrected_comparison_would_break_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "best_against_others", uncorrected)
    monkeypatch.setattr(inference, "SIZES", (5,))
    rows = [row for row in rows_of_verdicts(200) if "10 equal groups" in row.question and row.scores == "normal"]
    assert rows
    assert all(simulations.broken(row, 200) for row in rows)


@pytest.mark.nightly
def test_welch_alone_would_break_the_promise_if_runs_fail_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "best_against_others", welch_alone)
    monkeypatch.setattr(inference, "SIZES", (3,))
    rows = [row for row in rows_of_verdicts(200) if "10 equal groups" in row.question and "silently" in row.scores]
    assert len(rows) == 2
    assert all(simulations.broken(row, 200) for row in rows)


def welch_alone(groups: list[Floats]) -> list[MeanDifference | None]:
    """Compare the best group with each other one without the variance of the others, as earlier versions did."""
    best = max(groups, key=lambda scores: float(scores.mean()))
    return [welch(best, other, math.comb(len(groups), 2)) for other in groups if other is not best]
