"""The client of one Arcadia server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

import httpx

from arcadia._async.accounts import AsyncAccountRequests
from arcadia._async.artifacts import AsyncArtifactRequests
from arcadia._async.downloads import export_archive, import_agent, import_archive
from arcadia._async.projects import AsyncAlertRequests, AsyncProjectRequests
from arcadia._async.references import find_run_ids
from arcadia._async.run_requests import AsyncRunRequests
from arcadia._async.runs import AsyncRun
from arcadia._async.studies import AsyncStudyRequests
from arcadia._async.transport import AsyncTransport
from arcadia.names import RunReferences
from arcadia.records.artifact import ExportedItems, FilesChoice, ImportResult
from arcadia.records.job import StartSet
from arcadia.records.server import Cap, ExecutorChoice, Health, Preset, StartCalibration, UsageRow, Worker
from arcadia.settings import resolve_token, resolve_url


class AsyncClient(
    AsyncRunRequests,
    AsyncStudyRequests,
    AsyncProjectRequests,
    AsyncAlertRequests,
    AsyncArtifactRequests,
    AsyncAccountRequests,
):
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
        super().__init__(AsyncTransport(self.url, resolve_token(self.url, token), transport, agent))

    async def presets(self) -> list[Preset]:
        """List the presets that runs and studies start from."""
        return [Preset(data) for data in await self.transport.get("/presets")]

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

    async def start_sets(self, env: str | None = None) -> list[StartSet]:
        """List the start sets, of one environment such as ALE/Pong-v5 or of all."""
        return [StartSet(data) for data in await self.transport.get("/start-sets", env=env)]

    async def usage(
        self,
        *by: str,
        since: str | None = None,
        until: str | None = None,
        project: str | None = None,
        person: int | None = None,
        study: int | None = None,
    ) -> list[UsageRow]:
        """Return core and GPU hours by month, project, person, study and kind; default: by month and project.

        `since` and `until` are times with a zone, such as 2026-12-01T00:00:00Z.
        """
        groups = list(by or ("month", "project"))
        filters = {"from": since, "to": until, "project": project, "person": person, "study": study}
        found = await self.transport.get("/usage", by=groups, **filters)
        return [UsageRow(data) for data in found["rows"]]

    async def caps(self) -> list[Cap]:
        """List your caps and those of your projects, with what was used this month. Administrators see all."""
        return [Cap(data) for data in await self.transport.get("/caps")]

    async def set_cap(
        self,
        *,
        project: str | None = None,
        person: int | None = None,
        max_runs: int | None = None,
        core_hours: float | None = None,
        gpu_hours: float | None = None,
    ) -> list[Cap]:
        """Set the caps of a project or of the person with an id. None is no limit.

        They limit the runs that train at once, and the hours in a month.
        """
        if (project is None) == (person is None):
            raise ValueError("give either a project or a person")
        owner = f"people/{person}" if project is None else f"projects/{(await self.project(project)).id}"
        limits = {"max_runs": max_runs, "core_hours": core_hours, "gpu_hours": gpu_hours}
        return [Cap(data) for data in await self.transport.call("PUT", f"/caps/{owner}", body=limits)]

    async def start_forecasts(self, days: int = 30) -> StartCalibration:
        """Return how often waiting runs started by the time that was forecast, in the last days."""
        return StartCalibration(await self.transport.get("/start-forecasts", days=days))

    async def workers(self) -> list[Worker]:
        """List the workers."""
        return [Worker(data) for data in await self.transport.get("/workers")]

    async def edit_worker(
        self,
        name: str,
        desired: str | None = None,
        *,
        labels: Sequence[str] | None = None,
        host_name: str | None = None,
    ) -> Worker:
        """Let a worker work, pause after its work, or drain, which puts its work back in the queue.

        `labels` replaces those of its host, and `host_name` the name of its host on pages.
        """
        body = {"desired": desired, "labels": None if labels is None else list(labels), "host_name": host_name}
        return Worker(await self.transport.call("PATCH", f"/workers/{quote(name)}", body=body))

    async def remove_worker(self, name: str) -> None:
        """Remove a worker that is gone from the list. It is listed again if it returns."""
        await self.transport.call("DELETE", f"/workers/{quote(name)}")

    async def executors(self) -> list[ExecutorChoice]:
        """List where runs can train: on workers, and on each scheduler that is set up."""
        return [ExecutorChoice(data) for data in await self.transport.get("/executors")]

    async def set_default_executor(self, name: str) -> list[ExecutorChoice]:
        """Choose where runs train if neither they nor their project choose a place."""
        choices = await self.transport.call("PUT", "/executors/default", body={"executor": name})
        return [ExecutorChoice(data) for data in choices]

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
