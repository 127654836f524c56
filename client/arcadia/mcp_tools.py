"""The tools with which an assistant reads, compares and, if allowed, starts runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, Any, Literal, cast

from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from arcadia._async.references import find_run_id, find_run_ids
from arcadia._async.transport import AsyncTransport
from arcadia.errors import ArcadiaError
from arcadia.figures import to_image
from arcadia.names import joined_ids, read_run_page

# Yields a connection to the API with the rights of the caller.
Connect = Callable[[Context[Any]], AbstractAsyncContextManager[AsyncTransport]]

WAIT_SECONDS = 25.0
MAX_LISTED, MAX_POINTS, MAX_LOG_LINES = 100, 400, 200
RUN_FIELDS = "id name state algorithm env tags step total_steps steps_per_second last_return best_return created_at"
VERSION_FIELDS = "name project kind version aliases bytes file_count created_at run_id run_name"
# Fields of a run that an assistant rarely needs, and that would fill its context.
_LONG_FIELDS = ("actions", "versions", "poster_file_id", "color", "command", "roles", "start_steps")
RunRef = Annotated[int | str, Field(description="Number or unique name of the run, or @last.")]
ExecutorName = Annotated[Literal["workers", "slurm", "ray"] | None, Field(description="Default: of the project.")]
ProjectName = Annotated[str | None, Field(description="Name of a project from list_projects.")]
Filter = Annotated[str | None, Field(description="Expression such as learning_rate < 1e-3 and env:Pong.")]
RunRefs = Annotated[list[int | str], Field(description="Numbers or names of the runs.", min_length=1, max_length=50)]


class Tools:
    """Some tools: the public methods. An assistant sees their names, parameters and docstrings."""

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

    async def _get(self, context: Context[Any], path: str, **params: Any) -> Any:
        """Return the response of a GET request."""
        async with self._api(context) as api:
            return await api.get(path, **params)

    async def _post(self, context: Context[Any], path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the response of a POST request."""
        async with self._api(context) as api:
            return cast(dict[str, Any], await api.post(path, body))

    async def _get_of_run(self, context: Context[Any], run: RunRef, path: str = "", **params: Any) -> Any:
        """Return the response of a GET request for a run."""
        async with self._api(context) as api:
            return await api.get(f"/runs/{await find_run_id(api, run)}{path}", **params)


class ReadingTools(Tools):
    """Tools that change nothing."""

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
        filters = {"state": state, "env": env, "algorithm": algorithm, "tag": tag, "project": project, "text": text}
        page = await self._get(context, "/runs", **filters, filter=filter, sort=sort, limit=limit)
        return {"total": page["total"], "runs": [_pick(run, RUN_FIELDS) for run in read_run_page(page)]}

    async def list_views(self, context: Context[Any], project: ProjectName = None) -> list[dict[str, Any]]:
        """List the saved views of the runs page. The query of a view has the filter and the order for list_runs."""
        return cast(list[dict[str, Any]], await self._get(context, "/views", project=project))

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
        params = {"by": by, "value": values, "filter": filter, "sort": sort, "limit": limit}
        return cast(dict[str, Any], await self._get(context, "/run-groups", **params))

    async def show_run(self, context: Context[Any], run: RunRef) -> dict[str, Any]:
        """Return a run with its configuration, results, warnings and failure."""
        details = await self._get_of_run(context, run)
        return {name: value for name, value in details.items() if name not in _LONG_FIELDS}

    async def list_metrics(self, context: Context[Any], run: RunRef) -> list[str]:
        """List the metrics that a run has reported."""
        return cast(list[str], await self._get_of_run(context, run, "/metric-names"))

    async def read_metric(
        self,
        context: Context[Any],
        run: RunRef,
        metric: Annotated[str, Field(description="A name from list_metrics.")] = "episode/return",
        points: Annotated[int, Field(ge=2, le=MAX_POINTS, description="Maximum number of points.")] = 50,
    ) -> dict[str, Any]:
        """Return the values of a metric over training, thinned to a number of points."""
        metrics = await self._get_of_run(context, run, "/metrics", names=metric, buckets=points)
        return cast(dict[str, Any], metrics)

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
            group = "seed" if group_seeds else "none"
            figure = await api.get("/figures/curves", runs=ids, metric=metric, group=group, smoothing=smoothing)
            return Image(data=to_image(figure), format="png")

    async def list_calibrations(self, context: Context[Any], run: RunRef) -> list[dict[str, Any]]:
        """List how well the critic of a run's checkpoints predicts returns: bias, rmse, correlation and regret."""
        calibrations = await self._get_of_run(context, run, "/calibrations")
        return [_pick(calibration, "id state step protocol errors") for calibration in calibrations]

    async def list_replays(self, context: Context[Any], run: RunRef) -> list[dict[str, Any]]:
        """List the replays of a run with their return and their length in decisions."""
        replays = await self._get_of_run(context, run, "/replays")
        return [_pick(replay, "id step episode_return length seconds") for replay in replays]

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
            "verdict": [f"{pair['text']} {pair['warning']}".strip() for pair in verdict["pairs"]]
            or [verdict["message"]],
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
        page = await self._get_of_run(context, run, "/log", search=text, limit=limit)
        return [_pick(line, "time level message") for line in page["items"]]

    async def list_studies(
        self,
        context: Context[Any],
        project: ProjectName = None,
        limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 20,
    ) -> list[dict[str, Any]]:
        """List studies, newest first."""
        page = await self._get(context, "/studies", project=project, limit=limit)
        return [_pick(study, "id name project question state runs") for study in page["items"]]

    async def list_projects(self, context: Context[Any]) -> list[dict[str, Any]]:
        """List the projects with their numbers of runs, studies and reports."""
        return cast(list[dict[str, Any]], await self._get(context, "/projects"))

    async def list_artifacts(
        self,
        context: Context[Any],
        project: ProjectName = None,
        kind: Annotated[str | None, Field(description="Such as model.")] = None,
        search: Annotated[str | None, Field(description="Text in the name.")] = None,
        limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 20,
    ) -> list[dict[str, Any]]:
        """List artifacts, which are versioned files of scripts, with their newest versions."""
        page = await self._get(context, "/artifacts", project=project, kind=kind, search=search, limit=limit)
        return [
            _pick(artifact, "name project kind version_count") | {"latest": _pick(artifact["latest"], VERSION_FIELDS)}
            for artifact in page["items"]
        ]

    async def show_artifact(
        self,
        context: Context[Any],
        reference: Annotated[str, Field(description="Such as model, model:best, model:v3 or Maze/model:best.")],
        project: ProjectName = None,
    ) -> dict[str, Any]:
        """Return a version of an artifact with its first files and the runs that made and used it."""
        version = await self._get(context, "/artifacts/resolve", reference=reference, project=project)
        runs = {role: [_pick(run, "id name") for run in version[role]] for role in ("made_by", "used_by")}
        files = [_pick(entry, "path bytes uri") for entry in version["entries"][:MAX_LISTED]]
        return _pick(version, VERSION_FIELDS) | {"metadata": version["metadata"], **runs, "files": files}

    async def show_study(self, context: Context[Any], study: int) -> dict[str, Any]:
        """Return a study with the mean return of each point over its finished runs, and the number of failed ones."""
        details = await self._get(context, f"/studies/{study}")
        return _pick(details, "id name question state state_reason runs runs_remaining verdict table")

    async def list_presets(self, context: Context[Any]) -> list[dict[str, Any]]:
        """List the presets that runs and studies start from."""
        presets = await self._get(context, "/presets")
        return [_pick(preset, "name title description env algorithm") for preset in presets]

    async def forecast_run(
        self,
        context: Context[Any],
        preset: Annotated[str, Field(description="A name from list_presets.")],
        changes: Annotated[dict[str, Any], Field(description="Configuration fields to change.")] = {},  # noqa: B006
    ) -> dict[str, Any]:
        """Return what a run would need, what the workers have, and when it could start. Nothing is launched."""
        return await self._post(context, "/runs/preview", {"preset": preset, "overrides": changes or None})

    async def list_workers(self, context: Context[Any]) -> list[dict[str, Any]]:
        """List the workers with their queues and what they train."""
        return cast(list[dict[str, Any]], await self._get(context, "/workers"))

    async def read_usage(
        self,
        context: Context[Any],
        by: Annotated[
            list[Literal["month", "project", "person", "study", "kind"]], Field(description="Groups.", min_length=1)
        ] = ["month", "project"],  # noqa: B006
        project: ProjectName = None,
        since: Annotated[str | None, Field(description="A time with a zone, such as 2026-12-01T00:00:00Z.")] = None,
        until: Annotated[str | None, Field(description="A time with a zone.")] = None,
    ) -> dict[str, Any]:
        """Return the core and GPU hours that runs and jobs used, by groups, and the caps of this month."""
        filters = {"from": since, "to": until, "project": project}
        used = cast(dict[str, Any], await self._get(context, "/usage", by=by, **filters))
        return used | {"caps": await self._get(context, "/caps")}


class CreatingTools(Tools):
    """Tools that create or change something."""

    async def launch_run(
        self,
        context: Context[Any],
        preset: Annotated[str, Field(description="A name from list_presets.")],
        changes: Annotated[dict[str, Any], Field(description="Configuration fields to change, such as seed.")] = {},  # noqa: B006
        name: str | None = None,
        tags: list[str] = [],  # noqa: B006
        notes: str = "",
        project: ProjectName = None,
        executor: Annotated[
            Literal["workers", "slurm", "ray"] | None,
            Field(description="Where it trains. Default: that of the project."),
        ] = None,
    ) -> dict[str, Any]:
        """Queue a new run of a preset."""
        body = {"preset": preset, "overrides": changes or None, "name": name, "tags": tags, "notes": notes}
        return _pick(await self._post(context, "/runs", body | {"project": project, "executor": executor}), RUN_FIELDS)

    async def review_replay(
        self,
        context: Context[Any],
        replay: Annotated[int, Field(description="Number of a replay from list_replays.")],
        decisions: Annotated[int, Field(description="Decisions to review, chosen by what the episode shows.")] = 60,
    ) -> dict[str, Any]:
        """Find the decisions of a replay at which its agent lost, with the loss and its interval. It takes minutes."""
        async with self._api(context) as api:
            job = await _finished(api, "reviews", replay, {"decisions": decisions})
        names = "decision taken better finding e_value loss score_loss reason"
        reviewed = (job["document"] or {}).get("reviewed", [])
        return _without_result(job) | {"reviewed": [_pick(each, names) for each in reviewed]}

    async def practice_mistakes(
        self,
        context: Context[Any],
        review: Annotated[int, Field(description="Id of a finished review from review_replay.")],
        start: Annotated[bool, Field(description="Start or continue it. Otherwise, only show cost and state.")] = False,
        share: Annotated[float, Field(description="Share of episodes that begin before a mistake.")] = 0.5,
        steps: Annotated[int | None, Field(description="Steps of each run. Default: a tenth of the agent's.")] = None,
        pairs: Annotated[int, Field(description="Pairs of runs with different seeds: 1, or 3 and more.")] = 1,
    ) -> dict[str, Any]:
        """Train an agent from the mistakes of a review, and compare it with training on without them.

        It may take hours. Call it again without `start` to read the verdict. With one pair, the verdict is about its
        two agents. With three or more, it is about practice of this agent.
        """
        body = {"share": share, "steps": steps, "pairs": pairs}
        async with self._api(context) as api:
            if start:
                found = [await api.post(f"/reviews/{review}/practices", body)]
            else:
                found = await api.get(f"/reviews/{review}/practices")
            cost = await api.post(f"/reviews/{review}/practices/preview", body)
        shown: list[dict[str, Any]] = [
            _without_result(each) | _pick(each["document"] or {}, "mistakes repeated score cost") for each in found
        ]
        return {"cost": cost, "practice": shown[0] if shown else None}

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
            job = await _finished(api, "futures", replay, body)
        names = "score terminal bootstrapped actions gamma clip_rewards temperature"
        return _without_result(job) | _pick(job["document"] or {}, names)

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

    async def preview_study(self, context: Context[Any], specification: dict[str, Any]) -> dict[str, Any]:
        """Return the number of runs, steps and hours of a study without starting it.

        A specification has name, question, preset, axes ([{"field": …, "values": […]}]), seeds ([1, 2, 3]) and changes.
        With until ("certain") it adds seeds, up to max_seeds per point, until a test decides which point is best.
        """
        return await self._post(context, "/studies/preview", specification)

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
        body = {**specification, "confirm_steps": confirm_steps, "project": project}
        return _pick(await self._post(context, "/studies", body), "id name state runs")


class StoppingTools(Tools):
    """Tools that end something."""

    async def stop_run(self, context: Context[Any], run: RunRef) -> dict[str, Any]:
        """Stop a run permanently. It saves a checkpoint first."""
        async with self._api(context) as api:
            return _pick(await api.post(f"/runs/{await find_run_id(api, run)}/stop"), RUN_FIELDS)

    async def stop_study(self, context: Context[Any], study: int) -> dict[str, Any]:
        """Stop a study with all runs that have not ended."""
        return _pick(await self._post(context, f"/studies/{study}/stop"), "id name state runs")


async def _finished(api: Any, kind: str, replay: int, body: dict[str, Any]) -> dict[str, Any]:
    """Request a job of a replay, and return it once it has ended."""
    job: dict[str, Any] = await api.post(f"/replays/{replay}/{kind}", body)
    while job["state"] in ("queued", "running"):
        job = await api.get(f"/{kind}/{job['id']}", wait="finished", timeout=WAIT_SECONDS)
    return job


def _without_result(job: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in job.items() if name not in ("document", "videos", "traceback")}


def _pick(row: dict[str, Any], names: str) -> dict[str, Any]:
    """Return these fields of a response, so that the others do not fill an assistant's context."""
    return {name: row[name] for name in names.split() if name in row}
