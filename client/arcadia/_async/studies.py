"""Studies: many runs that answer one question."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from arcadia._async.archives import export_archive
from arcadia._async.resource import AsyncResource
from arcadia._async.runs import AsyncRun
from arcadia.figures import Figure
from arcadia.records.archive import ExportedItems, FilesChoice
from arcadia.records.study import StudyPoint, StudyRecord
from arcadia.records.suite import SuiteResult


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
