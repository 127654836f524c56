"""The client of one Arcadia server."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx

from arcadia._async.artifacts import AsyncArtifact, AsyncArtifactVersion, AsyncCheckpoint, find_version
from arcadia._async.downloads import export_archive, import_agent, import_archive
from arcadia._async.jobs import AsyncFutures, AsyncReplay
from arcadia._async.references import find_alias, find_run, find_run_ids, find_runs
from arcadia._async.runs import AsyncRun
from arcadia._async.studies import AsyncAlertChannel, AsyncProject, AsyncReport, AsyncStudy, find_project
from arcadia._async.transport import AsyncTransport
from arcadia.errors import NotFoundError
from arcadia.figures import Figure
from arcadia.names import RunReference, RunReferences, joined_ids, read_run_page, require_one_match
from arcadia.records.artifact import Alias, ExportedItems, FilesChoice, ImportResult
from arcadia.records.job import StartSet
from arcadia.records.run import RunForecast, RunGroup
from arcadia.records.server import Alert, AlertDelivery, Health, Preset, SavedView, Worker
from arcadia.records.study import Axes, GameList, StudyPreview, build_specification
from arcadia.settings import resolve_project, resolve_token, resolve_url
from arcadia.tables import Comparison


class AsyncClient:
    """A client of one server. Close it, or use it as a context manager."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        agent: str | None = None,
    ) -> None:
        """Open a client. `agent` replaces its User-Agent header."""
        self.url = resolve_url(url)
        self.transport = AsyncTransport(self.url, resolve_token(self.url, token), transport, agent)

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
        project: str | None = None,
        **changes: Any,
    ) -> AsyncRun:
        """Queue a run of a preset with some fields changed, or of a complete configuration.

        The default project is ARCADIA_PROJECT, or Main.
        """
        body = {
            **_configuration(preset, seed, config, changes),
            "name": name,
            "tags": list(tags),
            "notes": notes,
            "priority": priority,
            "queue": queue,
            "project": resolve_project(project),
        }
        return AsyncRun(self, await self.transport.post("/runs", body))

    async def forecast(
        self,
        preset: str | None = None,
        *,
        seed: int | None = None,
        config: Mapping[str, Any] | None = None,
        priority: int = 0,
        queue: str | None = None,
        **changes: Any,
    ) -> RunForecast:
        """Forecast what a run would need, and when it could start, without launching it."""
        body = {**_configuration(preset, seed, config, changes), "priority": priority, "queue": queue}
        return RunForecast(await self.transport.post("/runs/preview", body))

    async def run(self, reference: RunReference) -> AsyncRun:
        """Return the run with a number or a unique name, or the newest one: `@last`."""
        return AsyncRun(self, await find_run(self.transport, reference))

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
            return [AsyncRun(self, data) for data in await find_runs(self.transport, references, include)]
        found = await self.transport.pages(
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
        return [AsyncRun(self, data) for data in found]

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
        found = await self.transport.get(
            "/run-groups",
            by=by if isinstance(by, str) else ",".join(by),
            filter=filter,
            value=list(values),
            project=project,
            archived=archived or None,
            sort=sort,
            limit=limit,
        )
        return [RunGroup(data) for data in found["items"]]

    async def presets(self) -> list[Preset]:
        """List the presets that runs and studies start from."""
        return [Preset(data) for data in await self.transport.get("/presets")]

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
        ids = joined_ids(await find_run_ids(self.transport, [runs]))
        try:
            return Figure(
                name, await self.transport.get(f"/figures/{quote(name, safe='')}", runs=ids or None, **options)
            )
        except NotFoundError:
            known = [each["name"] for each in await self.transport.get("/figures")]
            if name in known:
                raise
            raise NotFoundError.of_name("figure", name, known) from None

    async def export_archive(
        self,
        *runs: RunReferences,
        studies: Sequence[int] = (),
        reports: Sequence[int] = (),
        path: str | os.PathLike[str] | None = None,
        files: FilesChoice = "all",
        progress: bool = True,
    ) -> Path:
        """Save runs, studies and reports with all their data as one archive file, and return its path.

        A study brings its runs, and a report the runs and studies that it shows. `files="best"` leaves out checkpoints
        except the best and the newest of each run.
        """
        run_ids = await find_run_ids(self.transport, runs) if runs else []
        items = ExportedItems(run_ids, studies, reports)
        return await export_archive(self.transport, items, path, files=files, progress=progress)

    async def import_archive(
        self, path: str | os.PathLike[str], *, project: str | None = None, progress: bool = True
    ) -> ImportResult:
        """Import an archive file. What the server already has is not imported again.

        Without a project, everything goes to the projects that the archive names.
        """
        return await import_archive(self.transport, path, project=project, progress=progress)

    async def import_agent(
        self,
        path: str | os.PathLike[str],
        *,
        env: str | None = None,
        name: str | None = None,
        project: str | None = None,
        progress: bool = True,
    ) -> AsyncRun:
        """Import an agent file as a run with one checkpoint, and return the run.

        An agent that was imported before is not imported again. A model of Stable-Baselines3 needs the name of its
        environment, such as `env="pong"`.
        """
        result = await import_agent(self.transport, path, env=env, name=name, project=project, progress=progress)
        return await self.run(result["run_id"])

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
        simulated = AsyncFutures(self, await self.transport.post(f"/replays/{number}/futures", body))
        return await simulated.wait(timeout) if wait else simulated

    async def aliases(self) -> list[Alias]:
        """List the aliases of checkpoints by name."""
        return [Alias(data) for data in await self.transport.get("/aliases")]

    async def alias_history(self, name: str) -> list[Alias]:
        """Return the history of an alias, newest first."""
        return [Alias(data) for data in await self.transport.get("/aliases/history", name=name)]

    async def set_alias(
        self, name: str, checkpoint: AsyncCheckpoint, *, why: str = "", who: str | None = None
    ) -> Alias:
        """Point an alias such as pong/champion to a checkpoint."""
        body = {"name": name, "checkpoint_id": checkpoint.id, "why": why, "who": who}
        return Alias((await self.transport.call("PUT", "/aliases", body=body))[0])

    async def remove_alias(self, name: str, *, why: str = "", who: str | None = None) -> None:
        """Remove an alias. Its history and its checkpoint stay."""
        params = {"name": name, "why": why, "who": who}
        given = {key: value for key, value in params.items() if value}
        await self.transport.call("DELETE", "/aliases", params=given)

    async def checkpoint(self, alias: str) -> AsyncCheckpoint:
        """Return the checkpoint that an alias such as pong/champion names."""
        found = await find_alias(self.transport, alias)
        if found is None or found.run_id is None:
            raise NotFoundError(404, f"There is no alias named {alias!r}. `arcadia alias list` shows all.")
        return await (await self.run(found.run_id)).checkpoint(alias)

    async def artifacts(
        self,
        *,
        project: str | Sequence[str] | None = None,
        kind: str | None = None,
        search: str | None = None,
        limit: int | None = None,
    ) -> list[AsyncArtifact]:
        """List the artifacts with their newest versions, the last changed first."""
        found = await self.transport.pages(
            "/artifacts", limit=limit, cursor_name="before", project=project, kind=kind, search=search
        )
        return [AsyncArtifact(self, data) for data in found]

    async def artifact(self, reference: str, *, project: str | None = None) -> AsyncArtifactVersion:
        """Return the version that a reference names: "model", "model:best", "model:v3" or "Maze/model:best".

        Without an alias it is the newest version. The default project is ARCADIA_PROJECT, or Main.
        """
        return AsyncArtifactVersion(self, await find_version(self.transport, reference, resolve_project(project)))

    async def start_sets(self, env: str | None = None) -> list[StartSet]:
        """List the start sets, of one environment such as ALE/Pong-v5 or of all."""
        return [StartSet(data) for data in await self.transport.get("/start-sets", env=env)]

    async def projects(self) -> list[AsyncProject]:
        """List the projects without their texts. Main comes first."""
        return [AsyncProject(self, data) for data in await self.transport.get("/projects")]

    async def project(self, name: str) -> AsyncProject:
        """Return the project with a name, in upper or lower case."""
        return AsyncProject(self, await find_project(self.transport, name))

    async def create_project(self, name: str, text: str = "") -> AsyncProject:
        """Create a project."""
        return AsyncProject(self, await self.transport.post("/projects", {"name": name, "text": text}))

    async def views(self, *, project: str | None = None) -> list[SavedView]:
        """List the saved views of the runs page, of one project or of all, by name."""
        return [SavedView(data) for data in await self.transport.get("/views", project=project)]

    async def view(self, reference: int | str, *, project: str | None = None) -> SavedView:
        """Return the saved view with a number or a name, in upper or lower case. Several projects may have the name."""
        views = {view.id: view for view in await self.views(project=project)}
        named = [view.id for view in views.values() if view.name.casefold() == str(reference).casefold()]
        is_number = str(reference).isdecimal() and int(reference) in views
        return views[int(reference) if is_number else require_one_match(named, str(reference), "view")]

    async def study(self, reference: int | str) -> AsyncStudy:
        """Return the study with a number or a unique name."""
        study_id = reference
        if isinstance(study_id, str):
            named = [study.id for study in await self.studies() if study.name == study_id]
            study_id = require_one_match(named, study_id, "study")
        return AsyncStudy(self, await self.transport.get(f"/studies/{study_id}"))

    async def studies(self, limit: int | None = None, *, project: str | None = None) -> list[AsyncStudy]:
        """List the studies without their points, newest first."""
        found = await self.transport.pages(
            "/studies", limit=limit, page_size=200, cursor_name="before", project=project
        )
        return [AsyncStudy(self, data) for data in found]

    async def launch_study(
        self,
        name: str,
        *,
        preset: str | None = None,
        axes: Axes = (),
        seeds: int | str | Sequence[int] = 3,
        confirm: bool = False,
        project: str | None = None,
        **fields: Any,
    ) -> AsyncStudy:
        """Start a study: a run for each combination of the axes' values and each seed.

        With `until="certain"` it adds seeds, up to `max_seeds` per point, until a test decides which point is best.
        A large study raises InvalidRequestError with its cost unless `confirm` is true. The default project is
        ARCADIA_PROJECT, or Main.
        """
        body = build_specification(name, axes, {"preset": preset, "seeds": seeds, **fields})
        return await self._start_study(body, confirm=confirm, project=project)

    async def _start_study(self, body: dict[str, Any], *, confirm: bool, project: str | None) -> AsyncStudy:
        if confirm:
            body["confirm_steps"] = (await self.transport.post("/studies/preview", body))["steps"]
        body["project"] = resolve_project(project)
        return AsyncStudy(self, await self.transport.post("/studies", body))

    async def preview_study(
        self,
        name: str,
        *,
        preset: str | None = None,
        axes: Axes = (),
        seeds: int | str | Sequence[int] = 3,
        **fields: Any,
    ) -> StudyPreview:
        """Return the size and the cost of a study without starting it."""
        body = build_specification(name, axes, {"preset": preset, "seeds": seeds, **fields})
        return StudyPreview(await self.transport.post("/studies/preview", body))

    async def suites(self) -> list[GameList]:
        """List the lists of games that suites can run over."""
        return [GameList(row) for row in await self.transport.get("/suites")]

    async def launch_suite(
        self,
        games: str | Sequence[str],
        *,
        preset: str | None = None,
        seeds: int | str | Sequence[int] = 3,
        total_steps: int | None = None,
        protocol: str | None = None,
        name: str | None = None,
        confirm: bool = False,
        project: str | None = None,
    ) -> AsyncStudy:
        """Start a study over the games of a list, such as atari-5, or over these environments.

        Each run is evaluated at its end. `study.aggregates()` returns the statistics over the games. `confirm` and
        `project` are as in `launch_study`.
        """
        body = await self.plan_suite(
            games, preset=preset, seeds=seeds, total_steps=total_steps, protocol=protocol, name=name
        )
        return await self._start_study(body, confirm=confirm, project=project)

    async def plan_suite(
        self,
        games: str | Sequence[str],
        *,
        preset: str | None = None,
        seeds: int | str | Sequence[int] = 3,
        total_steps: int | None = None,
        protocol: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Return the specification of a suite's study without starting it."""
        given = {"preset": preset, "total_steps": total_steps, "protocol": protocol, "name": name}
        body = {field: value for field, value in given.items() if value is not None}
        chosen = games if isinstance(games, str) else list(games)
        planned = await self.transport.post("/suites/specification", {"games": chosen, "seeds": seeds, **body})
        return dict(planned)

    async def report(self, report_id: int) -> AsyncReport:
        """Return a report."""
        return AsyncReport(self, await self.transport.get(f"/reports/{report_id}"))

    async def reports(self, *, project: str | None = None) -> list[AsyncReport]:
        """List the reports without their blocks."""
        return [AsyncReport(self, data) for data in await self.transport.get("/reports", project=project)]

    async def create_report(
        self, title: str, blocks: Sequence[Mapping[str, Any]] = (), *, project: str | None = None
    ) -> AsyncReport:
        """Create a report. The default project is ARCADIA_PROJECT, or Main."""
        listed = [dict(block) for block in blocks]
        body = {"title": title, "blocks": listed, "project": resolve_project(project)}
        return AsyncReport(self, await self.transport.post("/reports", body))

    async def alerts(
        self,
        *,
        unread: bool = False,
        kind: str | Sequence[str] | None = None,
        run: int | None = None,
        limit: int | None = 50,
    ) -> list[Alert]:
        """List alerts, newest first."""
        found = await self.transport.pages(
            "/alerts", limit=limit, page_size=200, cursor_name="before", unread=unread or None, kind=kind, run=run
        )
        return [Alert(data) for data in found]

    async def mark_alerts_read(self, *alerts: int, up_to: int | None = None) -> int:
        """Mark alerts as read, or all up to one. Return how many unread ones remain."""
        body = {"ids": list(alerts), "up_to": up_to}
        return int((await self.transport.post("/alerts/read", body))["unread"])

    async def alert_channels(self) -> list[AsyncAlertChannel]:
        """List the channels that deliver alerts to other programs."""
        return [AsyncAlertChannel(self, data) for data in await self.transport.get("/alert-channels")]

    async def add_webhook(self, name: str, url: str, *, kinds: Sequence[str] | None = None) -> AsyncAlertChannel:
        """Add an address that gets alerts as signed POST requests. Keep the `secret` of the returned channel."""
        return await self._add_channel("webhook", name, url, kinds)

    async def add_apprise(self, name: str, url: str, *, kinds: Sequence[str] | None = None) -> AsyncAlertChannel:
        """Add an Apprise URL, such as one of Slack or of a mail account."""
        return await self._add_channel("apprise", name, url, kinds)

    async def _add_channel(self, kind: str, name: str, url: str, kinds: Sequence[str] | None) -> AsyncAlertChannel:
        body = {"kind": kind, "name": name, "url": url, "kinds": None if kinds is None else list(kinds)}
        return AsyncAlertChannel(self, await self.transport.post("/alert-channels", body))

    async def alert_deliveries(self, *, channel: int | None = None, limit: int | None = 50) -> list[AlertDelivery]:
        """List the deliveries of alerts, newest first."""
        found = await self.transport.pages(
            "/alert-deliveries", limit=limit, page_size=200, cursor_name="before", channel=channel
        )
        return [AlertDelivery(data) for data in found]

    async def redeliver_alert(self, delivery_id: int) -> AlertDelivery:
        """Send an alert to its channel again."""
        return AlertDelivery(await self.transport.post(f"/alert-deliveries/{delivery_id}/redeliver"))

    async def workers(self) -> list[Worker]:
        """List the workers."""
        return [Worker(data) for data in await self.transport.get("/workers")]

    async def health(self) -> Health:
        """Return the health of the server."""
        return Health(await self.transport.get("/health"))

    async def aclose(self) -> None:
        """Close the connections."""
        await self.transport.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<Client of {self.url}>"


def _configuration(
    preset: str | None, seed: int | None, config: Mapping[str, Any] | None, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the part of a request that describes the configuration of a run."""
    overrides = changes if seed is None else {**changes, "seed": seed}
    return {"preset": preset, "config": None if config is None else dict(config), "overrides": overrides or None}
