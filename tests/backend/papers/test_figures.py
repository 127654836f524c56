"""Tests of the papers' figures on runs with known numbers."""

from typing import Any

import pytest

from tests.backend.games.conftest import Scorer
from tests.backend.papers.test_papers import confirmed
from tests.backend.studies.conftest import Studies
from tests.factories import event, metrics, started

BEGUN = 1_700_000_000.0


def start(studies: Studies, item: str, part: str) -> None:
    body = confirmed(studies, f"/api/v1/papers/{item}", 0.01, part)
    response = studies.api.user.post(f"/api/v1/papers/{item}/studies", json=body)
    assert response.status_code == 201, response.text


def figure(studies: Studies, item: str, **params: Any) -> dict[str, dict[str, Any]]:
    """Return the traces of a figure by name."""
    response = studies.api.user.get(f"/api/v1/papers/{item}/figure", params=params)
    assert response.status_code == 200, response.text
    return {trace["name"]: trace for trace in response.json()["data"]}


def test_table_2_of_a3c_compares_times_to_the_shared_score(studies: Studies) -> None:
    start(studies, "a3c/table-2", "cartpole")
    for _ in range(8):
        run = studies.api.claim()
        held, total, actors = (run["run_id"], run["attempt"]), run["config"]["total_steps"], run["config"]["num_actors"]
        seconds = {1: 30.0, 2: 12.0}[actors]
        low, high = metrics(2, 10, returns=[1.0] * 100), metrics(3, 20, returns=[10.0 * actors] * 100)
        sent = [started(), {**low, "time": BEGUN}, {**high, "time": BEGUN + seconds}, event(4, "finished", total)]
        assert studies.api.send(*held, *sent).status_code == 200
        assert studies.api.release(*held, "finished").status_code == 200
        studies.schedule()
    drawn = figure(studies, "a3c/table-2", share=0.01)
    # Runs of two processes reached 20, but those of one process only 10. Both are timed at 10.
    assert (drawn["A3C, ours"]["x"], drawn["A3C, ours"]["y"]) == ([1, 2], [1.0, pytest.approx(2.5)])
    assert (drawn["A3C, the paper"]["x"], drawn["A3C, the paper"]["y"]) == (
        [1, 2, 4, 8, 16],
        [1.0, 2.1, 3.7, 6.9, 12.5],
    )
    assert len(drawn) == 8
    by_epoch = figure(studies, "a3c/figure-3", share=0.01, part="cartpole")
    assert sorted(by_epoch) == ["1-step Q, 1", "1-step Q, 2", "A3C, 1", "A3C, 2", "n-step Q, 1", "n-step Q, 2"]
    # The supplement draws Sarsa's runs of the same study.
    for name in ("figure-s5", "figure-s6"):
        sarsa = figure(studies, f"a3c/{name}", share=0.01, part="cartpole")
        assert sorted(sarsa) == ["1-step SARSA, 1", "1-step SARSA, 2"]
    assert sarsa["1-step SARSA, 2"]["y"][-1] == 20.0


def test_a_run_with_nan_returns_is_left_out_of_a_curve(studies: Studies) -> None:
    start(studies, "a3c/table-2", "cartpole")
    for value in ("NaN", 10.0):
        run = studies.api.claim()
        assert studies.api.send(run["run_id"], run["attempt"], started(), metrics(2, 10, returns=[value])).is_success
        assert studies.api.release(run["run_id"], run["attempt"], "finished").is_success
        studies.schedule()
    (trace,) = figure(studies, "a3c/figure-3", share=0.01, part="cartpole").values()
    assert trace["y"] == [10.0]


def test_table_2_of_ga3c_is_relative_to_the_small_network(studies: Studies) -> None:
    start(studies, "ga3c/table-2", "ga3c")
    for speed in (400.0, 300.0):
        run = studies.api.claim()
        held, total = (run["run_id"], run["attempt"]), run["config"]["total_steps"]
        sent = [started(), metrics(2, total, {"throughput/steps_per_second": speed}), event(3, "finished", total)]
        assert studies.api.send(*held, *sent).status_code == 200
        assert studies.api.release(*held, "finished").status_code == 200
        studies.schedule()
    drawn = figure(studies, "ga3c/table-2", share=0.01)
    ours = drawn["GA3C, this host"]
    assert (ours["x"], ours["y"]) == (["small", "large, stride 4"], [1.0, 0.75])
    theirs = drawn["GA3C, the paper (system I)"]["y"]
    assert theirs == [pytest.approx(speed / 1361) for speed in (1361, 1271, 1206, 874, 490)]


def test_figures_3_and_4_of_ga3c_show_the_three_fastest_settings(studies: Studies) -> None:
    start(studies, "ga3c/figure-3", "pong")
    for updates in (10.0, 40.0, 20.0, 30.0):
        run = studies.api.claim()
        held, total = (run["run_id"], run["attempt"]), run["config"]["total_steps"]
        sent = {"throughput/updates_per_second": updates, "ga3c/training_queue": updates / 10}
        assert (
            studies.api.send(*held, started(), metrics(2, total, sent), event(3, "finished", total)).status_code == 200
        )
        assert studies.api.release(*held, "finished").status_code == 200
        studies.schedule()
    (fastest,) = figure(studies, "ga3c/figure-3", share=0.01, part="pong").values()
    assert (fastest["x"], fastest["y"]) == (["16"] * 3, [1.0, 0.75, 0.5])
    assert fastest["hovertext"][0] == "N_A 16, N_P 1, N_T 2: 100% of the fastest (updates per second)"
    (queue,) = figure(studies, "ga3c/figure-4", share=0.01, part="pong").values()
    assert (queue["name"], queue["y"]) == ("Waiting in the training queue", [4.0, 3.0, 2.0])


@pytest.mark.nightly
def test_figure_1_of_a3c_averages_the_best_five_runs(studies: Studies) -> None:
    start(studies, "a3c/figure-1", "cartpole")
    for score in (1.0, 7.0, 6.0, 5.0, 4.0, 3.0):
        run = studies.api.claim()
        held, total = (run["run_id"], run["attempt"]), run["config"]["total_steps"]
        sent = [started(), metrics(2, total, returns=[score]), event(3, "finished", total)]
        assert studies.api.send(*held, *sent).status_code == 200
        assert studies.api.release(*held, "finished").status_code == 200
        studies.schedule()
    (best,) = figure(studies, "a3c/figure-1", share=0.01, part="cartpole").values()
    assert (best["name"], best["y"]) == ("One-step Q, best 5 of 6", [5.0])


def test_scores_match_gorilas_normalization_and_protocol(studies: Studies) -> None:
    drawn = figure(studies, "gorila/table-1")
    dqn = dict(zip(drawn["DQN"]["y"], drawn["DQN"]["x"], strict=True))
    assert dqn["Alien"] == pytest.approx(42.74, abs=0.01)
    assert dqn["Breakout"] == pytest.approx(1327.24, abs=0.01)
    assert sorted(drawn) == ["DQN", "Gorila"]
    scorer = Scorer(studies.api)
    scorer.scored("ALE/Pong-v5", 9.3)
    scorer.scored("ALE/Pong-v5", 20.0, "no-op-30min")
    ours = figure(studies, "gorila/table-1")["Ours: PAAC"]
    assert (ours["y"], ours["x"]) == (["Pong"], [pytest.approx(100)])
    human = figure(studies, "gorila/table-2")["Gorila"]
    assert dict(zip(human["y"], human["x"], strict=True))["Pong"] == pytest.approx(103.63, abs=0.05)
    # In Video Pinball the random player beats the human from human starts.
    assert "Video Pinball" not in human["y"]
    refused = studies.api.user.get("/api/v1/papers/paac/table-1/figure")
    assert (refused.status_code, "has no figure" in refused.json()["detail"]) == (404, True)


def test_scores_are_one_panel_without_a_budget(studies: Studies) -> None:
    path = "/api/v1/papers/gorila/table-1"
    (panel,) = studies.api.user.get(path).json()["panels"]
    assert (panel["title"], panel["part"], panel["share"]) == ("Normalized scores after no-ops", None, None)
    assert panel["caption"] == (
        "Ours is the mean of all runs of a method here by this protocol, for any training length."
    )
    for share in (0.01, 0.1):
        assert studies.api.user.post(f"{path}/studies", json=confirmed(studies, path, share, "pong")).is_success
    assert studies.api.user.get(path).json()["panels"] == [panel]


def test_our_score_is_the_mean_of_complete_evaluations(studies: Studies) -> None:
    scorer = Scorer(studies.api)
    scorer.evaluate(scorer.run(), 20.0, episodes=1)
    scorer.evaluate(scorer.run(), "NaN")
    assert sorted(figure(studies, "gorila/table-1")) == ["DQN", "Gorila"]
    for score in (9.3, -20.7):
        scorer.scored("ALE/Pong-v5", score)
    assert figure(studies, "gorila/table-1")["Ours: PAAC"]["hovertext"] == ["Pong, Ours: PAAC: 50 % (-5.7), 2 runs"]
