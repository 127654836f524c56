"""Studies, projects, reports and channels of alerts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arcadia._async.downloads import export_archive
from arcadia._async.jobs import AsyncResource
from arcadia._async.references import find_run_ids
from arcadia._async.runs import AsyncRun
from arcadia._async.transport import AsyncTransport
from arcadia.errors import NotFoundError
from arcadia.figures import Figure
from arcadia.names import RunReferences
from arcadia.records.artifact import ExportedItems, FilesChoice
from arcadia.records.server import MovedItems, ProjectRecord
from arcadia.records.study import StudyPoint, StudyRecord, SuiteResult

if TYPE_CHECKING:
    from arcadia._async.client import AsyncClient
    from arcadia._async.runs import AsyncRun
from arcadia.records.server import ReportRecord

if TYPE_CHECKING:
    from arcadia._async.client import AsyncClient
from arcadia.records.server import AlertChannelRecord, AlertDelivery


class AsyncStudy(AsyncResource, StudyRecord):
    """A study. Its properties show the state of the last response; `refresh()` reads it again."""

    @property
    def url(self) -> str:
        """Address of the study's page."""
        return f"{self._client.url}/studies/{self.id}"

    async def points(self) -> list[StudyPoint]:
        """Return the points with their runs and mean returns."""
        return [StudyPoint(row) for row in (await self.refresh()).data["table"]]

    async def aggregates(self) -> list[SuiteResult]:
        """Return the statistics over the games of a study that varies the game, one result per other setting."""
        found = await self._client.transport.get(f"{self._path}/aggregates")
        return [SuiteResult(row) for row in found["results"]]

    async def runs(self) -> list[AsyncRun]:
        """List the runs that exist, oldest first."""
        return await self._client.runs(study=self.id, sort="created_at", include=["config"])

    async def pause(self) -> AsyncStudy:
        """Pause the study with its queued and active runs."""
        return await self._act("pause")

    async def resume(self) -> AsyncStudy:
        """Resume the study with its paused runs."""
        return await self._act("resume")

    async def stop(self) -> AsyncStudy:
        """Stop the study with all runs that have not ended."""
        return await self._act("stop")

    async def extend(
        self,
        *,
        seeds: int | None = None,
        best: int | None = None,
        of: Sequence[int] | None = None,
        points: int | None = None,
    ) -> AsyncStudy:
        """Add seeds or random points. Limit the seeds to the `best` N points, or to the point numbers in `of`."""
        given = {"seeds": seeds, "best": best, "of": None if of is None else list(of), "points": points}
        body = {field: value for field, value in given.items() if value is not None}
        self.data = await self._client.transport.post(f"{self._path}/extend", body)
        return self

    async def edit(
        self, *, name: str | None = None, question: str | None = None, project: str | None = None
    ) -> AsyncStudy:
        """Change the name or the question, or move the study with its runs to another project."""
        given = {"name": name, "question": question, "project": project}
        body = {field: value for field, value in given.items() if value is not None}
        self.data = await self._client.transport.patch(self._path, body)
        return self

    async def export(
        self, path: str | os.PathLike[str] | None = None, *, files: FilesChoice = "all", progress: bool = True
    ) -> Path:
        """Save the study and its runs as an archive file, and return its path. Default: study-3.arcadia."""
        items = ExportedItems(studies=[self.id])
        return await export_archive(self._client.transport, items, path, files=files, progress=progress)

    async def delete(self) -> None:
        """Delete the study, which must not be running. Its runs are kept."""
        await self._client.transport.delete(self._path)

    async def figure(self, kind: Literal["scatter", "parallel", "importance"] = "scatter", axis: int = 0) -> Figure:
        """Return the results as a figure. A scatter figure shows one axis."""
        return Figure(kind, await self._client.transport.get(f"{self._path}/figure", kind=kind, axis=axis))

    @property
    def _path(self) -> str:
        return f"/studies/{self.id}"

    @property
    def _title(self) -> str:
        return f"Study {self.id}"

    @property
    def _is_pending(self) -> bool:
        return self.state == "running"

    @property
    def _share(self) -> float:
        return self.progress

    async def _act(self, action: str) -> AsyncStudy:
        self.data = await self._client.transport.post(f"{self._path}/{action}")
        return self


# Most runs in one request.
MAX_MOVED = 1_000


class AsyncProject(ProjectRecord):
    """A project. Its properties show the state of the last response; `refresh()` reads it again."""

    def __init__(self, client: AsyncClient, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    async def refresh(self) -> AsyncProject:
        """Read the project with its text and its best agents."""
        self.data = await self._client.transport.get(self._path)
        return self

    async def runs(self, **filters: Any) -> list[AsyncRun]:
        """List the runs. Filters are those of `client.runs()`."""
        return await self._client.runs(project=self.name, **filters)

    async def studies(self, limit: int | None = None) -> list[AsyncStudy]:
        """List the studies, newest first."""
        return await self._client.studies(limit, project=self.name)

    async def reports(self) -> list[AsyncReport]:
        """List the reports."""
        return await self._client.reports(project=self.name)

    async def edit(self, *, name: str | None = None, text: str | None = None) -> AsyncProject:
        """Rename the project, or change the text of its page."""
        given = {"name": name, "text": text}
        body = {field: value for field, value in given.items() if value is not None}
        self.data = await self._client.transport.patch(self._path, body)
        return self

    async def pin_report(self, report_id: int | None) -> AsyncProject:
        """Show a report on the project's page, or none."""
        self.data = await self._client.transport.patch(self._path, {"pinned_report_id": report_id})
        return self

    async def move(self, *runs: RunReferences, studies: Sequence[int] = (), reports: Sequence[int] = ()) -> MovedItems:
        """Move runs, studies and reports into this project. A study brings its runs."""
        run_ids = await find_run_ids(self._client.transport, runs) if runs else []
        body = {"runs": run_ids[:MAX_MOVED], "studies": list(studies), "reports": list(reports)}
        moved = await self._client.transport.post(f"{self._path}/items", body)
        for start in range(MAX_MOVED, len(run_ids), MAX_MOVED):
            body = {"runs": run_ids[start : start + MAX_MOVED]}
            moved["runs"] += (await self._client.transport.post(f"{self._path}/items", body))["runs"]
        return MovedItems(moved)

    async def merge(self, into: str) -> AsyncProject:
        """Move everything into another project, delete this one, and return the other one."""
        return AsyncProject(self._client, await self._client.transport.post(f"{self._path}/merge", {"into": into}))

    async def delete(self) -> None:
        """Delete the project, which must be empty."""
        await self._client.transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/projects/{self.id}"


async def find_project(transport: AsyncTransport, name: str) -> dict[str, Any]:
    """Return the project with a name, in upper or lower case."""
    listed = await transport.get("/projects")
    for each in listed:
        if each["name"].casefold() == name.strip().casefold():
            found: dict[str, Any] = await transport.get(f"/projects/{each['id']}")
            return found
    raise NotFoundError.of_name("project", name, (each["name"] for each in listed))


class AsyncReport(ReportRecord):
    """A report."""

    def __init__(self, client: AsyncClient, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    @property
    def url(self) -> str:
        """Address of the report's page."""
        return f"{self._client.url}/reports/{self.id}"

    @property
    def shared_url(self) -> str | None:
        """Address of the read-only page. None unless the report is shared."""
        return f"{self._client.url}/shared/reports/{self.share_token}" if self.share_token else None

    async def refresh(self) -> AsyncReport:
        """Read the report again."""
        self.data = await self._client.transport.get(self._path)
        return self

    async def edit(
        self,
        *,
        title: str | None = None,
        blocks: Sequence[Mapping[str, Any]] | None = None,
        project: str | None = None,
    ) -> AsyncReport:
        """Change the title, all blocks or the project. Raise ConflictError if the report has changed since."""
        if "version" not in self.data:
            await self.refresh()
        body: dict[str, Any] = {"version": self.data["version"]}
        if title is not None:
            body["title"] = title
        if project is not None:
            body["project"] = project
        if blocks is not None:
            body["blocks"] = [dict(block) for block in blocks]
        self.data = await self._client.transport.patch(self._path, body)
        return self

    async def share(self) -> AsyncReport:
        """Create the read-only link, `shared_url`."""
        self.data = await self._client.transport.post(f"{self._path}/share")
        return self

    async def unshare(self) -> AsyncReport:
        """End the read-only link."""
        self.data = await self._client.transport.call("DELETE", f"{self._path}/share")
        return self

    async def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as one HTML file, and return its path."""
        target = Path(path)
        response = await self._client.transport.send("GET", f"{self._path}/export")
        partial = target.with_name(f".{target.name}.part")
        partial.write_bytes(response.content)
        partial.replace(target)
        return target

    async def export(
        self, path: str | os.PathLike[str] | None = None, *, files: FilesChoice = "all", progress: bool = True
    ) -> Path:
        """Save the report and what it shows as an archive file, and return its path. Default: report-2.arcadia."""
        items = ExportedItems(reports=[self.id])
        return await export_archive(self._client.transport, items, path, files=files, progress=progress)

    async def delete(self) -> None:
        """Permanently delete the report."""
        await self._client.transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/reports/{self.id}"


class AsyncAlertChannel(AlertChannelRecord):
    """A channel, which delivers alerts to another program."""

    def __init__(self, client: AsyncClient, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    async def edit(
        self, *, name: str | None = None, enabled: bool | None = None, kinds: Sequence[str] | None = None
    ) -> AsyncAlertChannel:
        """Rename the channel, switch it on or off, or choose the kinds of alerts that it delivers."""
        changes = {"name": name, "enabled": enabled, "kinds": None if kinds is None else list(kinds)}
        body = {field: value for field, value in changes.items() if value is not None}
        self.data = await self._client.transport.patch(self._path, body)
        return self

    async def test(self) -> AlertDelivery:
        """Send a test alert. `deliveries` shows its outcome."""
        return AlertDelivery(await self._client.transport.post(f"{self._path}/test"))

    async def deliveries(self, limit: int | None = 50) -> list[AlertDelivery]:
        """List the deliveries to this channel, newest first."""
        return await self._client.alert_deliveries(channel=self.id, limit=limit)

    async def remove(self) -> None:
        """Remove the channel with its history."""
        await self._client.transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/alert-channels/{self.id}"
