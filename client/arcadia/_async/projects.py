"""Projects, views, reports, and channels of alerts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arcadia._async.downloads import export_archive
from arcadia._async.references import find_run_ids
from arcadia._async.run_requests import AsyncRunRequests
from arcadia._async.runs import AsyncRun
from arcadia._async.studies import AsyncStudy, AsyncStudyRequests
from arcadia._async.transport import AsyncLinkedRecord, AsyncRefreshable, AsyncRequests
from arcadia.errors import NotFoundError
from arcadia.names import RunReferences, require_one_match
from arcadia.records.account import ProjectMember
from arcadia.records.artifact import ExportedItems, FilesChoice
from arcadia.records.server import (
    Alert,
    AlertChannelRecord,
    AlertDelivery,
    MovedItems,
    ProjectRecord,
    ReportRecord,
    SavedView,
)
from arcadia.settings import resolve_project

# Most runs in one request.
MAX_MOVED = 1_000


class AsyncProject(AsyncRefreshable, ProjectRecord):
    """A project. A list leaves out its text and its best agents, which `refresh()` reads."""

    async def runs(self, **filters: Any) -> list[AsyncRun]:
        """List the runs. Filters are those of `client.runs()`."""
        return await AsyncRunRequests(self._transport).runs(project=self.name, **filters)

    async def studies(self, limit: int | None = None) -> list[AsyncStudy]:
        """List the studies, newest first."""
        return await AsyncStudyRequests(self._transport).studies(limit, project=self.name)

    async def reports(self) -> list[AsyncReport]:
        """List the reports."""
        return await AsyncProjectRequests(self._transport).reports(project=self.name)

    async def edit(self, *, name: str | None = None, text: str | None = None) -> AsyncProject:
        """Rename the project, or change the text of its page."""
        return await self._edit({"name": name, "text": text})

    async def set_executor(self, executor: str | None) -> AsyncProject:
        """Choose where the runs train by default. None is the default of the server."""
        self.data = await self._transport.patch(self._path, {"executor": executor})
        return self

    async def pin_report(self, report_id: int | None) -> AsyncProject:
        """Show a report on the project's page, or none."""
        self.data = await self._transport.patch(self._path, {"pinned_report_id": report_id})
        return self

    async def move(self, *runs: RunReferences, studies: Sequence[int] = (), reports: Sequence[int] = ()) -> MovedItems:
        """Move runs, studies and reports into this project. A study brings its runs."""
        run_ids = await find_run_ids(self._transport, runs) if runs else []
        body = {"runs": run_ids[:MAX_MOVED], "studies": list(studies), "reports": list(reports)}
        moved = await self._transport.post(f"{self._path}/items", body)
        for start in range(MAX_MOVED, len(run_ids), MAX_MOVED):
            body = {"runs": run_ids[start : start + MAX_MOVED]}
            moved["runs"] += (await self._transport.post(f"{self._path}/items", body))["runs"]
        return MovedItems(moved)

    async def members(self) -> list[ProjectMember]:
        """List the people and groups with a role. Administrators come first."""
        members = await self._transport.get(f"{self._path}/members")
        return [ProjectMember(data) for data in members["items"]]

    async def set_role(
        self, role: str | None, *, email: str | None = None, group: str | None = None
    ) -> list[ProjectMember]:
        """Give a person or a group a role, and return all members. Without either, it is everyone's role.

        Roles are viewer, editor and administrator. None closes the project again to everyone without a role.
        """
        if email is None and group is None:
            members = await self._transport.patch(f"{self._path}/members", {"everyone": role})
        else:
            body = {"role": role, "email": email, "group": group}
            members = await self._transport.post(f"{self._path}/members", body)
        return [ProjectMember(data) for data in members["items"]]

    async def remove_member(self, member: ProjectMember | int) -> None:
        """Take the role away from a person or a group."""
        number = member if isinstance(member, int) else member.id
        await self._transport.delete(f"{self._path}/members/{number}")

    async def merge(self, into: str) -> AsyncProject:
        """Move everything into another project, delete this one, and return the other one."""
        return AsyncProject(self._transport, await self._transport.post(f"{self._path}/merge", {"into": into}))

    async def delete(self) -> None:
        """Delete the project, which must be empty."""
        await self._transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/projects/{self.id}"


class AsyncReport(AsyncRefreshable, ReportRecord):
    """A report."""

    @property
    def url(self) -> str:
        """Address of the report's page."""
        return f"{self._transport.url}/reports/{self.id}"

    @property
    def shared_url(self) -> str | None:
        """Address of the read-only page. None unless the report is shared."""
        return f"{self._transport.url}/shared/reports/{self.share_token}" if self.share_token else None

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
        listed = None if blocks is None else [dict(block) for block in blocks]
        version = self.data["version"]
        return await self._edit({"version": version, "title": title, "project": project, "blocks": listed})

    async def share(self) -> AsyncReport:
        """Create the read-only link, `shared_url`."""
        return await self._act("share")

    async def unshare(self) -> AsyncReport:
        """End the read-only link."""
        self.data = await self._transport.call("DELETE", f"{self._path}/share")
        return self

    async def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as one HTML file, and return its path."""
        target = Path(path)
        response = await self._transport.send("GET", f"{self._path}/export")
        partial = target.with_name(f".{target.name}.part")
        partial.write_bytes(response.content)
        partial.replace(target)
        return target

    async def export(
        self, path: str | os.PathLike[str] | None = None, *, files: FilesChoice = "all", progress: bool = True
    ) -> Path:
        """Save the report and what it shows as an archive file, and return its path. Default: report-2.arcadia."""
        items = ExportedItems(reports=[self.id])
        return await export_archive(self._transport, items, path, files=files, progress=progress)

    async def delete(self) -> None:
        """Permanently delete the report."""
        await self._transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/reports/{self.id}"


class AsyncAlertChannel(AsyncLinkedRecord, AlertChannelRecord):
    """A channel, which delivers alerts to another program."""

    async def edit(
        self, *, name: str | None = None, enabled: bool | None = None, kinds: Sequence[str] | None = None
    ) -> AsyncAlertChannel:
        """Rename the channel, switch it on or off, or choose the kinds of alerts that it delivers."""
        return await self._edit({"name": name, "enabled": enabled, "kinds": None if kinds is None else list(kinds)})

    async def test(self) -> AlertDelivery:
        """Send a test alert. `deliveries` shows its outcome."""
        return AlertDelivery(await self._transport.post(f"{self._path}/test"))

    async def deliveries(self, limit: int | None = 50) -> list[AlertDelivery]:
        """List the deliveries to this channel, newest first."""
        return await AsyncAlertRequests(self._transport).alert_deliveries(channel=self.id, limit=limit)

    async def remove(self) -> None:
        """Remove the channel with its history."""
        await self._transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/alert-channels/{self.id}"


class AsyncProjectRequests(AsyncRequests):
    """Methods of the client for projects, views and reports."""

    async def projects(self) -> list[AsyncProject]:
        """List the projects without their texts. Main comes first."""
        return [AsyncProject(self.transport, data) for data in await self.transport.get("/projects")]

    async def project(self, name: str) -> AsyncProject:
        """Return the project with a name, in upper or lower case."""
        projects = await self.projects()
        for project in projects:
            if project.name.casefold() == name.strip().casefold():
                return await project.refresh()
        raise NotFoundError.of_name("project", name, (project.name for project in projects))

    async def create_project(self, name: str, text: str = "") -> AsyncProject:
        """Create a project."""
        return AsyncProject(self.transport, await self.transport.post("/projects", {"name": name, "text": text}))

    async def views(self, *, project: str | None = None) -> list[SavedView]:
        """List the saved views of the runs page, of one project or of all, by name."""
        return [SavedView(data) for data in await self.transport.get("/views", project=project)]

    async def view(self, reference: int | str, *, project: str | None = None) -> SavedView:
        """Return the saved view with a number or a name, in upper or lower case. Several projects may have the name."""
        views = {view.id: view for view in await self.views(project=project)}
        named = [view.id for view in views.values() if view.name.casefold() == str(reference).casefold()]
        is_number = str(reference).isdecimal() and int(reference) in views
        return views[int(reference) if is_number else require_one_match(named, str(reference), "view")]

    async def report(self, report_id: int) -> AsyncReport:
        """Return a report."""
        return AsyncReport(self.transport, await self.transport.get(f"/reports/{report_id}"))

    async def reports(self, *, project: str | None = None) -> list[AsyncReport]:
        """List the reports without their blocks."""
        return [AsyncReport(self.transport, data) for data in await self.transport.get("/reports", project=project)]

    async def create_report(
        self, title: str, blocks: Sequence[Mapping[str, Any]] = (), *, project: str | None = None
    ) -> AsyncReport:
        """Create a report. The default project is ARCADIA_PROJECT, or Main."""
        listed = [dict(block) for block in blocks]
        body = {"title": title, "blocks": listed, "project": resolve_project(project)}
        return AsyncReport(self.transport, await self.transport.post("/reports", body))


class AsyncAlertRequests(AsyncRequests):
    """Methods of the client for alerts."""

    async def alerts(
        self,
        *,
        unread: bool = False,
        kind: str | Sequence[str] | None = None,
        run: int | None = None,
        limit: int | None = 50,
    ) -> list[Alert]:
        """List alerts, newest first."""
        alerts = await self.transport.pages(
            "/alerts", limit=limit, page_size=200, cursor_name="before", unread=unread or None, kind=kind, run=run
        )
        return [Alert(data) for data in alerts]

    async def mark_alerts_read(self, *alerts: int, up_to: int | None = None) -> int:
        """Mark alerts as read, or all up to one. Return how many unread ones remain."""
        body = {"ids": list(alerts), "up_to": up_to}
        return int((await self.transport.post("/alerts/read", body))["unread"])

    async def alert_channels(self) -> list[AsyncAlertChannel]:
        """List the channels that deliver alerts to other programs."""
        return [AsyncAlertChannel(self.transport, data) for data in await self.transport.get("/alert-channels")]

    async def add_webhook(self, name: str, url: str, *, kinds: Sequence[str] | None = None) -> AsyncAlertChannel:
        """Add an address that gets alerts as signed POST requests. Keep the `secret` of the returned channel.

        If the server has accounts, only a signed-in browser can do this.
        """
        return await self._add_channel("webhook", name, url, kinds)

    async def add_apprise(self, name: str, url: str, *, kinds: Sequence[str] | None = None) -> AsyncAlertChannel:
        """Add an Apprise URL, such as one of Slack or of a mail account.

        If the server has accounts, only a signed-in browser can do this.
        """
        return await self._add_channel("apprise", name, url, kinds)

    async def _add_channel(self, kind: str, name: str, url: str, kinds: Sequence[str] | None) -> AsyncAlertChannel:
        body = {"kind": kind, "name": name, "url": url, "kinds": None if kinds is None else list(kinds)}
        return AsyncAlertChannel(self.transport, await self.transport.post("/alert-channels", body))

    async def alert_deliveries(self, *, channel: int | None = None, limit: int | None = 50) -> list[AlertDelivery]:
        """List the deliveries of alerts, newest first."""
        deliveries = await self.transport.pages(
            "/alert-deliveries", limit=limit, page_size=200, cursor_name="before", channel=channel
        )
        return [AlertDelivery(data) for data in deliveries]

    async def redeliver_alert(self, delivery_id: int) -> AlertDelivery:
        """Send an alert to its channel again."""
        return AlertDelivery(await self.transport.post(f"/alert-deliveries/{delivery_id}/redeliver"))
