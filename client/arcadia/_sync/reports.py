# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Reports: pages of text, figures, tables and replays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arcadia._sync.archives import export_archive
from arcadia.records.archive import ExportedItems, FilesChoice
from arcadia.records.report import ReportRecord

if TYPE_CHECKING:
    from arcadia._sync.client import Client


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
