"""The tools of /mcp, called with the SDK's client. The client and the application share an event loop."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from mcp.client.streamable_http import streamable_http_client
from pydantic import SecretStr

from arcadia_backend import jobs
from arcadia_backend.config import Settings
from arcadia_backend.database.tables import Job
from tests.backend.calibrations.test_api import judge
from tests.backend.calibrations.test_api import request as request_calibration
from tests.backend.test_saliency import replay
from tests.factories import PONG, Api, metrics

READ_TOOLS = {
    "list_runs",
    "list_views",
    "group_runs",
    "show_run",
    "list_metrics",
    "read_metric",
    "draw_figure",
    "list_calibrations",
    "list_replays",
    "list_artifacts",
    "show_artifact",
    "compare_runs",
    "search_log",
    "list_projects",
    "list_studies",
    "show_study",
    "list_presets",
    "forecast_run",
    "list_workers",
    "read_usage",
}
WRITE_TOOLS = {
    "launch_run",
    "change_run",
    "stop_run",
    "review_replay",
    "practice_mistakes",
    "simulate_futures",
    "preview_study",
    "start_study",
    "stop_study",
}

Call = Callable[..., Any]


@pytest.fixture
def mcp_write() -> bool:
    """Return whether assistants may write."""
    return False


@pytest.fixture
def settings(settings: Settings, mcp_write: bool) -> Settings:
    """Return settings with a token that callers must send."""
    return settings.model_copy(update={"mcp_write": mcp_write, "token": SecretStr("secret")})


@pytest.fixture
def client(app: FastAPI) -> Any:
    """Yield a signed-in client of the running application."""
    with TestClient(app, base_url="http://localhost", headers={"Authorization": "Bearer secret"}) as opened:
        yield opened


@asynccontextmanager
async def connected(app: FastAPI) -> AsyncIterator[mcp.Client]:
    """Yield an MCP client that sends the token."""
    headers = {"Authorization": "Bearer secret"}
    async with (
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), headers=headers) as http,
        mcp.Client(streamable_http_client("http://localhost/mcp", http_client=http)) as assistant,
    ):
        yield assistant


@pytest.fixture
def call(client: TestClient, app: FastAPI) -> Call:
    """Return a function that calls a tool and returns its result."""

    def call_tool(name: str, **arguments: Any) -> Any:
        async def run() -> Any:
            async with connected(app) as assistant:
                return await assistant.call_tool(name, arguments)

        assert client.portal is not None
        return client.portal.call(run)

    return call_tool


def parsed(result: Any) -> Any:
    """Return the JSON of a tool's result. A list has one content block per item."""
    assert not result.is_error, result.content
    values = [json.loads(block.text) for block in result.content]
    return values[0] if len(values) == 1 else values


def failure(result: Any) -> str:
    """Return the message of a tool's error."""
    assert result.is_error
    return str(result.content[0].text)


def tool_names(client: TestClient, app: FastAPI) -> set[str]:
    async def run() -> set[str]:
        async with connected(app) as assistant:
            return {tool.name for tool in (await assistant.list_tools()).tools}

    assert client.portal is not None
    return client.portal.call(run)


def test_without_write_permission_there_are_only_read_tools(client: TestClient, app: FastAPI) -> None:
    assert tool_names(client, app) == READ_TOOLS


@pytest.mark.parametrize("mcp_write", [True])
def test_with_write_permission_runs_and_studies_can_be_started(client: TestClient, app: FastAPI) -> None:
    assert tool_names(client, app) == READ_TOOLS | WRITE_TOOLS


def test_a_wrong_token_is_rejected(client: TestClient) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    response = client.post("/mcp", json=request, headers={"Authorization": "Bearer wrong"})
    assert (response.status_code, response.json()["title"]) == (401, "No valid token or session")


def test_runs_are_listed_and_shown(api: Api, call: Call) -> None:
    first, second = api.launch(name="first")["id"], api.launch(name="second")["id"]
    found = parsed(call("list_runs", limit=1))
    assert (found["total"], [run["id"] for run in found["runs"]]) == (2, [second])
    shown = parsed(call("show_run", run=first))
    assert (shown["name"], shown["state"]) == ("first", "queued")
    assert shown["config"]["env"] == "CartPole-v1"


def test_errors_of_the_api_reach_the_assistant(call: Call) -> None:
    assert "no run 7" in failure(call("show_run", run=7)).lower()
    assert failure(call("list_runs", limit=0))


def test_runs_are_named_by_number_name_or_last(api: Api, call: Call) -> None:
    first = api.launch(name="cp1")["id"]
    assert parsed(call("show_run", run="cp1"))["id"] == parsed(call("show_run", run="@last"))["id"] == first
    assert failure(call("show_run", run="cp2")) == "Error executing tool show_run: There is no run named 'cp2'."


def test_wrong_arguments_are_named_without_details_of_the_validation(call: Call) -> None:
    said = failure(call("list_runs", limit=0, state="done"))
    assert "pydantic" not in said
    assert [line.partition(":")[0] for line in said.splitlines()] == ["state", "limit"]


def test_a_metric_is_read_and_drawn(api: Api, call: Call) -> None:
    run, attempt = api.running(name="with points")
    api.send(run, attempt, *[metrics(2 + i, 10 * i, {"loss/value": i / 10}, [float(i)]) for i in range(5)])
    assert "loss/value" in [block.text for block in call("list_metrics", run=run).content]
    curve = parsed(call("read_metric", run=run, metric="loss/value"))
    assert "0.4" in json.dumps(curve)
    image = call("draw_figure", runs=[run], metric="loss/value").content[0]
    assert image.mime_type == "image/png"
    assert len(image.data) > 5_000


def test_calibrations_are_listed(api: Api, call: Call) -> None:
    run, attempt = api.running()
    api.save(run, attempt, 2, 100)
    request_calibration(api, run)
    judge(api)
    (found,) = [json.loads(block.text) for block in call("list_calibrations", run=run).content]
    assert (found["state"], found["step"], found["errors"]["bias"]) == ("done", 100, 0.5)


def test_replays_are_listed(api: Api, call: Call) -> None:
    run_id, replay_id = replay(api)
    (found,) = [json.loads(block.text) for block in call("list_replays", run=run_id).content]
    assert (found["id"], found["step"], found["episode_return"]) == (replay_id, 100, 10.0)


@pytest.mark.parametrize("mcp_write", [True])
def test_futures_are_simulated_from_a_decision(api: Api, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    _, replay_id = replay(api)
    # Simulate a worker that finishes before the response.
    enqueue = jobs.enqueue

    def done(*arguments: Any) -> Job:
        job = enqueue(*arguments)
        job.state = "done"
        return job

    monkeypatch.setattr(jobs, "enqueue", done)
    found = parsed(call("simulate_futures", replay=replay_id, decision=1, first=["UP"], temperature=2))
    assert (found["state"], found["first"], found["temperature"], found["mean"]) == ("done", ["UP"], 2, None)
    reviewed = parsed(call("review_replay", replay=replay_id, decisions=2))
    assert (reviewed["state"], reviewed["decisions"], reviewed["reviewed"]) == ("done", 2, [])
    refused = call("practice_mistakes", review=reviewed["id"])
    assert refused.is_error
    assert "is not finished" in refused.content[0].text
    refused = call("simulate_futures", replay=replay_id, decision=3)
    assert refused.is_error
    assert "choose 0 to 2" in refused.content[0].text


@pytest.mark.parametrize("mcp_write", [True])
def test_the_agent_of_another_run_acts_in_futures(api: Api, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    _, replay_id = replay(api)
    other, attempt = api.running(config=PONG, name="the other agent")
    api.save(other, attempt, 2, 100, return_mean=1.0, best=True)
    acting: list[int | None] = []
    enqueue = jobs.enqueue

    def done(*arguments: Any) -> Job:
        job = enqueue(*arguments)
        job.state = "done"
        acting.append(job.run_id)
        return job

    monkeypatch.setattr(jobs, "enqueue", done)
    call("simulate_futures", replay=replay_id, decision=1, agent_run="the other agent")
    assert acting == [other]


def test_a_comparison_has_a_verdict_and_the_differences(api: Api, call: Call) -> None:
    runs = [api.launch(name=f"run {seed}")["id"] for seed in range(2)]
    compared = parsed(call("compare_runs", runs=runs))
    assert len(compared["verdict"]) == 1
    assert compared["verdict"][0]
    assert set(compared) == {"verdict", "quantity", "groups", "differences"}


def test_log_lines_are_found(api: Api, call: Call) -> None:
    run, attempt = api.running()
    api.release(run, attempt, "failed", message="The disk is full.")
    lines = call("search_log", run=run, text="disk").content
    assert any("The disk is full." in line.text for line in lines)


def test_presets_studies_and_workers_are_listed(api: Api, call: Call) -> None:
    api.beat("w1")
    assert any(preset["name"] == "paac-pong" for preset in parsed(call("list_presets")))
    assert not call("list_studies").is_error
    assert not call("list_studies", project="Main").is_error
    assert parsed(call("list_projects"))["name"] == "Main"
    assert parsed(call("list_workers"))["name"] == "w1"
    usage = parsed(call("read_usage", by=["project"]))
    assert (usage["rows"], usage["caps"]) == ([], [])


@pytest.mark.parametrize("mcp_write", [True])
def test_a_run_is_launched_and_stopped(api: Api, call: Call) -> None:
    run = parsed(call("launch_run", preset="paac-cartpole", changes={"seed": 7}, tags=["assistant"], project="main"))
    assert run["state"] == "queued"
    assert parsed(call("list_runs", project="Main"))["total"] == 1
    assert api.run(run["id"])["config"]["seed"] == 7
    assert parsed(call("stop_run", run=run["id"]))["state"] == "stopped"
    assert "no_such_field" in failure(call("launch_run", preset="paac-cartpole", changes={"no_such_field": 1}))


def test_a_forecast_says_why_a_run_cannot_start_and_launches_nothing(api: Api, call: Call) -> None:
    forecast = parsed(call("forecast_run", preset="paac-cartpole", changes={"seed": 7}))
    assert (forecast["queue"], forecast["start_unknown"]) == ("cpu", "No CPU worker is connected.")
    assert parsed(call("list_runs"))["total"] == 0
    api.user.post("/api/v1/views", json={"name": "Best", "query": "sort=-best_return"}).raise_for_status()
    assert parsed(call("list_views"))["query"] == "sort=-best_return"


@pytest.mark.parametrize("mcp_write", [True])
def test_a_change_has_the_address_of_the_assistant(api: Api, call: Call) -> None:
    run_id, _ = api.running()
    change = parsed(call("change_run", run=run_id, fields={"learning_rate": 0.001}))
    assert change["requested_by"] == "127.0.0.1 (MCP)"


@pytest.mark.parametrize("mcp_write", [True])
def test_a_study_is_previewed_started_and_stopped(call: Call) -> None:
    spec = {
        "name": "Learning rates",
        "question": "Which is best?",
        "preset": "paac-cartpole",
        "axes": [{"field": "learning_rate", "values": [0.001, 0.01]}],
        "seeds": [1, 2, 3],
    }
    preview = parsed(call("preview_study", specification=spec))
    assert preview["runs"] == 6
    study = parsed(call("start_study", specification=spec, confirm_steps=preview["steps"]))
    shown = parsed(call("show_study", study=study["id"]))
    assert (shown["name"], shown["verdict"], {point["failed"] for point in shown["table"]}) == (
        "Learning rates",
        None,
        {0},
    )
    assert parsed(call("list_studies"))["id"] == study["id"]
    assert parsed(call("stop_study", study=study["id"]))["state"] == "stopped"


def test_the_documentation_names_every_tool() -> None:
    page = (Path(__file__).parents[3] / "docs/client/mcp.md").read_text()
    assert {tool for tool in READ_TOOLS | WRITE_TOOLS if f"`{tool}`" not in page} == set()
