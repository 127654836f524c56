"""Projects, which every run, study and report belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arcadia._async.references import find_run_ids
from arcadia._async.transport import AsyncTransport
from arcadia.errors import NotFoundError
from arcadia.names import RunReferences
from arcadia.records.project import MovedItems, ProjectRecord

# Most runs in one request.
MAX_MOVED = 1_000

if TYPE_CHECKING:
    from arcadia._async.client import AsyncClient
    from arcadia._async.reports import AsyncReport
    from arcadia._async.runs import AsyncRun
    from arcadia._async.studies import AsyncStudy


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
