# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""A run, with its actions and results."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from arcadia._sync.artifacts import ArtifactVersion, Checkpoint
from arcadia._sync.downloads import export_agent, export_archive
from arcadia._sync.jobs import (
    WAIT_SECONDS,
    Calibration,
    Evaluation,
    Recording,
    Replay,
    Resource,
)
from arcadia._sync.references import find_figure, read_metrics
from arcadia.errors import ArcadiaError
from arcadia.figures import Figure
from arcadia.notebook import read_preview, run_card
from arcadia.records.artifact import ExportedItems, FilesChoice
from arcadia.records.run import Change, Finding, LogLine, RunRecord, explain_missing
from arcadia.tables import Metrics

LOG_PAGE_SIZE = 5_000

CheckpointChoice = Checkpoint | int | str
"""A checkpoint, its step, `newest`, `best` or an alias."""


class Run(Resource, RunRecord):
    """A run. Its properties show the state of the last response; `refresh()` reads it again.

    A list leaves out details such as the configuration: see `runs()`.
    """

    @property
    def url(self) -> str:
        """Address of the run's page."""
        return f"{self._transport.url}/runs/{self.id}"

    def stop(self) -> Run:
        """Stop the run permanently. It saves a checkpoint first."""
        return self._act("stop")

    def pause(self) -> Run:
        """Pause the run: save a checkpoint and free the worker."""
        return self._act("pause")

    def resume(self) -> Run:
        """Queue a paused run again. It continues from its last checkpoint."""
        return self._act("resume")

    def archive(self) -> Run:
        """Hide the run from the lists."""
        return self._act("archive")

    def restore(self) -> Run:
        """Show an archived run in the lists again."""
        return self._act("restore")

    def export(
        self, path: str | os.PathLike[str] | None = None, *, files: FilesChoice = "all", progress: bool = True
    ) -> Path:
        """Save the run with all its data as an archive file, and return its path. Default: run-12.arcadia."""
        return export_archive(self._transport, ExportedItems(runs=[self.id]), path, files=files, progress=progress)

    def export_agent(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        checkpoint: CheckpointChoice = "newest",
        progress: bool = True,
    ) -> Path:
        """Save a checkpoint's agent as one file, and return its path. Default: run-12.agent.zip.

        The file has the weights, a model card, the network as ONNX, and a program that plays the agent.
        """
        chosen, name = self._choose(checkpoint), f"run-{self.id}.agent.zip"
        return export_agent(self._transport, self.id, chosen, path, name, progress=progress)

    def purge(self) -> None:
        """Permanently delete the run with its files. It must have ended or be paused."""
        self._transport.delete(self._path)

    def clone(self, *, name: str | None = None, **changes: Any) -> Run:
        """Queue a new run with the same configuration, except for some fields."""
        body = {"name": name, "overrides": changes}
        return Run(self._transport, self._transport.post(f"{self._path}/clone", body))

    def fork(self, checkpoint: CheckpointChoice = "newest", *, name: str | None = None, **changes: Any) -> Run:
        """Queue a new run that continues from a checkpoint of this one, with some fields changed."""
        chosen = self.checkpoint(checkpoint)
        body = {"checkpoint_id": chosen.id, "name": name, "overrides": changes}
        return Run(self._transport, self._transport.post(f"{self._path}/fork", body))

    def change(self, *, more_steps: int | None = None, **fields: Any) -> Change:
        """Change settings while the run trains, from its next update on. With `more_steps`, train it longer.

        A run that has ended is queued again if it gets more steps, and continues from its last checkpoint.
        """
        body = {"fields": fields} if more_steps is None else {"fields": fields, "more_steps": more_steps}
        requested = Change(self._transport.post(f"{self._path}/changes", body))
        self.refresh()
        return requested

    def changes(self) -> list[Change]:
        """List the changes of the run's settings, oldest first."""
        changes = self._transport.get(f"{self._path}/changes")
        return [Change(data) for data in changes["items"]]

    def diagnosis(self) -> list[Finding]:
        """Return the faults of the run, with their causes and settings that may help."""
        return [Finding(data) for data in self._transport.get(f"{self._path}/diagnosis")]

    def edit(
        self,
        *,
        name: str | None = None,
        tags: Sequence[str] | None = None,
        notes: str | None = None,
        priority: int | None = None,
        project: str | None = None,
    ) -> Run:
        """Change the name, all tags, the notes or the priority, or move the run to another project."""
        fields = {"name": name, "notes": notes, "priority": priority, "project": project}
        return self._edit({**fields, "tags": None if tags is None else list(tags)})

    def tag(self, *tags: str) -> Run:
        """Add tags."""
        self.refresh()
        return self.edit(tags=list(dict.fromkeys([*self.tags, *tags])))

    def untag(self, *tags: str) -> Run:
        """Remove tags."""
        self.refresh()
        return self.edit(tags=[tag for tag in self.tags if tag not in tags])

    def metric_names(self) -> list[str]:
        """List the metrics that the run has reported."""
        return list(self._transport.get(f"{self._path}/metric-names"))

    def metrics(
        self,
        names: str | Sequence[str] = (),
        *,
        x: Literal["step", "frames", "time", "epoch"] = "step",
        buckets: int | None = None,
    ) -> Metrics:
        """Return all points of some metrics, or of every metric. With `buckets`, thin long series to this number."""
        wanted = [names] if isinstance(names, str) else list(names)
        return read_metrics(self._transport, self.id, wanted, x, buckets)

    def provenance(self, attempt: int | None = None) -> dict[str, Any]:
        """Return the code, packages, host and command that the run was made with."""
        provenance: dict[str, Any] = self._transport.get(f"{self._path}/provenance", attempt=attempt)
        return provenance

    def artifacts(self, role: Literal["made", "used"] = "made") -> list[ArtifactVersion]:
        """List the versions of artifacts that the run made or used, without their files."""
        artifacts = self._transport.get(f"{self._path}/artifacts")
        return [ArtifactVersion(self._transport, data) for data in artifacts[role]]

    def log(
        self, *, follow: bool = False, search: str = "", last: int | None = None, after: int = 0
    ) -> Iterator[LogLine]:
        """Yield the lines of the log. With `follow`, wait for new ones until the run has ended or is paused.

        With `last`, begin with this number of last lines. With `after`, begin after the line with this number.
        """
        # A log may be followed for hours, so retry while the server restarts.
        read = self._transport.get_patiently if follow else self._transport.get
        path, text = f"{self._path}/log", search or None
        if last is not None:
            page = read(path, limit=last, search=text)
            for line in page["items"]:
                if line["id"] > after:
                    yield LogLine(line)
            after = max(after, page["next_after"] or 0)
            if not follow:
                return
        while True:
            # Read the state first: a run that has ended writes no more lines.
            is_over = not follow or self._is_over()
            wait = None if is_over else WAIT_SECONDS
            page = read(path, after=after, limit=LOG_PAGE_SIZE, search=text, wait=wait)
            for line in page["items"]:
                yield LogLine(line)
            after = page["next_after"] or after
            if is_over and len(page["items"]) < LOG_PAGE_SIZE:
                return

    def checkpoints(self) -> list[Checkpoint]:
        """List the checkpoints by step, including those whose file was pruned."""
        rows = self._transport.get(f"{self._path}/checkpoints")
        return [Checkpoint(self._transport, self.id, row) for row in rows]

    def checkpoint(self, choice: CheckpointChoice = "newest") -> Checkpoint:
        """Return the newest or the best checkpoint, the one at a step, or the one with an alias."""
        if isinstance(choice, Checkpoint):
            return choice
        kept = [each for each in self.checkpoints() if each.is_available]
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

    def replays(self) -> list[Replay]:
        """List the replays by the step of their checkpoints."""
        return [Replay(self._transport, data) for data in self._transport.get(f"{self._path}/replays")]

    def evaluate(
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
    ) -> Evaluation:
        """Evaluate a checkpoint. With `wait=False`, return while the evaluation is queued."""
        body = {
            "checkpoint": self._choose(checkpoint),
            "protocol": protocol,
            "episodes": episodes,
            "seed": seed,
            "acting": None if acting is None else dict(acting),
            "start_set": start_set,
        }
        data = self._transport.post(f"{self._path}/evaluations", body)
        evaluation = Evaluation(self._transport, data)
        return evaluation.wait(timeout) if wait else evaluation

    def evaluations(self) -> list[Evaluation]:
        """List the evaluations without their episodes, newest first."""
        evaluations = self._transport.pages(f"{self._path}/evaluations")
        return [Evaluation(self._transport, data) for data in evaluations]

    def calibrate(
        self,
        protocol: str | None = None,
        *,
        checkpoint: CheckpointChoice = "newest",
        episodes: int = 5,
        every: int | None = None,
        futures: int = 16,
        horizon: int = 200,
        measure_regret: bool = True,
        seed: int = 1,
        wait: bool = True,
        timeout: float | None = None,
    ) -> Calibration:
        """Compare the critic of a checkpoint with futures. With `wait=False`, return while it is queued.

        By default, `every` is chosen so that about 40 decisions are judged. The regret takes most of the time.
        """
        body = {
            "checkpoint": self._choose(checkpoint),
            "protocol": protocol,
            "episodes": episodes,
            "every": every,
            "futures": futures,
            "horizon": horizon,
            "measure_regret": measure_regret,
            "seed": seed,
        }
        calibration = Calibration(self._transport, self._transport.post(f"{self._path}/calibrations", body))
        return calibration.wait(timeout) if wait else calibration

    def calibrations(self) -> list[Calibration]:
        """List the calibrations without their judged decisions, newest first."""
        calibrations = self._transport.get(f"{self._path}/calibrations")
        return [Calibration(self._transport, data) for data in calibrations]

    def record(
        self,
        protocol: str | None = None,
        *,
        checkpoint: CheckpointChoice = "newest",
        seed: int = 1,
        episode: int = 0,
        wait: bool = True,
        timeout: float | None = None,
    ) -> Recording:
        """Record an episode of a checkpoint. With `wait=False`, return while the recording is queued."""
        body = {
            "checkpoint": self._choose(checkpoint),
            "protocol": protocol,
            "seed": seed,
            "episode": episode,
        }
        data = self._transport.post(f"{self._path}/recordings", body)
        recording = Recording(self._transport, data)
        return recording.wait(timeout) if wait else recording

    def recordings(self) -> list[Recording]:
        """List the requested recordings, newest first."""
        recordings = self._transport.get(f"{self._path}/recordings")
        return [Recording(self._transport, data) for data in recordings]

    def figure(self, name: str = "curves", **options: Any) -> Figure:
        """Return a figure of the run, such as curves or evaluations."""
        return find_figure(self._transport, name, self, **options)

    def _load_details(self) -> None:
        self.refresh()

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

    def _is_over(self) -> bool:
        self.data = self._transport.get_patiently(self._path)
        return not self._is_pending

    def _choose(self, choice: CheckpointChoice) -> int | str:
        """Return a choice for a request. The server resolves newest, best and aliases."""
        return choice if isinstance(choice, str) else (self.checkpoint(choice)).id

    def _repr_html_(self) -> str:
        """Return a card for a notebook: picture, state, progress and the curve of the return."""
        return run_card(self, self.url, read_preview(self._transport, self))
