"""Tests of suites: their studies over a list of games, and the statistics of their scores."""

import math
from typing import Any

import numpy as np
import pytest

from arcadia_backend.suites import estimated_median, optimality_gap
from arcadia_workers.contract import published
from arcadia_workers.contract.game_lists import GAME_LISTS
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.inference.samples import interquartile_mean, mean_of_means, median, over_tasks
from arcadia_workers.contract.presets import PRESETS
from arcadia_workers.contract.protocols import PROTOCOLS
from tests.backend.studies.conftest import Studies
from tests.factories import Api, evaluation, event, started

# DQN Zoo's random and human scores.
PONG, QBERT = (-20.7, 14.6), (163.9, 13455.0)
TABLE = {"ALE/Pong-v5": PONG, "ALE/Qbert-v5": QBERT}


def score_of(env: str, percent: float) -> float:
    """Return the score for a human-normalized score in percent."""
    random, human = TABLE[env]
    return random + percent / 100 * (human - random)


def planned(api: Api, **request: Any) -> dict[str, Any]:
    """Return the specification of a suite."""
    response = api.user.post("/api/v1/suites/specification", json=request)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def refused(api: Api, **request: Any) -> dict[str, str]:
    """Return the errors of a suite by field."""
    response = api.user.post("/api/v1/suites/specification", json=request)
    assert response.status_code == 422, response.text
    return {error["field"]: error["message"] for error in response.json()["errors"]}


def aggregates(api: Api, study_id: int) -> dict[str, Any]:
    """Return the only aggregated result of a study."""
    response = api.user.get(f"/api/v1/studies/{study_id}/aggregates")
    assert response.status_code == 200, response.text
    (result,) = response.json()["results"]
    found: dict[str, Any] = result
    return found


def train_and_score(studies: Studies, percents: dict[str, list[float]]) -> None:
    """Train the queued runs with a checkpoint each. Play their scheduled evaluations with these normalized scores."""
    api, left = studies.api, {env: [*values] for env, values in percents.items()}
    while (response := api.worker.post("/api/v1/worker/claim", json={"name": "w1", "queue": "cpu"})).status_code == 200:
        run = response.json()
        held, config = (run["run_id"], run["attempt"]), run["config"]
        assert api.send(*held, started()).is_success
        api.save(*held, 2, config["total_steps"])
        api.release(*held, "finished")
        env = config["env"]
        if left.get(env):
            score = score_of(env, left[env].pop(0))
            play(api, score, env)
        studies.schedule()


def play(api: Api, score: float, env: str) -> None:
    """Play the scheduled evaluation of the last run. The queue also has its recording."""
    while (claimed := api.claim_job())["kind"] != "evaluation":
        pass
    held = claimed["job_id"], claimed["attempt"]
    scores = [score] * PROTOCOLS["sticky-30min"].episodes
    result = evaluation(2, scores, protocol="sticky-30min", env=env)
    assert api.send_of_job(*held, started(1), result, event(3, "finished")).is_success
    assert api.release_job(*held, "finished").is_success


def test_the_lists_have_games_and_defaults_of_a_suite(api: Api) -> None:
    lists = {each["name"]: each for each in api.user.get("/api/v1/suites").json()}
    assert {name: len(each["games"]) for name, each in lists.items()} == {
        "atari-5": 5,
        "atari-100k": 26,
        "paac-12": 12,
        "gorila-49": 49,
        "atari-57": 57,
    }
    five = lists["atari-5"]
    assert [game["slug"] for game in five["games"]] == [
        "battle-zone",
        "double-dunk",
        "name-this-game",
        "phoenix",
        "qbert",
    ]
    assert (five["protocol"], five["preset"], five["total_steps"]) == ("sticky-30min", "paac-sticky", 10_000_000)
    assert lists["atari-100k"]["total_steps"] == 100_000
    for each in GAME_LISTS.values():
        assert set(each.games) <= ENVIRONMENTS.keys()
        assert each.protocol in PROTOCOLS
        assert each.preset in PRESETS


def test_a_list_becomes_a_study_whose_runs_are_evaluated_once(api: Api) -> None:
    found = planned(api, games="atari-5", seeds=3)
    assert (found["name"], found["preset"]) == ("Atari-5: PAAC with sticky actions", "paac-sticky")
    assert found["axes"][0]["field"] == "env"
    assert found["axes"][0]["values"] == [row.env for row in published.atari_5_weights()]
    assert found["changes"] == {"evaluate_every_steps": 10_000_000, "evaluation_protocol": "sticky-30min"}
    assert (found["total_steps"], found["seeds"]) == (10_000_000, [1, 2, 3])
    preview = api.user.post("/api/v1/studies/preview", json=found).json()
    assert (preview["points"], preview["runs"], preview["steps"]) == (5, 15, 150_000_000)


def test_every_list_can_be_started(api: Api) -> None:
    for name in GAME_LISTS:
        response = api.user.post("/api/v1/studies/preview", json=planned(api, games=name, total_steps=2_000))
        assert response.status_code == 200, response.text
        assert response.json()["runs"] == len(GAME_LISTS[name].games)


def test_games_preset_steps_and_protocol_can_be_chosen(api: Api) -> None:
    own = planned(api, games=["pong", "ALE/Breakout-v5"], preset="paac-pong", total_steps=2_000, name="Two")
    assert own["axes"][0]["values"] == ["ALE/Pong-v5", "ALE/Breakout-v5"]
    assert (own["name"], own["total_steps"]) == ("Two", 2_000)
    # Its preset names no protocol.
    assert own["changes"] == {"evaluate_every_steps": 2_000, "evaluation_protocol": "no-op-5min"}
    of_list = planned(api, games="atari-5", preset="paac-breakout")
    assert of_list["changes"]["evaluation_protocol"] == "sticky-30min"
    longer = planned(api, games="pong", protocol="no-op-30min")
    assert (longer["changes"]["evaluation_protocol"], longer["preset"]) == ("no-op-30min", "paac-sticky")


@pytest.mark.parametrize(
    ("request_", "field", "message"),
    [
        ({"games": "atari-6"}, "games", "there is no Atari game 'atari-6'"),
        ({"games": ["pongg"]}, "games", "did you mean pong?"),
        ({"games": ["CartPole-v1"]}, "games", "there is no Atari game 'CartPole-v1'"),
        ({"games": ["pong", "ALE/Pong-v5"]}, "games", "use each game once"),
        ({"games": "atari-5", "preset": "none"}, "preset", "there is no preset 'none'"),
        ({"games": "atari-5", "protocol": "human-starts"}, "protocol", "begins at a set of start points"),
        ({"games": "atari-5", "protocol": "episodes"}, "protocol", "episodes is not for ALE/BattleZone-v5"),
        ({"games": "atari-5", "seeds": 0}, "seeds", "use 1 to 1,000 seeds"),
    ],
)
def test_errors_name_the_field(api: Api, request_: dict[str, Any], field: str, message: str) -> None:
    assert message in refused(api, **request_)[field]


def test_scores_of_last_checkpoints_are_summed_up_over_the_games(studies: Studies) -> None:
    suite = planned(studies.api, games=["pong", "qbert"], total_steps=1_000, seeds=3)
    study = studies.start(**suite)
    percents = {"ALE/Pong-v5": [20.0, 30.0, 100.0], "ALE/Qbert-v5": [5.0, 120.0, 40.0]}
    train_and_score(studies, percents)
    result = aggregates(studies.api, study["id"])
    assert (result["label"], result["protocol"], result["seeds"]) == ("PAAC", "sticky-30min", 3)
    assert result["normalized_games"] == 2
    matrix = np.array([[20.0, 5.0], [30.0, 120.0], [100.0, 40.0]])
    assert result["median"]["value"] == pytest.approx(median(matrix))
    assert result["mean"]["value"] == pytest.approx(matrix.mean())
    assert result["interquartile_mean"]["value"] == pytest.approx(interquartile_mean(matrix))
    assert result["optimality_gap"]["value"] == pytest.approx(100 - np.minimum(matrix, 100).mean())
    _, ends = over_tasks([column[:, np.newaxis] for column in matrix.T], mean_of_means)
    assert (result["mean"]["low"], result["mean"]["high"]) == pytest.approx((ends.low[0], ends.high[0]))
    assert result["interquartile_mean"]["low"] is None, "with three runs of a game, it would be too narrow"
    assert result["estimated_median"] is None
    pong, qbert = result["games"]
    assert (pong["name"], pong["slug"], pong["scored"], pong["runs"]) == ("Pong", "pong", 3, 3)
    assert pong["score"] == pytest.approx(score_of("ALE/Pong-v5", 50))
    assert qbert["percent"] == pytest.approx(55)
    assert [each["table"] for each in result["normalized_by"]] == ["atari_data.py"]


def test_intervals_need_three_scored_runs_of_each_game(studies: Studies) -> None:
    study = studies.start(**planned(studies.api, games=["pong", "qbert"], total_steps=1_000, seeds=3))
    train_and_score(studies, {"ALE/Pong-v5": [20.0, 30.0, 100.0], "ALE/Qbert-v5": [5.0, 120.0]})
    result = aggregates(studies.api, study["id"])
    assert (result["seeds"], result["mean"]["low"]) == (2, None)
    assert result["mean"]["value"] == pytest.approx((50 + 62.5) / 2)
    # The last run of Qbert still waits for its evaluation.
    _, qbert = result["games"]
    assert (qbert["finished"], qbert["scored"]) == (3, 2)
    assert (qbert["episodes_done"], qbert["episodes_total"]) == (0, 100)


def test_a_suite_without_scores_shows_its_progress(studies: Studies) -> None:
    study = studies.start(**planned(studies.api, games=["pong", "tetris"], total_steps=1_000))
    result = aggregates(studies.api, study["id"])
    assert (result["normalized_games"], result["mean"], result["median"]) == (0, None, None)
    pong, tetris = result["games"]
    assert (pong["finished"], pong["scored"], pong["score"], pong["not_normalized_because"]) == (0, 0, None, None)
    assert tetris["not_normalized_because"].startswith("the papers publish no random and human scores")
    figure = studies.api.user.get(f"/api/v1/studies/{study['id']}/aggregates/figure").json()
    assert figure["data"] == []


def test_each_method_has_a_separate_result(studies: Studies) -> None:
    suite = planned(studies.api, games=["pong", "qbert"], total_steps=1_000)
    suite["axes"].append({"field": "preset", "values": ["paac-sticky", "paac-pong"]})
    study = studies.start(**{**suite, "preset": None})
    results = studies.api.user.get(f"/api/v1/studies/{study['id']}/aggregates").json()["results"]
    assert [result["label"] for result in results] == ["paac-sticky", "paac-pong"]
    assert [[game["env"] for game in result["games"]] for result in results] == [["ALE/Pong-v5", "ALE/Qbert-v5"]] * 2


def test_the_figure_has_a_dot_for_each_statistic(studies: Studies) -> None:
    study = studies.start(**planned(studies.api, games=["pong", "qbert"], total_steps=1_000))
    train_and_score(studies, {"ALE/Pong-v5": [50.0], "ALE/Qbert-v5": [150.0]})
    figure = studies.api.user.get(f"/api/v1/studies/{study['id']}/aggregates/figure").json()
    (trace,) = figure["data"]
    assert figure["layout"]["yaxis"]["ticktext"] == ["Median", "Interquartile mean", "Mean", "Optimality gap"]
    assert trace["x"] == pytest.approx([100, 100, 100, 25])
    assert not trace["error_x"]["visible"]


def test_other_studies_have_no_aggregates(studies: Studies) -> None:
    study = studies.start()
    for path in ("aggregates", "aggregates/figure"):
        response = studies.api.user.get(f"/api/v1/studies/{study['id']}/{path}")
        assert (response.status_code, "does not vary the game" in response.json()["detail"]) == (404, True)


def test_the_median_of_57_games_is_estimated_from_logarithms() -> None:
    weights = np.array([row.weight for row in published.atari_5_weights()])
    percents = [10.0, -5.0, 200.0, 90.0, 30.0]
    tasks = [np.array([[percent]]) for percent in percents]
    logarithm = sum(w * math.log10(1 + max(0.0, p)) for w, p in zip(weights, percents, strict=True))
    assert float(estimated_median(tasks, weights)[0]) == pytest.approx(10**logarithm - 1)
    assert float(estimated_median([np.zeros((1, 1))] * 5, weights)[0]) == 0


def test_the_optimality_gap_ignores_scores_above_human() -> None:
    """Check the definition of rliable with the human score as γ."""
    tasks = [np.array([[50.0], [150.0]]), np.array([[-10.0], [100.0]])]
    assert float(optimality_gap(tasks)[0]) == pytest.approx((50 + 0 + 110 + 0) / 4)
