"""Expressions in requests: filters, their errors, and completions."""

from typing import Any

import pytest

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run
from arcadia_backend.metrics.points import MetricSeries
from arcadia_backend.runs.expressions.parsing import MAX_DEPTH
from tests.factories import CARTPOLE, PONG, Api


def listed(api: Api, expression: str, **query: Any) -> list[int]:
    response = api.user.get("/api/v1/runs", params={"filter": expression, **query})
    assert response.status_code == 200, response.text
    return [run["id"] for run in response.json()["items"]]


def wrong(api: Api, expression: str) -> dict[str, Any]:
    response = api.user.get("/api/v1/runs", params={"filter": expression})
    assert response.status_code == 422, response.text
    problem: dict[str, Any] = response.json()
    assert [each["field"] for each in problem["errors"]] == ["filter"]
    return problem


def completions(api: Api, expression: str, **query: Any) -> list[str]:
    response = api.user.get("/api/v1/run-expression", params={"expression": expression, **query})
    assert response.status_code == 200, response.text
    return [each["text"] for each in response.json()["completions"]]


def test_a_filter_selects_runs_and_joins_other_filters(api: Api) -> None:
    slow = api.launch(config=CARTPOLE | {"learning_rate": 1e-4}, tags=["good"])["id"]
    fast = api.launch(config=CARTPOLE | {"learning_rate": 1e-2}, tags=["good"])["id"]
    pong = api.launch(config=PONG | {"learning_rate": 1e-4})["id"]
    assert listed(api, "learning_rate < 1e-3") == [pong, slow]
    assert listed(api, "learning_rate < 1e-3 and tag:good") == [slow]
    assert listed(api, "env:Pong or learning_rate >= 0.01") == [pong, fast]
    assert listed(api, "learning_rate < 1e-3", tag="good") == [slow]
    assert listed(api, "  ") == [pong, fast, slow]


def test_short_names_stand_for_fields_and_for_those_of_scripts(api: Api, database: Database) -> None:
    slow, fast, script = (
        api.launch(config=CARTPOLE | {"learning_rate": rate, "num_envs": 7})["id"] for rate in (1e-4, 1e-2, 1.0)
    )
    with database.write() as session:
        run = session.get_one(Run, script)
        run.origin, run.config = "reported", {"lr": 1e-4}
    assert listed(api, "lr < 1e-3") == [script, slow]
    assert listed(api, "lr = 1e-4 and n_envs = 7") == [slow]
    assert listed(api, "lr in (1e-2, 3)") == [fast]
    assert listed(api, "lr * 2 > 0.01") == [fast]
    assert listed(api, "n_envs is missing") == [script]
    assert listed(api, "config(lr) = 1e-4") == [script]
    assert [run["id"] for run in api.user.get("/api/v1/runs", params={"sort": "-lr,id"}).json()["items"]] == [
        fast,
        slow,
        script,
    ]
    assert "lr" in completions(api, "lr")


def test_facets_and_failures_follow_the_filter(api: Api, database: Database) -> None:
    made = [api.launch(config=config)["id"] for config in (CARTPOLE, PONG, PONG)]
    with database.write() as session:
        for run_id in made:
            run = session.get_one(Run, run_id)
            run.state, run.failure_message = "failed", "No memory"
    facets = api.user.get("/api/v1/run-facets", params={"filter": "env:Pong"}).json()
    assert facets["env"] == [{"value": "ALE/Pong-v5", "runs": 2}]
    failures = api.user.get("/api/v1/run-failures", params={"filter": "env:Pong", "min_runs": 1}).json()
    assert failures == [{"message": "No memory", "runs": 2}]


def test_an_error_marks_the_wrong_part_and_suggests_another(api: Api) -> None:
    problem = wrong(api, "best_return > 15 and learning_rat < 3")
    marked = problem["expression"]
    assert (marked["field"], marked["position"], marked["length"]) == ("filter", 21, 12)
    assert marked["suggestions"][0] == "learning_rate"
    assert problem["detail"].startswith("filter: no run has a value 'learning_rat'; did you mean learning_rate")
    assert problem["detail"].endswith("(at character 22)")
    assert wrong(api, "last(train/entrop) < 1")["expression"]["suggestions"][0] == "last(train/entropy)"


def test_fields_and_metrics_of_reported_runs_are_known(api: Api, database: Database) -> None:
    run_id = api.launch()["id"]
    with database.write() as session:
        run = session.get_one(Run, run_id)
        run.origin, run.config = "reported", {"lr": 0.5, "model size": "large", "steps": 7}
        session.add(MetricSeries(run_id=run_id, name="val loss", last=0.5))
    for expression in ("lr = 0.5", 'config("model size") = large', "config(steps) = 7", 'last("val loss") < 1'):
        assert listed(api, expression) == [run_id], expression
    assert "config(steps)" in completions(api, "steps")
    assert 'config("model size")' in completions(api, "mod")
    assert 'last("val loss")' in completions(api, "loss")
    assert wrong(api, "lrr = 1")["expression"]["suggestions"][0] == "lr"


def test_an_expression_never_runs_code(api: Api) -> None:
    run_id = api.launch()["id"]
    for expression in (
        "__import__('os').system('true')",
        "name = 'x'); drop table runs; --",
        "name = '\"'' or 1=1 --'",
        'config("a\') or 1=1 --") = 1',
        'last("x\' union select 1 --") > 1',
        'tag = "%s %(x)s :x ?"',
    ):
        assert api.user.get("/api/v1/runs", params={"filter": expression}).status_code in (200, 422), expression
    assert listed(api, "") == [run_id]


def nested(opening: str, inner: str, times: int) -> str:
    """Return an expression in that many functions or parentheses."""
    return opening * times + inner + ")" * times


# A minus and its parenthesis are two levels, and an expression has at most 40 values.
@pytest.mark.parametrize(
    ("opening", "times"),
    [
        *((opening, MAX_DEPTH - 1) for opening in ("sqrt(", "log(", "abs(", "1 + (", "steps - (")),
        *(("-(", MAX_DEPTH // 2 - 1), ("max(1, ", 17), ("min(steps, ", 17), ("1 / (", 13)),
    ],
)
def test_values_nest_to_the_documented_depth(api: Api, opening: str, times: int) -> None:
    run_id = api.launch()["id"]
    value = nested(opening, "steps", times)
    assert listed(api, f"({value}) < 1 or id = {run_id}") == [run_id]
    assert listed(api, f"id = {run_id}", compute=f"deep = {value}", sort="-deep") == [run_id]
    assert listed(api, "", sort=f"-{value}") == [run_id]
    condition = {"filter": f"({value}) < 1 or id = {run_id}"}
    assert api.user.get("/api/v1/run-facets", params=condition).status_code == 200
    assert api.user.get("/api/v1/run-settings", params=condition).status_code == 200
    groups = api.user.get("/api/v1/run-groups", params={**condition, "by": "method", "value": value})
    assert groups.status_code == 200, groups.text
    assert "an expression" in wrong(api, f"{nested(opening, 'steps', MAX_DEPTH + 1)} < 1")["detail"]


@pytest.mark.parametrize(
    ("opening", "times"),
    [
        *((opening, MAX_DEPTH - 2) for opening in ("(", "id > 0 and (", "id < 0 or (", "name ~ x or (")),
        *(("not (", 9), ("id < 0 or not (", 9), ("id > 0 and (id < 0 or (", 9)),
    ],
)
def test_conditions_nest_to_the_documented_depth(api: Api, opening: str, times: int) -> None:
    run_id = api.launch()["id"]
    closing = ")" * (times * opening.count("(") - times)
    filtered = {"filter": nested(opening, "sqrt(sqrt(steps)) >= 0", times) + closing}
    for path in ("runs", "run-facets", "run-settings", "run-failures"):
        response = api.user.get(f"/api/v1/{path}", params=filtered)
        assert response.status_code == 200, response.text
    groups = api.user.get("/api/v1/run-groups", params={**filtered, "by": "method"})
    assert groups.status_code == 200, groups.text
    assert listed(api, f"id = {run_id}") == [run_id]


def test_check_reports_errors_without_running(api: Api) -> None:
    checked = api.user.get("/api/v1/run-expression", params={"expression": "state = runing"}).json()
    assert checked["error"] == {
        "message": "no state is 'runing'; did you mean running?",
        "position": 8,
        "length": 6,
        "suggestions": ["running"],
    }
    assert api.user.get("/api/v1/run-expression", params={"expression": "state = running"}).json()["error"] is None
    value = {"expression": "best_return / hours", "kind": "value"}
    assert api.user.get("/api/v1/run-expression", params=value).json()["error"] is None
    assert api.user.get("/api/v1/run-expression", params=value | {"kind": "condition"}).json()["error"] is not None


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", "best_return"),
        ("best", "best_return"),
        ("learning r", None),
        ("Learning", "learning_rate"),
        ("entropy", "last(train/entropy)"),
        ("max(train/entr", "train/entropy)"),
        ("state = ", "running"),
        ("state in (failed, run", "running"),
        ("tag:", '"night shift"'),
        ("env = po", "ALE/Pong-v5"),
        ("method = ", "paac"),
        ("created > ", "7 days ago"),
        ("best_return ", ">="),
        ("env ", "~"),
        ("env is ", "missing"),
        ("env:Pong ", "and"),
        ("env:Pong and ho", "hours"),
        ("best_return/ho", "hours"),
        ("clip_rewards = ", "true"),
        ("config(", "learning_rate"),
        (") x", None),
    ],
)
def test_completions_follow_the_grammar(api: Api, before: str, expected: str | None) -> None:
    api.launch(config=PONG, tags=["night shift"])
    found = completions(api, before)
    assert expected in found if expected else found == []


def test_completions_replace_the_word_at_the_cursor(api: Api) -> None:
    query: dict[str, str | int] = {"expression": "hours > 3 and sta = failed", "cursor": 17}
    checked = api.user.get("/api/v1/run-expression", params=query).json()
    assert (checked["position"], checked["length"]) == (14, 3)
    assert [each["text"] for each in checked["completions"][:2]] == ["state", "started"]


@pytest.mark.parametrize(
    "name", ["a.b", "$", "[0]", "a'b", "%s", ":x", "é", "😀", "a\\b", "a/b", "tab\there", "and", ""]
)
def test_fields_with_odd_names_are_read_exactly(api: Api, database: Database, name: str) -> None:
    run_id, other = api.launch()["id"], api.launch()["id"]
    with database.write() as session:
        for each, config in ((run_id, {name: 3}), (other, {f"{name}x": 3, "a": {"b": 3}})):
            run = session.get_one(Run, each)
            run.origin, run.config = "reported", config
    written = name.replace("\\", "\\\\")
    assert listed(api, f'config("{written}") = 3') == [run_id]
    (group,) = api.user.get(
        "/api/v1/run-groups", params={"by": f'config("{written}")', "filter": f"id = {run_id}"}
    ).json()["items"]
    assert listed(api, group["filter"]) == [run_id]
    settings = api.user.get("/api/v1/run-settings", params={"every": True, "filter": f"id = {run_id}"}).json()
    assert [setting["field"] for setting in settings["settings"]] == [name]
    assert listed(api, f"{settings['settings'][0]['name']} = 3") == [run_id]
