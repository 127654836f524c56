# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""The client of one Arcadia server."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx

from arcadia._sync.artifacts import Artifact, ArtifactVersion, Checkpoint, find_version
from arcadia._sync.downloads import export_archive, import_agent, import_archive
from arcadia._sync.jobs import Futures, Replay
from arcadia._sync.references import find_alias, find_run, find_run_ids, find_runs
from arcadia._sync.runs import Run
from arcadia._sync.studies import AlertChannel, Project, Report, Study, find_project
from arcadia._sync.transport import Transport
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


class Client:
    """A client of one server. Close it, or use it as a context manager."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        agent: str | None = None,
    ) -> None:
        """Open a client. `agent` replaces its User-Agent header."""
        self.url = resolve_url(url)
        self.transport = Transport(self.url, resolve_token(self.url, token), transport, agent)

    def launch(
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
    ) -> Run:
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
        return Run(self, self.transport.post("/runs", body))

    def forecast(
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
        return RunForecast(self.transport.post("/runs/preview", body))

    def run(self, reference: RunReference) -> Run:
        """Return the run with a number or a unique name, or the newest one: `@last`."""
        return Run(self, find_run(self.transport, reference))

    def runs(
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
    ) -> list[Run]:
        """List the runs of references such as "7-12", or all runs that match the filters, newest first.

        `filter` is an expression such as "learning_rate < 1e-3 and best_return > 15". `compute` names expressions, and
        each run has their values in `computed`.

        A list leaves out details such as the configuration. `include=["config"]` fetches it with the list, and
        `refresh()` of a run reads all of its details.
        """
        if references:
            return [Run(self, data) for data in find_runs(self.transport, references, include)]
        found = self.transport.pages(
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
        return [Run(self, data) for data in found]

    def group_runs(
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
        found = self.transport.get(
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

    def presets(self) -> list[Preset]:
        """List the presets that runs and studies start from."""
        return [Preset(data) for data in self.transport.get("/presets")]

    def compare(
        self,
        *runs: RunReferences,
        group_by: str | Sequence[str] = (),
        at: int | None = None,
    ) -> Comparison:
        """Compare groups of runs at a step. By default, runs that differ only in their seed are one group."""
        ids = joined_ids(find_run_ids(self.transport, runs))
        fields = group_by if isinstance(group_by, str) else ",".join(group_by)
        compared = self.transport.get("/compare", runs=ids, group_by=fields)
        judged = self.transport.get("/compare/verdict", runs=ids, group_by=fields, at=at)
        return Comparison(compared, judged)

    def figure(self, name: str = "curves", runs: RunReferences = (), **options: Any) -> Figure:
        """Return a figure of some runs. Options are those of the API, such as metric, group_by and smoothing."""
        ids = joined_ids(find_run_ids(self.transport, [runs]))
        try:
            return Figure(name, self.transport.get(f"/figures/{quote(name, safe='')}", runs=ids or None, **options))
        except NotFoundError:
            known = [each["name"] for each in self.transport.get("/figures")]
            if name in known:
                raise
            raise NotFoundError.of_name("figure", name, known) from None

    def export_archive(
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
        run_ids = find_run_ids(self.transport, runs) if runs else []
        items = ExportedItems(run_ids, studies, reports)
        return export_archive(self.transport, items, path, files=files, progress=progress)

    def import_archive(
        self, path: str | os.PathLike[str], *, project: str | None = None, progress: bool = True
    ) -> ImportResult:
        """Import an archive file. What the server already has is not imported again.

        Without a project, everything goes to the projects that the archive names.
        """
        return import_archive(self.transport, path, project=project, progress=progress)

    def import_agent(
        self,
        path: str | os.PathLike[str],
        *,
        env: str | None = None,
        name: str | None = None,
        project: str | None = None,
        progress: bool = True,
    ) -> Run:
        """Import an agent file as a run with one checkpoint, and return the run.

        An agent that was imported before is not imported again. A model of Stable-Baselines3 needs the name of its
        environment, such as `env="pong"`.
        """
        result = import_agent(self.transport, path, env=env, name=name, project=project, progress=progress)
        return self.run(result["run_id"])

    def futures(
        self,
        replay: int | Replay,
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
    ) -> Futures:
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
        simulated = Futures(self, self.transport.post(f"/replays/{number}/futures", body))
        return simulated.wait(timeout) if wait else simulated

    def aliases(self) -> list[Alias]:
        """List the aliases of checkpoints by name."""
        return [Alias(data) for data in self.transport.get("/aliases")]

    def alias_history(self, name: str) -> list[Alias]:
        """Return the history of an alias, newest first."""
        return [Alias(data) for data in self.transport.get("/aliases/history", name=name)]

    def set_alias(self, name: str, checkpoint: Checkpoint, *, why: str = "", who: str | None = None) -> Alias:
        """Point an alias such as pong/champion to a checkpoint."""
        body = {"name": name, "checkpoint_id": checkpoint.id, "why": why, "who": who}
        return Alias((self.transport.call("PUT", "/aliases", body=body))[0])

    def remove_alias(self, name: str, *, why: str = "", who: str | None = None) -> None:
        """Remove an alias. Its history and its checkpoint stay."""
        params = {"name": name, "why": why, "who": who}
        given = {key: value for key, value in params.items() if value}
        self.transport.call("DELETE", "/aliases", params=given)

    def checkpoint(self, alias: str) -> Checkpoint:
        """Return the checkpoint that an alias such as pong/champion names."""
        found = find_alias(self.transport, alias)
        if found is None or found.run_id is None:
            raise NotFoundError(404, f"There is no alias named {alias!r}. `arcadia alias list` shows all.")
        return (self.run(found.run_id)).checkpoint(alias)

    def artifacts(
        self,
        *,
        project: str | Sequence[str] | None = None,
        kind: str | None = None,
        search: str | None = None,
        limit: int | None = None,
    ) -> list[Artifact]:
        """List the artifacts with their newest versions, the last changed first."""
        found = self.transport.pages(
            "/artifacts", limit=limit, cursor_name="before", project=project, kind=kind, search=search
        )
        return [Artifact(self, data) for data in found]

    def artifact(self, reference: str, *, project: str | None = None) -> ArtifactVersion:
        """Return the version that a reference names: "model", "model:best", "model:v3" or "Maze/model:best".

        Without an alias it is the newest version. The default project is ARCADIA_PROJECT, or Main.
        """
        return ArtifactVersion(self, find_version(self.transport, reference, resolve_project(project)))

    def start_sets(self, env: str | None = None) -> list[StartSet]:
        """List the start sets, of one environment such as ALE/Pong-v5 or of all."""
        return [StartSet(data) for data in self.transport.get("/start-sets", env=env)]

    def projects(self) -> list[Project]:
        """List the projects without their texts. Main comes first."""
        return [Project(self, data) for data in self.transport.get("/projects")]

    def project(self, name: str) -> Project:
        """Return the project with a name, in upper or lower case."""
        return Project(self, find_project(self.transport, name))

    def create_project(self, name: str, text: str = "") -> Project:
        """Create a project."""
        return Project(self, self.transport.post("/projects", {"name": name, "text": text}))

    def views(self, *, project: str | None = None) -> list[SavedView]:
        """List the saved views of the runs page, of one project or of all, by name."""
        return [SavedView(data) for data in self.transport.get("/views", project=project)]

    def view(self, reference: int | str, *, project: str | None = None) -> SavedView:
        """Return the saved view with a number or a name, in upper or lower case. Several projects may have the name."""
        views = {view.id: view for view in self.views(project=project)}
        named = [view.id for view in views.values() if view.name.casefold() == str(reference).casefold()]
        is_number = str(reference).isdecimal() and int(reference) in views
        return views[int(reference) if is_number else require_one_match(named, str(reference), "view")]

    def study(self, reference: int | str) -> Study:
        """Return the study with a number or a unique name."""
        study_id = reference
        if isinstance(study_id, str):
            named = [study.id for study in self.studies() if study.name == study_id]
            study_id = require_one_match(named, study_id, "study")
        return Study(self, self.transport.get(f"/studies/{study_id}"))

    def studies(self, limit: int | None = None, *, project: str | None = None) -> list[Study]:
        """List the studies without their points, newest first."""
        found = self.transport.pages("/studies", limit=limit, page_size=200, cursor_name="before", project=project)
        return [Study(self, data) for data in found]

    def launch_study(
        self,
        name: str,
        *,
        preset: str | None = None,
        axes: Axes = (),
        seeds: int | str | Sequence[int] = 3,
        confirm: bool = False,
        project: str | None = None,
        **fields: Any,
    ) -> Study:
        """Start a study: a run for each combination of the axes' values and each seed.

        With `until="certain"` it adds seeds, up to `max_seeds` per point, until a test decides which point is best.
        A large study raises InvalidRequestError with its cost unless `confirm` is true. The default project is
        ARCADIA_PROJECT, or Main.
        """
        body = build_specification(name, axes, {"preset": preset, "seeds": seeds, **fields})
        return self._start_study(body, confirm=confirm, project=project)

    def _start_study(self, body: dict[str, Any], *, confirm: bool, project: str | None) -> Study:
        if confirm:
            body["confirm_steps"] = (self.transport.post("/studies/preview", body))["steps"]
        body["project"] = resolve_project(project)
        return Study(self, self.transport.post("/studies", body))

    def preview_study(
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
        return StudyPreview(self.transport.post("/studies/preview", body))

    def suites(self) -> list[GameList]:
        """List the lists of games that suites can run over."""
        return [GameList(row) for row in self.transport.get("/suites")]

    def launch_suite(
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
    ) -> Study:
        """Start a study over the games of a list, such as atari-5, or over these environments.

        Each run is evaluated at its end. `study.aggregates()` returns the statistics over the games. `confirm` and
        `project` are as in `launch_study`.
        """
        body = self.plan_suite(games, preset=preset, seeds=seeds, total_steps=total_steps, protocol=protocol, name=name)
        return self._start_study(body, confirm=confirm, project=project)

    def plan_suite(
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
        planned = self.transport.post("/suites/specification", {"games": chosen, "seeds": seeds, **body})
        return dict(planned)

    def report(self, report_id: int) -> Report:
        """Return a report."""
        return Report(self, self.transport.get(f"/reports/{report_id}"))

    def reports(self, *, project: str | None = None) -> list[Report]:
        """List the reports without their blocks."""
        return [Report(self, data) for data in self.transport.get("/reports", project=project)]

    def create_report(
        self, title: str, blocks: Sequence[Mapping[str, Any]] = (), *, project: str | None = None
    ) -> Report:
        """Create a report. The default project is ARCADIA_PROJECT, or Main."""
        listed = [dict(block) for block in blocks]
        body = {"title": title, "blocks": listed, "project": resolve_project(project)}
        return Report(self, self.transport.post("/reports", body))

    def alerts(
        self,
        *,
        unread: bool = False,
        kind: str | Sequence[str] | None = None,
        run: int | None = None,
        limit: int | None = 50,
    ) -> list[Alert]:
        """List alerts, newest first."""
        found = self.transport.pages(
            "/alerts", limit=limit, page_size=200, cursor_name="before", unread=unread or None, kind=kind, run=run
        )
        return [Alert(data) for data in found]

    def mark_alerts_read(self, *alerts: int, up_to: int | None = None) -> int:
        """Mark alerts as read, or all up to one. Return how many unread ones remain."""
        body = {"ids": list(alerts), "up_to": up_to}
        return int((self.transport.post("/alerts/read", body))["unread"])

    def alert_channels(self) -> list[AlertChannel]:
        """List the channels that deliver alerts to other programs."""
        return [AlertChannel(self, data) for data in self.transport.get("/alert-channels")]

    def add_webhook(self, name: str, url: str, *, kinds: Sequence[str] | None = None) -> AlertChannel:
        """Add an address that gets alerts as signed POST requests. Keep the `secret` of the returned channel."""
        return self._add_channel("webhook", name, url, kinds)

    def add_apprise(self, name: str, url: str, *, kinds: Sequence[str] | None = None) -> AlertChannel:
        """Add an Apprise URL, such as one of Slack or of a mail account."""
        return self._add_channel("apprise", name, url, kinds)

    def _add_channel(self, kind: str, name: str, url: str, kinds: Sequence[str] | None) -> AlertChannel:
        body = {"kind": kind, "name": name, "url": url, "kinds": None if kinds is None else list(kinds)}
        return AlertChannel(self, self.transport.post("/alert-channels", body))

    def alert_deliveries(self, *, channel: int | None = None, limit: int | None = 50) -> list[AlertDelivery]:
        """List the deliveries of alerts, newest first."""
        found = self.transport.pages(
            "/alert-deliveries", limit=limit, page_size=200, cursor_name="before", channel=channel
        )
        return [AlertDelivery(data) for data in found]

    def redeliver_alert(self, delivery_id: int) -> AlertDelivery:
        """Send an alert to its channel again."""
        return AlertDelivery(self.transport.post(f"/alert-deliveries/{delivery_id}/redeliver"))

    def workers(self) -> list[Worker]:
        """List the workers."""
        return [Worker(data) for data in self.transport.get("/workers")]

    def health(self) -> Health:
        """Return the health of the server."""
        return Health(self.transport.get("/health"))

    def close(self) -> None:
        """Close the connections."""
        self.transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self.url}>"


def _configuration(
    preset: str | None, seed: int | None, config: Mapping[str, Any] | None, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the part of a request that describes the configuration of a run."""
    overrides = changes if seed is None else {**changes, "seed": seed}
    return {"preset": preset, "config": None if config is None else dict(config), "overrides": overrides or None}
