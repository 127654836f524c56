"""Evaluations as they are stored and listed."""

from tests.factories import Api, event


def test_evaluations_keep_every_return(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, event(2, "evaluation", 50, returns=[1.0, "NaN", "Infinity"]))
    api.send(run_id, attempt, event(3, "evaluation", 60, returns=[1.0, 2.0]))
    rows = api.user.get(f"/api/v1/runs/{run_id}/evaluations").json()
    assert [row["returns"] for row in rows] == [[1.0, "NaN", "Infinity"], [1.0, 2.0]]
    assert rows[1]["return_mean"] == 1.5


EPISODE = {"number": 0, "score": 21.0, "frames": 7000, "frames_before": 12, "length": 1747, "ended": "over"}
DOCUMENT = {
    "protocol": "no-op-5min",
    "env": "ALE/Pong-v5",
    "algorithm": "paac",
    "checkpoint_step": 50,
    "acting": {"name": "sampled"},
    "seed": 1,
    "frames_per_action": 4,
    "scores": [21.0],
    "mean": 21.0,
    "median": 21.0,
    "standard_error": None,
    "interval": None,
    "human_normalised": 139.0,
    "episodes": [EPISODE],
}


def test_an_evaluation_by_a_protocol_is_kept_by_its_scores_and_its_episodes_pass_by(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, event(2, "evaluated_episode", 50, episode=EPISODE, done=1, episodes=1))
    api.send(run_id, attempt, event(3, "evaluation", 50, returns=[21.0], document=DOCUMENT))
    rows = api.user.get(f"/api/v1/runs/{run_id}/evaluations").json()
    assert [(row["step"], row["returns"]) for row in rows] == [(50, [21.0])]


def test_the_description_says_that_a_return_may_be_a_word(api: Api) -> None:
    document = api.user.get("/api/v1/openapi.json").json()
    returns = document["components"]["schemas"]["RunEvaluation"]["properties"]["returns"]["items"]
    assert {"type": "number"} in returns["anyOf"]
    assert {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]} in returns["anyOf"]


def test_a_run_that_is_not_there_has_none(api: Api) -> None:
    assert api.user.get("/api/v1/runs/999/evaluations").status_code == 404
