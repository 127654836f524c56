"""The MCP server: tools with which an assistant reads, compares and, if allowed, starts runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, Any, Literal, cast

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field, ValidationError

from arcadia._async.client import AsyncClient
from arcadia._async.references import find_run_id, find_run_ids
from arcadia._async.transport import AsyncTransport
from arcadia.errors import ArcadiaError
from arcadia.figures import to_image
from arcadia.names import joined_ids, read_run_page
from arcadia.version import client_version, local_user, user_agent

# Yields a connection to the API with the rights of the caller.
Connect = Callable[[Context[Any]], AbstractAsyncContextManager[AsyncTransport]]

INSTRUCTIONS = (
    "Arcadia trains game-playing agents with A3C, PAAC, GA3C and Gorila. A run is one training; a study is many runs "
    "that answer one question. Compare methods only with compare_runs, whose verdict takes seeds into account."
)
WAIT_SECONDS = 25.0
MAX_LISTED, MAX_POINTS, MAX_LOG_LINES = 100, 400, 200
# Fields of a run that an assistant rarely needs, and that would fill its context.
_LONG_FIELDS = ("actions", "versions", "poster_file_id", "color", "command", "roles", "start_steps")
READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
CREATES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
STOPS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

RunRef = Annotated[int | str, Field(description="Number or unique name of the run, or @last.")]
ProjectName = Annotated[str | None, Field(description="Name of a project from list_projects.")]
Filter = Annotated[
    str | None, Field(description="Expression such as learning_rate < 1e-3 and env:Pong and best_return > 15.")
]
RunRefs = Annotated[list[int | str], Field(description="Numbers or names of the runs.", min_length=1, max_length=50)]


class Server(MCPServer[Any]):
    """MCP server that names wrong arguments in one line each."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool by name with arguments."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.__cause__.errors()]
            raise ToolError("\n".join(wrong)) from None


def create_mcp_server(connect: Connect, *, write: bool) -> MCPServer[Any]:
    """Return the server. Tools that start or stop anything exist only if `write` is true."""
    server = Server("arcadia", instructions=INSTRUCTIONS, version=client_version())
    tools = Tools(connect)
    reading = (
        tools.list_runs,
        tools.list_views,
        tools.group_runs,
        tools.show_run,
        tools.list_metrics,
        tools.read_metric,
        tools.draw_figure,
        tools.list_calibrations,
        tools.list_replays,
        tools.compare_runs,
        tools.search_log,
        tools.list_projects,
        tools.list_studies,
        tools.show_study,
        tools.list_artifacts,
        tools.show_artifact,
        tools.list_presets,
        tools.forecast_run,
        tools.list_workers,
    )
    creating = (
        (tools.launch_run, tools.change_run, tools.simulate_futures, tools.preview_study, tools.start_study)
        if write
        else ()
    )
    stopping = (tools.stop_run, tools.stop_study) if write else ()
    _add(server, reading, READ_ONLY)
    _add(server, creating, CREATES)
    _add(server, stopping, STOPS)
    return server


def _add(server: MCPServer[Any], tools: Iterable[Callable[..., Any]], annotations: ToolAnnotations) -> None:
    for tool in tools:
        server.add_tool(tool, annotations=annotations, structured_output=False)


def serve_stdio(url: str | None, token: str | None, *, write: bool) -> None:
    """Serve one assistant over standard input and output."""

    @asynccontextmanager
    async def connect(_context: Context[Any]) -> AsyncIterator[AsyncTransport]:
        async with AsyncClient(url, token, agent=user_agent("MCP", local_user())) as client:
            yield client.transport

    create_mcp_server(connect, write=write).run("stdio")


class Tools:
    """The tools. An assistant sees their names, parameters and docstrings."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    @asynccontextmanager
    async def _api(self, context: Context[Any]) -> AsyncIterator[AsyncTransport]:
        """Yield the API. Report its errors as errors of the tool."""
        try:
            async with self._connect(context) as transport:
                yield transport
        except ArcadiaError as error:
            raise ToolError(str(error)) from None

    async def list_runs(
        self,
        context: Context[Any],
        state: Literal["queued", "starting", "running", "paused", "finished", "failed", "stopped"] | None = None,
        env: str | None = None,
        algorithm: str | None = None,
        tag: str | None = None,
        project: ProjectName = None,
        text: str | None = None,
        filter: Filter = None,  # noqa: A002 - the parameter's name in the API
        sort: Annotated[
            str, Field(description="Columns, fields or expressions such as -best_return,learning_rate.")
        ] = "-created_at",
        limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 20,
    ) -> dict[str, Any]:
        """List runs with their state, progress and best return, newest first."""
        async with self._api(context) as api:
            filters = {"state": state, "env": env, "algorithm": algorithm, "tag": tag, "project": project, "text": text}
            page = await api.get("/runs", **filters, filter=filter, sort=sort, limit=limit)
        return {"total": page["total"], "runs": [_summarize(run) for run in read_run_page(page)]}

    async def list_views(self, context: Context[Any], project: ProjectName = None) -> list[dict[str, Any]]:
        """List the saved views of the runs page. The query of a view has the filter and the order for list_runs."""
        async with self._api(context) as api:
            return cast(list[dict[str, Any]], await api.get("/views", project=project))

    async def group_runs(
        self,
        context: Context[Any],
        by: Annotated[str, Field(description="Columns or fields, such as method,env,learning_rate.")],
        values: Annotated[list[str], Field(description="Numbers to average, such as best_return.")] = ["return"],  # noqa: B006
        filter: Filter = None,  # noqa: A002
        sort: Annotated[str, Field(description="runs, newest, or a statistic such as -return.mean.")] = "-newest",
        limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 20,
    ) -> dict[str, Any]:
        """Group runs by their values, with the mean and the standard deviation of numbers in each group."""
        async with self._api(context) as api:
            found: dict[str, Any] = await api.get(
                "/run-groups", by=by, value=values, filter=filter, sort=sort, limit=limit
            )
        return found

    async def show_run(self, context: Context[Any], run: RunRef) -> dict[str, Any]:
        """Return a run with its configuration, results, warnings and failure."""
        async with self._api(context) as api:
            found = await api.get(f"/runs/{await find_run_id(api, run)}")
        return {name: value for name, value in found.items() if name not in _LONG_FIELDS}

    async def list_metrics(self, context: Context[Any], run: RunRef) -> list[str]:
        """List the metrics that a run has reported."""
        async with self._api(context) as api:
            return cast(list[str], await api.get(f"/runs/{await find_run_id(api, run)}/metric-names"))

    async def read_metric(
        self,
        context: Context[Any],
        run: RunRef,
        metric: Annotated[str, Field(description="A name from list_metrics.")] = "episode/return",
        points: Annotated[int, Field(ge=2, le=MAX_POINTS, description="Maximum number of points.")] = 50,
    ) -> dict[str, Any]:
        """Return the values of a metric over training, thinned to a number of points."""
        async with self._api(context) as api:
            return cast(
                dict[str, Any],
                await api.get(f"/runs/{await find_run_id(api, run)}/metrics", names=metric, buckets=points),
            )

    async def draw_figure(
        self,
        context: Context[Any],
        runs: RunRefs,
        metric: Annotated[str, Field(description="A name from list_metrics.")] = "episode/return",
        group_seeds: Annotated[bool, Field(description="One line with a band for runs that differ in seed.")] = False,
        smoothing: Annotated[float, Field(ge=0, le=0.99)] = 0.6,
    ) -> Image:
        """Draw the curves of a metric of some runs as an image."""
        async with self._api(context) as api:
            ids = joined_ids(await find_run_ids(api, [runs]))
            figure = await api.get(
                "/figures/curves",
                runs=ids,
                metric=metric,
                group="seed" if group_seeds else "none",
                smoothing=smoothing,
            )
            return Image(data=to_image(figure), format="png")

    async def list_calibrations(self, context: Context[Any], run: RunRef) -> list[dict[str, Any]]:
        """List how well the critic of a run's checkpoints predicts returns: bias, rmse, correlation and regret."""
        async with self._api(context) as api:
            found = await api.get(f"/runs/{await find_run_id(api, run)}/calibrations")
        return [{name: each[name] for name in ("id", "state", "step", "protocol", "errors")} for each in found]

    async def list_replays(self, context: Context[Any], run: RunRef) -> list[dict[str, Any]]:
        """List the replays of a run with their return and their length in decisions."""
        async with self._api(context) as api:
            found = await api.get(f"/runs/{await find_run_id(api, run)}/replays")
        return [{name: each[name] for name in ("id", "step", "episode_return", "length", "seconds")} for each in found]

    async def compare_runs(
        self,
        context: Context[Any],
        runs: RunRefs,
        group_by: Annotated[str, Field(description="Fields, such as algorithm,learning_rate; seeds by default.")] = "",
    ) -> dict[str, Any]:
        """Compare groups of runs: differing fields, means with intervals over seeds, and the verdict."""
        async with self._api(context) as api:
            ids = joined_ids(await find_run_ids(api, [runs]))
            verdict = await api.get("/compare/verdict", runs=ids, group_by=group_by)
            compared = await api.get("/compare", runs=ids, group_by=group_by)
        differing = [each for each in compared["differences"] if not each["same"]]
        return {
            "verdict": [pair["text"] for pair in verdict["pairs"]] or [verdict["message"]],
            "quantity": verdict["quantity"],
            "groups": verdict["standings"],
            "differences": {each["field"]: each["values"] for each in differing},
        }

    async def search_log(
        self,
        context: Context[Any],
        run: RunRef,
        text: Annotated[str, Field(description="Text that lines contain, ignoring case; all lines if empty.")] = "",
        limit: Annotated[int, Field(ge=1, le=MAX_LOG_LINES)] = 50,
    ) -> list[dict[str, Any]]:
        """Return the last lines of a run's log that contain a text."""
        async with self._api(context) as api:
            page = await api.get(f"/runs/{await find_run_id(api, run)}/log", search=text, limit=limit)
        return [{name: line[name] for name in ("time", "level", "message")} for line in page["items"]]

    async def list_studies(
        self,
        context: Context[Any],
        project: ProjectName = None,
        limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 20,
    ) -> list[dict[str, Any]]:
        """List studies, newest first."""
        async with self._api(context) as api:
            page = await api.get("/studies", project=project, limit=limit)
        kept = ("id", "name", "project", "question", "state", "runs")
        return [{name: study.get(name) for name in kept} for study in page["items"]]

    async def list_projects(self, context: Context[Any]) -> list[dict[str, Any]]:
        """List the projects with their numbers of runs, studies and reports."""
        async with self._api(context) as api:
            return cast(list[dict[str, Any]], await api.get("/projects"))

    async def list_artifacts(
        self,
        context: Context[Any],
        project: ProjectName = None,
        kind: Annotated[str | None, Field(description="Such as model.")] = None,
        search: Annotated[str | None, Field(description="Text in the name.")] = None,
        limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 20,
    ) -> list[dict[str, Any]]:
        """List artifacts, which are versioned files of scripts, with their newest versions."""
        async with self._api(context) as api:
            page = await api.get("/artifacts", project=project, kind=kind, search=search, limit=limit)
        kept = ("name", "project", "kind", "version_count")
        return [
            {name: each[name] for name in kept} | {"latest": _summarize_version(each["latest"])}
            for each in page["items"]
        ]

    async def show_artifact(
        self,
        context: Context[Any],
        reference: Annotated[str, Field(description="Such as model, model:best, model:v3 or Maze/model:best.")],
        project: ProjectName = None,
    ) -> dict[str, Any]:
        """Return a version of an artifact with its first files and the runs that made and used it."""
        async with self._api(context) as api:
            found = await api.get("/artifacts/resolve", reference=reference, project=project)
        runs = {
            role: [{"id": run["id"], "name": run["name"]} for run in found[role]] for role in ("made_by", "used_by")
        }
        files = [{name: entry[name] for name in ("path", "bytes", "uri")} for entry in found["entries"][:MAX_LISTED]]
        return _summarize_version(found) | {"metadata": found["metadata"], **runs, "files": files}

    async def show_study(self, context: Context[Any], study: int) -> dict[str, Any]:
        """Return a study with the mean return of each point over its seeds."""
        async with self._api(context) as api:
            found = await api.get(f"/studies/{study}")
        kept = ("id", "name", "question", "state", "state_reason", "runs", "runs_remaining", "table")
        return {name: found.get(name) for name in kept}

    async def list_presets(self, context: Context[Any]) -> list[dict[str, Any]]:
        """List the presets that runs and studies start from."""
        async with self._api(context) as api:
            presets = await api.get("/presets")
        kept = ("name", "title", "description", "env", "algorithm")
        return [{name: preset[name] for name in kept if name in preset} for preset in presets]

    async def forecast_run(
        self,
        context: Context[Any],
        preset: Annotated[str, Field(description="A name from list_presets.")],
        changes: Annotated[dict[str, Any], Field(description="Configuration fields to change.")] = {},  # noqa: B006
    ) -> dict[str, Any]:
        """Return what a run would need, what the workers have, and when it could start. Nothing is launched."""
        async with self._api(context) as api:
            body = {"preset": preset, "overrides": changes or None}
            return cast(dict[str, Any], await api.post("/runs/preview", body))

    async def list_workers(self, context: Context[Any]) -> list[dict[str, Any]]:
        """List the workers with their queues and what they train."""
        async with self._api(context) as api:
            return cast(list[dict[str, Any]], await api.get("/workers"))

    async def launch_run(
        self,
        context: Context[Any],
        preset: Annotated[str, Field(description="A name from list_presets.")],
        changes: Annotated[dict[str, Any], Field(description="Configuration fields to change, such as seed.")] = {},  # noqa: B006
        name: str | None = None,
        tags: list[str] = [],  # noqa: B006
        notes: str = "",
        project: ProjectName = None,
    ) -> dict[str, Any]:
        """Queue a new run of a preset."""
        body = {"preset": preset, "overrides": changes or None, "name": name, "tags": tags, "notes": notes}
        body["project"] = project
        async with self._api(context) as api:
            return _summarize(await api.post("/runs", body))

    async def simulate_futures(
        self,
        context: Context[Any],
        replay: Annotated[int, Field(description="Number of a replay from list_replays.")],
        decision: Annotated[int, Field(description="The decision to continue from, counted from 0.")],
        futures: Annotated[int, Field(description="8 to 256 futures.")] = 64,
        horizon: Annotated[int, Field(description="Longest future in decisions.")] = 200,
        first: Annotated[list[str], Field(description="Names of actions to force first.")] = [],  # noqa: B006
        each_action: Annotated[bool, Field(description="Also force each action first and compare them.")] = False,
        temperature: Annotated[float, Field(description="Divides the policy's logits.")] = 1.0,
        agent_run: Annotated[
            int | str | None, Field(description="Number or name of a run whose best checkpoint acts instead.")
        ] = None,
    ) -> dict[str, Any]:
        """Simulate how a replay could continue from a decision, and compare the returns with the value estimate."""
        body: dict[str, Any] = {
            "decision": decision,
            "futures": futures,
            "horizon": horizon,
            "first": first,
            "each_action": each_action,
            "temperature": temperature,
            "record_videos": False,
        }
        async with self._api(context) as api:
            if agent_run is not None:
                body["agent"] = {"run_id": await find_run_id(api, agent_run)}
            found = await api.post(f"/replays/{replay}/futures", body)
            while found["state"] in ("queued", "running"):
                found = await api.get(f"/futures/{found['id']}", wait="finished", timeout=WAIT_SECONDS)
        return _summarize_futures(found)

    async def change_run(
        self,
        context: Context[Any],
        run: RunRef,
        fields: Annotated[dict[str, Any], Field(description="New values, such as learning_rate or entropy_cost.")] = {},  # noqa: B006
        more_steps: Annotated[int | None, Field(description="Steps to train longer.")] = None,
    ) -> dict[str, Any]:
        """Change settings of a run from its next update on, or train it longer, also after it has ended.

        Only fields that are safe to change are accepted. For others, launch another run.
        """
        body = {"fields": fields} if more_steps is None else {"fields": fields, "more_steps": more_steps}
        async with self._api(context) as api:
            return cast(dict[str, Any], await api.post(f"/runs/{await find_run_id(api, run)}/changes", body))

    async def stop_run(self, context: Context[Any], run: RunRef) -> dict[str, Any]:
        """Stop a run permanently. It saves a checkpoint first."""
        async with self._api(context) as api:
            return _summarize(await api.post(f"/runs/{await find_run_id(api, run)}/stop"))

    async def preview_study(self, context: Context[Any], specification: dict[str, Any]) -> dict[str, Any]:
        """Return the number of runs, steps and hours of a study without starting it.

        A specification has name, question, preset, axes ([{"field": …, "values": […]}]), seeds ([1, 2, 3]) and changes.
        With until ("certain") it adds seeds, up to max_seeds per point, until a test decides which point is best.
        """
        async with self._api(context) as api:
            return cast(dict[str, Any], await api.post("/studies/preview", specification))

    async def start_study(
        self,
        context: Context[Any],
        specification: dict[str, Any],
        confirm_steps: Annotated[
            int | None, Field(description="Number of steps from preview_study, if it requires a confirmation.")
        ] = None,
        project: ProjectName = None,
    ) -> dict[str, Any]:
        """Start a study, specified as for preview_study."""
        async with self._api(context) as api:
            study = await api.post("/studies", {**specification, "confirm_steps": confirm_steps, "project": project})
        return {name: study[name] for name in ("id", "name", "state", "runs")}

    async def stop_study(self, context: Context[Any], study: int) -> dict[str, Any]:
        """Stop a study with all runs that have not ended."""
        async with self._api(context) as api:
            stopped = await api.post(f"/studies/{study}/stop")
        return {name: stopped[name] for name in ("id", "name", "state", "runs")}


def _summarize_futures(futures: dict[str, Any]) -> dict[str, Any]:
    """Return futures without the lists that would fill an assistant's context."""
    document = futures["document"] or {}
    kept = ("score", "terminal", "bootstrapped", "actions", "gamma", "clip_rewards", "temperature")
    return {name: futures[name] for name in futures if name not in ("document", "videos", "traceback")} | {
        name: document[name] for name in kept if name in document
    }


def _summarize_version(version: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a version that identify it."""
    kept = ("name", "project", "kind", "version", "aliases", "bytes", "file_count", "created_at", "run_id", "run_name")
    return {name: version[name] for name in kept}


def _summarize(run: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a run that identify it and show its progress."""
    kept = (
        "id",
        "name",
        "state",
        "algorithm",
        "env",
        "tags",
        "step",
        "total_steps",
        "steps_per_second",
        "last_return",
        "best_return",
        "created_at",
    )
    return {name: run.get(name) for name in kept}
