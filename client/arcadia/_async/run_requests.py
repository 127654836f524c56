"""Requests that launch, find and compare runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arcadia._async.artifacts import AsyncCheckpoint
from arcadia._async.jobs import WAIT_SECONDS, AsyncFutures, AsyncReplay, AsyncReview
from arcadia._async.references import find_alias, find_figure, find_run, find_run_ids, find_runs
from arcadia._async.runs import AsyncRun
from arcadia._async.transport import AsyncRequests
from arcadia.errors import NotFoundError
from arcadia.figures import Figure
from arcadia.names import RunReference, RunReferences, joined_ids, read_run_page
from arcadia.records.job import BulkAction
from arcadia.records.run import RunForecast, RunGroup
from arcadia.settings import resolve_project
from arcadia.tables import Comparison


class AsyncRunRequests(AsyncRequests):
    """Methods of the client for runs."""

    async def launch(
        self,
        preset: str | None = None,
        *,
        name: str | None = None,
        seed: int | None = None,
        config: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
        notes: str = "",
        priority: int = 0,
        queue: str | None = None,
        executor: str | None = None,
        job_options: Sequence[str] = (),
        needs: Mapping[str, Any] | None = None,
        interruptible: bool = False,
        project: str | None = None,
        **changes: Any,
    ) -> AsyncRun:
        """Queue a run of a preset with some fields changed, or of a complete configuration.

        The default project is ARCADIA_PROJECT, or Main. Without an executor, such as workers, slurm or ray, the
        default of the project decides where it trains. A job of Slurm may have options of sbatch, such as
        `["--qos=long"]`. On workers, `needs` says what the run needs of a host, such as
        `{"labels": ["a100"], "cores": 4, "memory_gb": 8, "gpu_memory_gb": 12}`. Runs with a higher priority may take
        the place of an interruptible one.
        """
        body = {
            **_configuration(preset, seed, config, changes),
            "name": name,
            "tags": list(tags),
            "notes": notes,
            "priority": priority,
            "queue": queue,
            "project": resolve_project(project),
            **_chosen(executor),
            **({"job_options": list(job_options)} if job_options else {}),
            **({"needs": dict(needs)} if needs else {}),
            **({"interruptible": True} if interruptible else {}),
        }
        return AsyncRun(self.transport, await self.transport.post("/runs", body))

    async def forecast(
        self,
        preset: str | None = None,
        *,
        seed: int | None = None,
        config: Mapping[str, Any] | None = None,
        priority: int = 0,
        queue: str | None = None,
        executor: str | None = None,
        needs: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> RunForecast:
        """Forecast what a run would need, and when it could start, without launching it."""
        shared: dict[str, Any] = {"priority": priority, "queue": queue, **_chosen(executor)}
        shared |= {"needs": dict(needs)} if needs else {}
        body = {**_configuration(preset, seed, config, changes), **shared}
        return RunForecast(await self.transport.post("/runs/preview", body))

    async def run(self, reference: RunReference) -> AsyncRun:
        """Return the run with a number or a unique name, or the newest one: `@last`."""
        return AsyncRun(self.transport, await find_run(self.transport, reference))

    async def runs(
        self,
        *references: RunReference,
        state: str | Sequence[str] | None = None,
        tag: str | Sequence[str] | None = None,
        env: str | Sequence[str] | None = None,
        algorithm: str | Sequence[str] | None = None,
        origin: str | Sequence[str] | None = None,
        text: str | None = None,
        name: str | None = None,
        study: int | None = None,
        project: str | Sequence[str] | None = None,
        archived: bool = False,
        filter: str | None = None,  # noqa: A002 - the parameter's name in the API
        sort: str | Sequence[str] = "-created_at",
        compute: Mapping[str, str] | None = None,
        limit: int | None = None,
        include: Sequence[str] = (),
    ) -> list[AsyncRun]:
        """List the runs of references such as "7-12", or all runs that match the filters, newest first.

        `filter` is an expression such as "learning_rate < 1e-3 and best_return > 15". `compute` names expressions, and
        each run has their values in `computed`.

        A list leaves out details such as the configuration. `include=["config"]` fetches it with the list, and
        `refresh()` of a run reads all of its details.
        """
        if references:
            return [AsyncRun(self.transport, data) for data in await find_runs(self.transport, references, include)]
        runs = await self.transport.pages(
            "/runs",
            limit=limit,
            read=read_run_page,
            include=list(include),
            state=state,
            tag=tag,
            env=env,
            algorithm=algorithm,
            origin=origin,
            text=text,
            name=name,
            study=study,
            project=project,
            archived=archived or None,
            filter=filter,
            sort=sort if isinstance(sort, str) else ",".join(sort),
            compute=[f"{column} = {expression}" for column, expression in (compute or {}).items()],
        )
        return [AsyncRun(self.transport, data) for data in runs]

    async def group_runs(
        self,
        by: str | Sequence[str],
        *,
        filter: str | None = None,  # noqa: A002
        values: Sequence[str] = ("return",),
        project: str | Sequence[str] | None = None,
        archived: bool = False,
        sort: str = "-newest",
        limit: int = 50,
    ) -> list[RunGroup]:
        """Group runs by columns and fields, with statistics of each group."""
        groups = await self.transport.get(
            "/run-groups",
            by=by if isinstance(by, str) else ",".join(by),
            filter=filter,
            value=list(values),
            project=project,
            archived=archived or None,
            sort=sort,
            limit=limit,
        )
        return [RunGroup(data) for data in groups["items"]]

    async def act(
        self,
        action: str,
        *runs: RunReferences,
        tags: Sequence[str] = (),
        project: str | None = None,
        wait: bool = True,
    ) -> BulkAction:
        """Stop, pause, resume, archive, restore, purge, tag, untag or move many runs.

        Runs that do not allow it, or that you may not change, are skipped. With `wait=False`, return at once, while the
        server continues.
        """
        ids = await find_run_ids(self.transport, runs)
        body = {"action": action, "ids": ids, "tags": list(tags), "project": project}
        data = await self.transport.post("/bulk-actions", body)
        path = f"/bulk-actions/{data['id']}"
        while wait and data["state"] == "running":
            data = await self.transport.get(path, wait="finished", timeout=WAIT_SECONDS)
        skipped: dict[int, str] = {}
        while len(skipped) < data["skipped"]:
            page = await self.transport.get(f"{path}/skipped", after=max(skipped, default=0), limit=1_000)
            skipped |= {each["id"]: each["reason"] for each in page["items"]}
        return BulkAction({**data, "skipped": skipped})

    async def compare(
        self,
        *runs: RunReferences,
        group_by: str | Sequence[str] = (),
        at: int | None = None,
    ) -> Comparison:
        """Compare groups of runs at a step. By default, runs that differ only in their seed are one group."""
        ids = joined_ids(await find_run_ids(self.transport, runs))
        fields = group_by if isinstance(group_by, str) else ",".join(group_by)
        compared = await self.transport.get("/compare", runs=ids, group_by=fields)
        judged = await self.transport.get("/compare/verdict", runs=ids, group_by=fields, at=at)
        return Comparison(compared, judged)

    async def figure(self, name: str = "curves", runs: RunReferences = (), **options: Any) -> Figure:
        """Return a figure of some runs. Options are those of the API, such as metric, group_by and smoothing."""
        return await find_figure(self.transport, name, runs, **options)

    async def futures(
        self,
        replay: int | AsyncReplay,
        decision: int,
        *,
        futures: int = 64,
        horizon: int = 200,
        until: str = "horizon",
        first: Sequence[str] = (),
        each_action: bool = False,
        temperature: float = 1.0,
        agent: int | None = None,
        checkpoint: int | str = "best",
        record_videos: bool | None = None,
        wait: bool = True,
        timeout: float | None = None,
    ) -> AsyncFutures:
        """Simulate how a replay could continue from a decision. With `wait=False`, return while it is queued.

        `agent` is the number of a run whose checkpoint acts. Default: the agent of the replay.
        """
        number = replay if isinstance(replay, int) else replay.id
        body = {
            "decision": decision,
            "futures": futures,
            "horizon": horizon,
            "until": until,
            "first": list(first),
            "each_action": each_action,
            "temperature": temperature,
            "agent": None if agent is None else {"run_id": agent, "checkpoint": checkpoint},
            "record_videos": record_videos,
        }
        simulated = AsyncFutures(self.transport, await self.transport.post(f"/replays/{number}/futures", body))
        return await simulated.wait(timeout) if wait else simulated

    async def review(
        self,
        replay: int | AsyncReplay,
        *,
        decisions: int = 60,
        every: int | None = None,
        horizon: int = 200,
        wait: bool = True,
        timeout: float | None = None,
    ) -> AsyncReview:
        """Find the decisions of a replay at which its agent lost. An earlier review of the replay is continued."""
        number = replay if isinstance(replay, int) else replay.id
        body = {"decisions": decisions, "every": every, "horizon": horizon}
        review = AsyncReview(self.transport, await self.transport.post(f"/replays/{number}/reviews", body))
        return await review.wait(timeout) if wait else review

    async def checkpoint(self, alias: str) -> AsyncCheckpoint:
        """Return the checkpoint that an alias such as pong/champion names."""
        current = await find_alias(self.transport, alias)
        if current is None or current.run_id is None:
            raise NotFoundError(404, f"There is no alias named {alias!r}. `arcadia alias list` shows all.")
        return await (await self.run(current.run_id)).checkpoint(alias)


def _chosen(executor: str | None) -> dict[str, str]:
    """Return the executor as a field. Servers without schedulers do not know the field."""
    return {} if executor is None else {"executor": executor}


def _configuration(
    preset: str | None, seed: int | None, config: Mapping[str, Any] | None, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the part of a request that describes the configuration of a run."""
    overrides = changes if seed is None else {**changes, "seed": seed}
    return {"preset": preset, "config": None if config is None else dict(config), "overrides": overrides or None}
