"""Listed runs, which have the fields of a table without empty values, and further fields on request."""

import json
from typing import Any, get_args

import pytest

from arcadia_backend.runs.list_query import DETAILS
from arcadia_backend.runs.schemas import Action, ListedRun, Run
from tests.factories import Api, event, metrics, started

# The fields of every listed run. Every further field makes each page larger.
ALWAYS = set(
    "id name state desired origin project algorithm method env attempt priority created_at step frames episodes color "
    "actions".split()
)
OF_A_TRAINED_RUN = {"queue", "total_steps"}
OF_A_FINISHED_RUN = {"started_at", "finished_at", "worker", "steps_per_second", "last_return", "best_return"}
MAX_BYTES = 600


def listed(api: Api, **query: Any) -> dict[str, Any]:
    """Return the list with one run."""
    response = api.user.get("/api/v1/runs", params=query)
    assert response.is_success, response.text
    page: dict[str, Any] = response.json()
    return page


def finish(api: Api, run_id: int, attempt: int) -> None:
    """Report results of a run and finish it."""
    api.send(run_id, attempt, metrics(2, 1, {"episode/return": 12.345678901234567, "speed/steps_per_second": 1234.5}))
    api.send(run_id, attempt, event(3, "finished", 10_000))
    api.release(run_id, attempt, "finished")


def test_a_listed_run_has_only_the_fields_of_a_table(api: Api) -> None:
    api.launch()
    (queued,) = listed(api)["items"]
    assert set(queued) == ALWAYS | OF_A_TRAINED_RUN | {"state_reason"}
    run_id, attempt = api.claim()["run_id"], 1
    api.send(run_id, attempt, started())
    finish(api, run_id, attempt)
    (finished,) = listed(api)["items"]
    assert set(finished) - OF_A_FINISHED_RUN == ALWAYS | OF_A_TRAINED_RUN
    assert len(json.dumps(finished, separators=(",", ":"))) < MAX_BYTES


def test_a_listed_run_agrees_with_the_run(api: Api) -> None:
    run_id, attempt = api.running(name="pong", tags=["b", "a"], notes="Note.")
    api.send(run_id, attempt, metrics(2, 5, {"episode/return": 3.0}))
    api.release(run_id, attempt, "failed", message="it broke")
    fork_source = api.run(run_id)
    page = listed(api, include=list(DETAILS))
    (item,) = page["items"]
    assert page["actions"][item.pop("actions")] == fork_source["actions"]
    assert item.pop("failure") == {"message": "it broke"}
    assert item == {name: fork_source[name] for name in item}
    left_out = {name for name, value in fork_source.items() if value in (None, [], {}, False, 0)}
    assert set(fork_source) - set(item) - left_out == {"actions", "failure", "executor", "needs"}


def test_fields_of_a_listed_run_are_those_of_a_run() -> None:
    assert set(ListedRun.model_fields) - set(Run.model_fields) == {"metrics", "computed"}
    only_of_run = {"roles", "start_steps", "warnings", "executor", "submission", "changed_by", "stopped_by"}
    only_of_run |= {"core_hours", "gpu_hours", "job_options", "needs", "interruptible", "interruptions"}
    assert set(Run.model_fields) - set(ListedRun.model_fields) == only_of_run
    optional = {name for name, field in ListedRun.model_fields.items() if not field.is_required()}
    assert set(ListedRun.model_fields) - optional == ALWAYS


def test_runs_in_the_same_state_share_their_actions(api: Api) -> None:
    stopped = [api.launch()["id"] for _ in range(3)]
    for run_id in stopped:
        api.act(run_id, "stop")
    api.launch()
    page = listed(api)
    assert [item["actions"] for item in page["items"]] == [0, 1, 1, 1]
    queued, ended = page["actions"]
    assert set(queued) == {*get_args(Action), "play", "download", "change", "edit"}
    assert (queued["stop"], ended["stop"]) == (None, "This run has already stopped.")


def test_included_fields_are_present_even_if_they_are_empty(api: Api) -> None:
    run = api.launch()
    (item,) = listed(api, include=list(DETAILS))["items"]
    assert item["config"] == run["config"]
    assert (item["notes"], item["study"], item["versions"], item["command"]) == ("", None, None, None)
    assert item["trained_seconds"] == 0


def test_single_configuration_fields_are_included(api: Api) -> None:
    run = api.launch()
    (item,) = listed(api, include=["config.num_envs", "config.none"])["items"]
    assert item["config"] == {"num_envs": run["config"]["num_envs"]}
    (item,) = listed(api, include=["config.num_envs", "config"])["items"]
    assert item["config"] == run["config"]


@pytest.mark.parametrize("name", ["speed", "state", "warnings"])
def test_other_fields_cannot_be_included(api: Api, name: str) -> None:
    problem = api.user.get("/api/v1/runs", params={"include": name}).json()
    assert problem["errors"][0]["field"] == "include"
    assert f"{name!r} cannot be included; use config.FIELD or one of config, notes" in problem["detail"]
