"""`arcadia mcp` against a real server, with the SDK's client."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import mcp
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.backend.artifacts.conftest import ArtifactScript
from tests.browser.reported import open_api
from tests.installation import CARTPOLE, Installation, PreparedBackend


def call(installation: Installation, *options: str, tools: dict[str, dict[str, Any]]) -> list[Any]:
    """Start `arcadia mcp`, list its tools, call some, and return the names and the results."""
    command = ["-m", "arcadia", "mcp", *options]
    parameters = StdioServerParameters(
        command=sys.executable,
        args=command,
        env={"ARCADIA_URL": f"http://127.0.0.1:{installation.port}", "ARCADIA_TOKEN": "secret"},
    )

    async def run() -> list[Any]:
        async with mcp.Client(stdio_client(parameters)) as assistant:
            names = [tool.name for tool in (await assistant.list_tools()).tools]
            return [names, *[await assistant.call_tool(name, arguments) for name, arguments in tools.items()]]

    return asyncio.run(run())


def test_an_assistant_reads_and_writes_over_standard_output(tmp_path: Path) -> None:
    with Installation(tmp_path, PreparedBackend, token="secret") as installation:
        run = installation.launch(CARTPOLE)
        with open_api(installation, users_token="secret") as api:
            script = ArtifactScript(api.user)
            script.begin(name="logs").raise_for_status()
            script.log_artifact("model", {"m.bin": b"weights"}, kind="model", metadata={"score": 3})
        reading: dict[str, dict[str, Any]] = {
            "show_run": {"run": run},
            "list_artifacts": {},
            "show_artifact": {"reference": "model:latest"},
        }
        names, shown, listed, version = call(installation, tools=reading)
        assert "stop_run" not in names
        assert json.loads(shown.content[0].text)["state"] == "queued"
        assert json.loads(listed.content[0].text)["latest"]["version"] == 0
        artifact = json.loads(version.content[0].text)
        assert (artifact["made_by"], artifact["metadata"]) == ([{"id": script.run_id, "name": "logs"}], {"score": 3})
        assert artifact["files"] == [{"path": "m.bin", "bytes": 7, "uri": None}]
        change = {"run": run, "fields": {"learning_rate": 0.5}, "more_steps": 10}
        names, changed, stopped = call(installation, "--write", tools={"change_run": change, "stop_run": {"run": run}})
        assert {"stop_run", "launch_run", "change_run", "start_study"} <= set(names)
        assert json.loads(changed.content[0].text)["fields"]["learning_rate"] == 0.5
        assert not stopped.is_error, stopped.content
        assert installation.run(run)["state"] == "stopped"
