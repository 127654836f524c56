"""A run, with its actions and results."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from arcadia._async.artifacts import AsyncArtifactVersion, AsyncCheckpoint
from arcadia._async.downloads import export_agent, export_archive
from arcadia._async.jobs import (
    WAIT_SECONDS,
    AsyncCalibration,
    AsyncEvaluation,
    AsyncRecording,
    AsyncReplay,
    AsyncResource,
)
from arcadia._async.references import find_figure, read_metrics
from arcadia.errors import ArcadiaError, NotLoadedError
from arcadia.figures import Figure
from arcadia.notebook import read_preview, run_card
from arcadia.records.artifact import ExportedItems, FilesChoice
from arcadia.records.run import Change, Finding, LogLine, RunRecord, explain_missing
from arcadia.tables import Metrics

LOG_PAGE_SIZE = 5_000

CheckpointChoice = AsyncCheckpoint | int | str
"""A checkpoint, its step, `newest`, `best` or an alias."""


class AsyncRun(AsyncResource, RunRecord):
    """A run. Its properties show the state of the last response; `refresh()` reads it again.

    A list leaves out details such as the configuration: see `runs()`.
    """

    @property
    def url(self) -> str:
        """Address of the run's page."""
        return f"{self._transport.url}/runs/{self.id}"

    async def stop(self) -> AsyncRun:
        """Stop the run permanently. It saves a checkpoint first."""
        return await self._act("stop")

    async def pause(self) -> AsyncRun:
        """Pause the run: save a checkpoint and free the worker."""
        return await self._act("pause")

    async def resume(self) -> AsyncRun:
        """Queue a paused run again. It continues from its last checkpoint."""
        return await self._act("resume")

    async def archive(self) -> AsyncRun:
        """Hide the run from the lists."""
        return await self._act("archive")

    async def restore(self) -> AsyncRun:
        """Show an archived run in the lists again."""
        return await self._act("restore")

    async def export(
        self, path: str | os.PathLike[str] | None = None, *, files: FilesChoice = "all", progress: bool = True
    ) -> Path:
        """Save the run with all its data as an archive file, and return its path. Default: run-12.arcadia."""
        return await export_archive(
            self._transport, ExportedItems(runs=[self.id]), path, files=files, progress=progress
        )

    async def export_agent(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        checkpoint: CheckpointChoice = "newest",
        progress: bool = True,
    ) -> Path:
        """Save a checkpoint's agent as one file, and return its path. Default: run-12.agent.zip.

        The file has the weights, a model card, the network as ONNX, and a program that plays the agent.
        """
        chosen, name = await self._choose(checkpoint), f"run-{self.id}.agent.zip"
        return await export_agent(self._transport, self.id, chosen, path, name, progress=progress)

    async def purge(self) -> None:
        """Permanently delete the run with its files. It must have ended or be paused."""
        await self._transport.delete(self._path)

    async def clone(self, *, name: str | None = None, **changes: Any) -> AsyncRun:
        """Queue a new run with the same configuration, except for some fields."""
        body = {"name": name, "overrides": changes}
        return AsyncRun(self._transport, await self._transport.post(f"{self._path}/clone", body))

    async def fork(
        self, checkpoint: CheckpointChoice = "newest", *, name: str | None = None, **changes: Any
    ) -> AsyncRun:
        """Queue a new run that continues from a checkpoint of this one, with some fields changed."""
        chosen = await self.checkpoint(checkpoint)
        body = {"checkpoint_id": chosen.id, "name": name, "overrides": changes}
        return AsyncRun(self._transport, await self._transport.post(f"{self._path}/fork", body))

    async def change(self, *, more_steps: int | None = None, **fields: Any) -> Change:
        """Change settings while the run trains, from its next update on. With `more_steps`, train it longer.

        A run that has ended is queued again if it gets more steps, and continues from its last checkpoint.
        """
        body = {"fields": fields} if more_steps is None else {"fields": fields, "more_steps": more_steps}
        requested = Change(await self._transport.post(f"{self._path}/changes", body))
        await self.refresh()
        return requested

    async def changes(self) -> list[Change]:
        """List the changes of the run's settings, oldest first."""
        changes = await self._transport.get(f"{self._path}/changes")
        return [Change(data) for data in changes["items"]]

    async def diagnosis(self) -> list[Finding]:
        """Return the faults of the run, with their causes and settings that may help."""
        return [Finding(data) for data in await self._transport.get(f"{self._path}/diagnosis")]

    async def edit(
        self,
        *,
        name: str | None = None,
        tags: Sequence[str] | None = None,
        notes: str | None = None,
        priority: int | None = None,
        needs: Mapping[str, Any] | None = None,
        interruptible: bool | None = None,
        project: str | None = None,
    ) -> AsyncRun:
        """Change the name, all tags, the notes, the priority or the needs, or move the run to another project."""
        fields: dict[str, Any] = {"name": name, "notes": notes, "priority": priority, "project": project}
        fields |= {"needs": None if needs is None else dict(needs), "interruptible": interruptible}
        return await self._edit({**fields, "tags": None if tags is None else list(tags)})

    async def tag(self, *tags: str) -> AsyncRun:
        """Add tags."""
        await self.refresh()
        return await self.edit(tags=list(dict.fromkeys([*self.tags, *tags])))

    async def untag(self, *tags: str) -> AsyncRun:
        """Remove tags."""
        await self.refresh()
        return await self.edit(tags=[tag for tag in self.tags if tag not in tags])

    async def metric_names(self) -> list[str]:
        """List the metrics that the run has reported."""
        return list(await self._transport.get(f"{self._path}/metric-names"))

    async def metrics(
        self,
        names: str | Sequence[str] = (),
        *,
        x: Literal["step", "frames", "time", "epoch"] = "step",
        buckets: int | None = None,
    ) -> Metrics:
        """Return all points of some metrics, or of every metric. With `buckets`, thin long series to this number."""
        wanted = [names] if isinstance(names, str) else list(names)
        return await read_metrics(self._transport, self.id, wanted, x, buckets)

    async def provenance(self, attempt: int | None = None) -> dict[str, Any]:
        """Return the code, packages, host and command that the run was made with."""
        provenance: dict[str, Any] = await self._transport.get(f"{self._path}/provenance", attempt=attempt)
        return provenance

    async def artifacts(self, role: Literal["made", "used"] = "made") -> list[AsyncArtifactVersion]:
        """List the versions of artifacts that the run made or used, without their files."""
        artifacts = await self._transport.get(f"{self._path}/artifacts")
        return [AsyncArtifactVersion(self._transport, data) for data in artifacts[role]]

    async def log(
        self, *, follow: bool = False, search: str = "", last: int | None = None, after: int = 0
    ) -> AsyncIterator[LogLine]:
        """Yield the lines of the log. With `follow`, wait for new ones until the run has ended or is paused.

        With `last`, begin with this number of last lines. With `after`, begin after the line with this number.
        """
        # A log may be followed for hours, so retry while the server restarts.
        read = self._transport.get_patiently if follow else self._transport.get
        path, text = f"{self._path}/log", search or None
        if last is not None:
            page = await read(path, limit=last, search=text)
            for line in page["items"]:
                if line["id"] > after:
                    yield LogLine(line)
            after = max(after, page["next_after"] or 0)
            if not follow:
                return
        while True:
            # Read the state first: a run that has ended writes no more lines.
            is_over = not follow or await self._is_over()
            wait = None if is_over else WAIT_SECONDS
            page = await read(path, after=after, limit=LOG_PAGE_SIZE, search=text, wait=wait)
            for line in page["items"]:
                yield LogLine(line)
            after = page["next_after"] or after
            if is_over and len(page["items"]) < LOG_PAGE_SIZE:
                return

    async def checkpoints(self) -> list[AsyncCheckpoint]:
        """List the checkpoints by step, including those whose file was pruned."""
        rows = await self._transport.get(f"{self._path}/checkpoints")
        return [AsyncCheckpoint(self._transport, self.id, row) for row in rows]

    async def checkpoint(self, choice: CheckpointChoice = "newest") -> AsyncCheckpoint:
        """Return the newest or the best checkpoint, the one at a step, or the one with an alias."""
        if isinstance(choice, AsyncCheckpoint):
            return choice
        kept = [each for each in await self.checkpoints() if each.is_available]
        matching = [
            each
            for each in kept
            if choice in (each.step, "newest", *each.aliases) or (choice == "best" and each.is_best)
        ]
        if matching:
            return matching[-1]
        if isinstance(choice, int):
            steps = ", ".join(str(each.step) for each in kept) or "none"
            raise ArcadiaError(f"Run {self.id} has no checkpoint at step {choice}. It has {steps}.")
        if choice not in ("newest", "best"):
            raise ArcadiaError(
                f"{choice!r} is not a checkpoint of run {self.id}. Use newest, best, a step, an alias, or a Checkpoint."
            )
        raise ArcadiaError(explain_missing(self, "best checkpoint" if choice == "best" and kept else "checkpoint"))

    async def replays(self) -> list[AsyncReplay]:
        """List the replays by the step of their checkpoints."""
        return [AsyncReplay(self._transport, data) for data in await self._transport.get(f"{self._path}/replays")]

    async def evaluate(
        self,
        protocol: str | None = None,
        *,
        checkpoint: CheckpointChoice = "newest",
        episodes: int | None = None,
        seed: int = 1,
        acting: Mapping[str, Any] | None = None,
        start_set: int | None = None,
        wait: bool = True,
        timeout: float | None = None,
    ) -> AsyncEvaluation:
        """Evaluate a checkpoint. With `wait=False`, return while the evaluation is queued."""
        body = {
            "checkpoint": await self._choose(checkpoint),
            "protocol": protocol,
            "episodes": episodes,
            "seed": seed,
            "acting": None if acting is None else dict(acting),
            "start_set": start_set,
        }
        data = await self._transport.post(f"{self._path}/evaluations", body)
        evaluation = AsyncEvaluation(self._transport, data)
        return await evaluation.wait(timeout) if wait else evaluation

    async def evaluations(self) -> list[AsyncEvaluation]:
        """List the evaluations without their episodes, newest first."""
        evaluations = await self._transport.pages(f"{self._path}/evaluations")
        return [AsyncEvaluation(self._transport, data) for data in evaluations]

    async def calibrate(
        self,
        protocol: str | None = None,
        *,
        checkpoint: CheckpointChoice = "newest",
        episodes: int = 10,
        every: int | None = None,
        futures: int = 16,
        horizon: int = 200,
        measure_regret: bool = True,
        seed: int = 1,
        wait: bool = True,
        timeout: float | None = None,
    ) -> AsyncCalibration:
        """Compare the critic of a checkpoint with futures. With `wait=False`, return while it is queued.

        By default, `every` is chosen so that about 40 decisions are judged. The regret takes most of the time.
        """
        body = {
            "checkpoint": await self._choose(checkpoint),
            "protocol": protocol,
            "episodes": episodes,
            "every": every,
            "futures": futures,
            "horizon": horizon,
            "measure_regret": measure_regret,
            "seed": seed,
        }
        calibration = AsyncCalibration(self._transport, await self._transport.post(f"{self._path}/calibrations", body))
        return await calibration.wait(timeout) if wait else calibration

    async def calibrations(self) -> list[AsyncCalibration]:
        """List the calibrations without their judged decisions, newest first."""
        calibrations = await self._transport.get(f"{self._path}/calibrations")
        return [AsyncCalibration(self._transport, data) for data in calibrations]

    async def record(
        self,
        protocol: str | None = None,
        *,
        checkpoint: CheckpointChoice = "newest",
        seed: int = 1,
        episode: int = 0,
        wait: bool = True,
        timeout: float | None = None,
    ) -> AsyncRecording:
        """Record an episode of a checkpoint. With `wait=False`, return while the recording is queued."""
        body = {
            "checkpoint": await self._choose(checkpoint),
            "protocol": protocol,
            "seed": seed,
            "episode": episode,
        }
        data = await self._transport.post(f"{self._path}/recordings", body)
        recording = AsyncRecording(self._transport, data)
        return await recording.wait(timeout) if wait else recording

    async def recordings(self) -> list[AsyncRecording]:
        """List the requested recordings, newest first."""
        recordings = await self._transport.get(f"{self._path}/recordings")
        return [AsyncRecording(self._transport, data) for data in recordings]

    async def figure(self, name: str = "curves", **options: Any) -> Figure:
        """Return a figure of the run, such as curves or evaluations."""
        return await find_figure(self._transport, name, self, **options)

    def _load_details(self) -> None:
        raise NotLoadedError(self.id)

    @property
    def _path(self) -> str:
        return f"/runs/{self.id}"

    @property
    def _title(self) -> str:
        return f"Run {self.id}"

    @property
    def _is_pending(self) -> bool:
        return not self.has_ended and self.state != "paused"

    @property
    def _share(self) -> float:
        return self.progress

    @property
    def _status(self) -> str:
        score = f", return {self.last_return:.4g}" if self.last_return is not None else ""
        return f"{self.state}{score}"

    async def _is_over(self) -> bool:
        self.data = await self._transport.get_patiently(self._path)
        return not self._is_pending

    async def _choose(self, choice: CheckpointChoice) -> int | str:
        """Return a choice for a request. The server resolves newest, best and aliases."""
        return choice if isinstance(choice, str) else (await self.checkpoint(choice)).id

    def _repr_html_(self) -> str:
        """Return a card for a notebook: picture, state, progress and the curve of the return."""
        return run_card(self, self.url, read_preview(self._transport, self))
