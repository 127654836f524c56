"""Studies and suites."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from arcadia._async.downloads import export_archive
from arcadia._async.jobs import AsyncResource
from arcadia._async.run_requests import AsyncRunRequests
from arcadia._async.runs import AsyncRun
from arcadia._async.transport import AsyncRequests
from arcadia.figures import Figure
from arcadia.names import require_one_match
from arcadia.records.artifact import ExportedItems, FilesChoice
from arcadia.records.study import (
    Axes,
    GameList,
    StudyPoint,
    StudyPreview,
    StudyRecord,
    SuiteResult,
    build_specification,
)
from arcadia.settings import resolve_project


class AsyncStudy(AsyncResource, StudyRecord):
    """A study. Its properties show the state of the last response; `refresh()` reads it again."""

    @property
    def url(self) -> str:
        """Address of the study's page."""
        return f"{self._transport.url}/studies/{self.id}"

    async def points(self) -> list[StudyPoint]:
        """Return the points with their runs and mean returns."""
        return [StudyPoint(row) for row in (await self.refresh()).data["table"]]

    async def aggregates(self) -> list[SuiteResult]:
        """Return the statistics over the games of a study that varies the game, one result per other setting."""
        aggregates = await self._transport.get(f"{self._path}/aggregates")
        return [SuiteResult(row) for row in aggregates["results"]]

    async def runs(self) -> list[AsyncRun]:
        """List the runs that exist, oldest first."""
        return await AsyncRunRequests(self._transport).runs(study=self.id, sort="created_at", include=["config"])

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
        self.data = await self._transport.post(f"{self._path}/extend", body)
        return self

    async def edit(
        self, *, name: str | None = None, question: str | None = None, project: str | None = None
    ) -> AsyncStudy:
        """Change the name or the question, or move the study with its runs to another project."""
        return await self._edit({"name": name, "question": question, "project": project})

    async def export(
        self, path: str | os.PathLike[str] | None = None, *, files: FilesChoice = "all", progress: bool = True
    ) -> Path:
        """Save the study and its runs as an archive file, and return its path. Default: study-3.arcadia."""
        items = ExportedItems(studies=[self.id])
        return await export_archive(self._transport, items, path, files=files, progress=progress)

    async def delete(self) -> None:
        """Delete the study, which must not be running. Its runs are kept."""
        await self._transport.delete(self._path)

    async def figure(self, kind: Literal["scatter", "parallel", "importance"] = "scatter", axis: int = 0) -> Figure:
        """Return the results as a figure. A scatter figure shows one axis."""
        return Figure(kind, await self._transport.get(f"{self._path}/figure", kind=kind, axis=axis))

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


class AsyncStudyRequests(AsyncRequests):
    """Methods of the client for studies and suites."""

    async def study(self, reference: int | str) -> AsyncStudy:
        """Return the study with a number or a unique name."""
        study_id = reference
        if isinstance(study_id, str):
            named = [study.id for study in await self.studies() if study.name == study_id]
            study_id = require_one_match(named, study_id, "study")
        return AsyncStudy(self.transport, await self.transport.get(f"/studies/{study_id}"))

    async def studies(self, limit: int | None = None, *, project: str | None = None) -> list[AsyncStudy]:
        """List the studies without their points, newest first."""
        studies = await self.transport.pages(
            "/studies", limit=limit, page_size=200, cursor_name="before", project=project
        )
        return [AsyncStudy(self.transport, data) for data in studies]

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
        return AsyncStudy(self.transport, await self.transport.post("/studies", body))

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
