"""Evaluations as they are stored and listed."""

from tests.factories import Api, event


def test_evaluations_keep_every_return(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, event(2, "evaluation", 50, returns=[1.0, "NaN", "Infinity"]))
    api.send(run_id, attempt, event(3, "evaluation", 60, returns=[1.0, 2.0]))
    rows = api.user.get(f"/api/v1/runs/{run_id}/evaluations").json()
    assert [row["returns"] for row in rows] == [[1.0, "NaN", "Infinity"], [1.0, 2.0]]
    assert rows[1]["return_mean"] == 1.5


def test_the_description_says_that_a_return_may_be_a_word(api: Api) -> None:
    document = api.user.get("/api/v1/openapi.json").json()
    returns = document["components"]["schemas"]["RunEvaluation"]["properties"]["returns"]["items"]
    assert {"type": "number"} in returns["anyOf"]
    assert {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]} in returns["anyOf"]


def test_a_run_that_is_not_there_has_none(api: Api) -> None:
    assert api.user.get("/api/v1/runs/999/evaluations").status_code == 404
