# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Studies, projects, reports and channels of alerts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arcadia._sync.downloads import export_archive
from arcadia._sync.jobs import Resource
from arcadia._sync.references import find_run_ids
from arcadia._sync.runs import Run
from arcadia._sync.transport import Transport
from arcadia.errors import NotFoundError
from arcadia.figures import Figure
from arcadia.names import RunReferences
from arcadia.records.artifact import ExportedItems, FilesChoice
from arcadia.records.server import MovedItems, ProjectRecord
from arcadia.records.study import StudyPoint, StudyRecord, SuiteResult

if TYPE_CHECKING:
    from arcadia._sync.client import Client
    from arcadia._sync.runs import Run
from arcadia.records.server import ReportRecord

if TYPE_CHECKING:
    from arcadia._sync.client import Client
from arcadia.records.server import AlertChannelRecord, AlertDelivery


class Study(Resource, StudyRecord):
    """A study. Its properties show the state of the last response; `refresh()` reads it again."""

    @property
    def url(self) -> str:
        """Address of the study's page."""
        return f"{self._client.url}/studies/{self.id}"

    def points(self) -> list[StudyPoint]:
        """Return the points with their runs and mean returns."""
        return [StudyPoint(row) for row in (self.refresh()).data["table"]]

    def aggregates(self) -> list[SuiteResult]:
        """Return the statistics over the games of a study that varies the game, one result per other setting."""
        found = self._client.transport.get(f"{self._path}/aggregates")
        return [SuiteResult(row) for row in found["results"]]

    def runs(self) -> list[Run]:
        """List the runs that exist, oldest first."""
        return self._client.runs(study=self.id, sort="created_at", include=["config"])

    def pause(self) -> Study:
        """Pause the study with its queued and active runs."""
        return self._act("pause")

    def resume(self) -> Study:
        """Resume the study with its paused runs."""
        return self._act("resume")

    def stop(self) -> Study:
        """Stop the study with all runs that have not ended."""
        return self._act("stop")

    def extend(
        self,
        *,
        seeds: int | None = None,
        best: int | None = None,
        of: Sequence[int] | None = None,
        points: int | None = None,
    ) -> Study:
        """Add seeds or random points. Limit the seeds to the `best` N points, or to the point numbers in `of`."""
        given = {"seeds": seeds, "best": best, "of": None if of is None else list(of), "points": points}
        body = {field: value for field, value in given.items() if value is not None}
        self.data = self._client.transport.post(f"{self._path}/extend", body)
        return self

    def edit(self, *, name: str | None = None, question: str | None = None, project: str | None = None) -> Study:
        """Change the name or the question, or move the study with its runs to another project."""
        given = {"name": name, "question": question, "project": project}
        body = {field: value for field, value in given.items() if value is not None}
        self.data = self._client.transport.patch(self._path, body)
        return self

    def export(
        self, path: str | os.PathLike[str] | None = None, *, files: FilesChoice = "all", progress: bool = True
    ) -> Path:
        """Save the study and its runs as an archive file, and return its path. Default: study-3.arcadia."""
        items = ExportedItems(studies=[self.id])
        return export_archive(self._client.transport, items, path, files=files, progress=progress)

    def delete(self) -> None:
        """Delete the study, which must not be running. Its runs are kept."""
        self._client.transport.delete(self._path)

    def figure(self, kind: Literal["scatter", "parallel", "importance"] = "scatter", axis: int = 0) -> Figure:
        """Return the results as a figure. A scatter figure shows one axis."""
        return Figure(kind, self._client.transport.get(f"{self._path}/figure", kind=kind, axis=axis))

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

    def _act(self, action: str) -> Study:
        self.data = self._client.transport.post(f"{self._path}/{action}")
        return self


# Most runs in one request.
MAX_MOVED = 1_000


class Project(ProjectRecord):
    """A project. Its properties show the state of the last response; `refresh()` reads it again."""

    def __init__(self, client: Client, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    def refresh(self) -> Project:
        """Read the project with its text and its best agents."""
        self.data = self._client.transport.get(self._path)
        return self

    def runs(self, **filters: Any) -> list[Run]:
        """List the runs. Filters are those of `client.runs()`."""
        return self._client.runs(project=self.name, **filters)

    def studies(self, limit: int | None = None) -> list[Study]:
        """List the studies, newest first."""
        return self._client.studies(limit, project=self.name)

    def reports(self) -> list[Report]:
        """List the reports."""
        return self._client.reports(project=self.name)

    def edit(self, *, name: str | None = None, text: str | None = None) -> Project:
        """Rename the project, or change the text of its page."""
        given = {"name": name, "text": text}
        body = {field: value for field, value in given.items() if value is not None}
        self.data = self._client.transport.patch(self._path, body)
        return self

    def pin_report(self, report_id: int | None) -> Project:
        """Show a report on the project's page, or none."""
        self.data = self._client.transport.patch(self._path, {"pinned_report_id": report_id})
        return self

    def move(self, *runs: RunReferences, studies: Sequence[int] = (), reports: Sequence[int] = ()) -> MovedItems:
        """Move runs, studies and reports into this project. A study brings its runs."""
        run_ids = find_run_ids(self._client.transport, runs) if runs else []
        body = {"runs": run_ids[:MAX_MOVED], "studies": list(studies), "reports": list(reports)}
        moved = self._client.transport.post(f"{self._path}/items", body)
        for start in range(MAX_MOVED, len(run_ids), MAX_MOVED):
            body = {"runs": run_ids[start : start + MAX_MOVED]}
            moved["runs"] += (self._client.transport.post(f"{self._path}/items", body))["runs"]
        return MovedItems(moved)

    def merge(self, into: str) -> Project:
        """Move everything into another project, delete this one, and return the other one."""
        return Project(self._client, self._client.transport.post(f"{self._path}/merge", {"into": into}))

    def delete(self) -> None:
        """Delete the project, which must be empty."""
        self._client.transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/projects/{self.id}"


def find_project(transport: Transport, name: str) -> dict[str, Any]:
    """Return the project with a name, in upper or lower case."""
    listed = transport.get("/projects")
    for each in listed:
        if each["name"].casefold() == name.strip().casefold():
            found: dict[str, Any] = transport.get(f"/projects/{each['id']}")
            return found
    raise NotFoundError.of_name("project", name, (each["name"] for each in listed))


class Report(ReportRecord):
    """A report."""

    def __init__(self, client: Client, data: Mapping[str, Any]) -> None:
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

    def refresh(self) -> Report:
        """Read the report again."""
        self.data = self._client.transport.get(self._path)
        return self

    def edit(
        self,
        *,
        title: str | None = None,
        blocks: Sequence[Mapping[str, Any]] | None = None,
        project: str | None = None,
    ) -> Report:
        """Change the title, all blocks or the project. Raise ConflictError if the report has changed since."""
        if "version" not in self.data:
            self.refresh()
        body: dict[str, Any] = {"version": self.data["version"]}
        if title is not None:
            body["title"] = title
        if project is not None:
            body["project"] = project
        if blocks is not None:
            body["blocks"] = [dict(block) for block in blocks]
        self.data = self._client.transport.patch(self._path, body)
        return self

    def share(self) -> Report:
        """Create the read-only link, `shared_url`."""
        self.data = self._client.transport.post(f"{self._path}/share")
        return self

    def unshare(self) -> Report:
        """End the read-only link."""
        self.data = self._client.transport.call("DELETE", f"{self._path}/share")
        return self

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as one HTML file, and return its path."""
        target = Path(path)
        response = self._client.transport.send("GET", f"{self._path}/export")
        partial = target.with_name(f".{target.name}.part")
        partial.write_bytes(response.content)
        partial.replace(target)
        return target

    def export(
        self, path: str | os.PathLike[str] | None = None, *, files: FilesChoice = "all", progress: bool = True
    ) -> Path:
        """Save the report and what it shows as an archive file, and return its path. Default: report-2.arcadia."""
        items = ExportedItems(reports=[self.id])
        return export_archive(self._client.transport, items, path, files=files, progress=progress)

    def delete(self) -> None:
        """Permanently delete the report."""
        self._client.transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/reports/{self.id}"


class AlertChannel(AlertChannelRecord):
    """A channel, which delivers alerts to another program."""

    def __init__(self, client: Client, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    def edit(
        self, *, name: str | None = None, enabled: bool | None = None, kinds: Sequence[str] | None = None
    ) -> AlertChannel:
        """Rename the channel, switch it on or off, or choose the kinds of alerts that it delivers."""
        changes = {"name": name, "enabled": enabled, "kinds": None if kinds is None else list(kinds)}
        body = {field: value for field, value in changes.items() if value is not None}
        self.data = self._client.transport.patch(self._path, body)
        return self

    def test(self) -> AlertDelivery:
        """Send a test alert. `deliveries` shows its outcome."""
        return AlertDelivery(self._client.transport.post(f"{self._path}/test"))

    def deliveries(self, limit: int | None = 50) -> list[AlertDelivery]:
        """List the deliveries to this channel, newest first."""
        return self._client.alert_deliveries(channel=self.id, limit=limit)

    def remove(self) -> None:
        """Remove the channel with its history."""
        self._client.transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/alert-channels/{self.id}"
