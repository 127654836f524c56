# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Projects, which every run, study and report belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arcadia._sync.references import find_run_ids
from arcadia._sync.transport import Transport
from arcadia.errors import NotFoundError
from arcadia.names import RunReferences
from arcadia.records.project import MovedItems, ProjectRecord

# Most runs in one request.
MAX_MOVED = 1_000

if TYPE_CHECKING:
    from arcadia._sync.client import Client
    from arcadia._sync.reports import Report
    from arcadia._sync.runs import Run
    from arcadia._sync.studies import Study


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
