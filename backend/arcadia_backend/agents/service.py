"""Export of a checkpoint as an agent file, and import of an agent as a run with one checkpoint."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.agents.opening import OpenedAgent
from arcadia_backend.checkpoints.availability import find_chosen
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables import Attempt, Checkpoint, File, Job, Replay, Run
from arcadia_backend.errors import Conflict
from arcadia_backend.files import service as files
from arcadia_backend.files.service import Maker, files_root
from arcadia_backend.files.storage import new_incoming_path, stored_path
from arcadia_backend.job_kinds import recordings
from arcadia_backend.job_kinds.evaluations.service import list_finished
from arcadia_backend.job_kinds.recordings import RecordingRequest
from arcadia_backend.logs import note
from arcadia_backend.metrics.points import MetricSeries, load_run_views
from arcadia_backend.metrics.queries import Window, read_curve
from arcadia_backend.projects.service import resolve_or_create
from arcadia_backend.runs.states import announce_run
from arcadia_backend.web.lookup import refuse_without_agent
from arcadia_workers.contract import layout
from arcadia_workers.contract.agents import weights
from arcadia_workers.contract.agents.document import MAX_POINTS, SUFFIX
from arcadia_workers.contract.agents.writing import AgentSource
from arcadia_workers.contract.layout import METADATA, CheckpointMetadata
from arcadia_workers.contract.plugins.loading import needed_plugins


class ImportedAgent(BaseModel):
    """The run that has an imported agent."""

    run_id: int
    checkpoint_id: int
    already: bool = Field(description="Whether the same agent was imported before. Nothing was stored.")


ATTEMPT = 1


@dataclass(frozen=True)
class UnstoredCheckpoint:
    """A checkpoint file that is not stored yet."""

    path: Path
    sha256: str
    size: int


def to_checkpoint(agent: OpenedAgent) -> bytes:
    """Return the content of the checkpoint that an imported agent becomes."""
    metadata = CheckpointMetadata(
        step=agent.step,
        frames=agent.frames,
        facts=agent.facts,
        config=agent.config.model_dump(mode="json"),
        versions=dict(agent.versions or {}),
    )
    return weights.pack(weights.to_component(agent.network), {METADATA: metadata.model_dump_json()})


@contextmanager
def checkpoint_of(agent: OpenedAgent, root: Path) -> Iterator[UnstoredCheckpoint]:
    """Write the checkpoint of an imported agent to a file, which is deleted unless it is stored."""
    content, path = to_checkpoint(agent), new_incoming_path(root)
    try:
        path.write_bytes(content)
        yield UnstoredCheckpoint(path, hashlib.sha256(content).hexdigest(), len(content))
    finally:
        path.unlink(missing_ok=True)


def find_imported(session: Session, sha256: str) -> Checkpoint | None:
    """Return the checkpoint of an agent that was imported before."""
    query = select(Checkpoint).join(Run, Run.id == Checkpoint.run_id)
    query = query.where(Run.origin == "agent", Checkpoint.sha256 == sha256, Checkpoint.file_id.is_not(None))
    return session.scalar(query.order_by(Checkpoint.id).limit(1))


def store_agent(
    session: Session, agent: OpenedAgent, received: UnstoredCheckpoint, *, name: str | None, project: str | None
) -> tuple[Checkpoint, Job]:
    """Store an agent with its checkpoint as a run. Queue its first recording."""
    run = _add_run(session, agent, name, project)
    path, sha256, size = layout.checkpoint_file(agent.step), received.sha256, received.size
    file = files.store(session, received.path, Maker(run.id, ATTEMPT), "checkpoint", path, sha256, size)
    checkpoint = Checkpoint(
        run_id=run.id,
        attempt=ATTEMPT,
        step=agent.step,
        frames=agent.frames,
        file=path,
        sha256=sha256,
        bytes=size,
        file_id=file.id,
        source_sha256=agent.source_sha256,
    )
    session.add(checkpoint)
    session.flush()
    note(session, run, f"Imported from an agent file of {agent.label}.")
    announce_run(session, run.id, "run.changed", "run.log", "run.files")
    return checkpoint, recordings.request(session, run, RecordingRequest())


def _add_run(session: Session, agent: OpenedAgent, name: str | None, project: str | None) -> Run:
    now = utc_now()
    run = Run(
        name=(name or agent.name)[:200],
        origin="agent",
        origin_label=agent.label,
        project_id=resolve_or_create(session, project),
        algorithm=agent.algorithm,
        env=agent.config.env,
        config=agent.config.model_dump(mode="json") if agent.settings is None else agent.settings,
        needed_plugins=",".join(needed_plugins(agent.config.model_dump())),
        notes="\n\n".join(agent.notes),
        state="finished",
        attempt=ATTEMPT,
        step=agent.step,
        frames=agent.frames,
        total_steps=agent.step,
        queue=None,
        queued_at=None,
        started_at=now,
        finished_at=now,
        tags=[],
    )
    session.add(run)
    session.flush()
    # Its checkpoint is the one to resume from, so that it counts as current.
    session.add(
        Attempt(run_id=run.id, attempt=ATTEMPT, resumed_step=0, started_at=now, ended_at=now, outcome="finished")
    )
    session.flush()
    return run


RETURNS = "episode/return"


@dataclass(frozen=True)
class AgentExport:
    """The name of an agent file, and its content."""

    file_name: str
    source: AgentSource


def read_export(session: Session, run: Run, choice: int | str) -> AgentExport:
    """Read the content of a checkpoint's agent file. Raise Conflict if the run has no such checkpoint."""
    refuse_without_agent(run, "export")
    checkpoint = find_chosen(session, run, choice)
    path = _path(session, checkpoint.file_id)
    if path is None:
        raise Conflict(f"The file of the checkpoint at step {checkpoint.step} is missing on the server's disk.")
    source = AgentSource(
        name=run.name,
        checkpoint=path.read_bytes(),
        evaluations=[document for row, document in list_finished(session, run) if row.checkpoint_id == checkpoint.id],
        curve=_curve(session, run, checkpoint),
        replay=_replay(session, checkpoint),
    )
    return AgentExport(f"run-{run.id}-step-{checkpoint.step}{SUFFIX}", source)


def _path(session: Session, file_id: int | None) -> Path | None:
    """Return the path of a stored file if it exists."""
    if file_id is None:
        return None
    path = stored_path(files_root(session), session.get_one(File, file_id).stored_path)
    return path if path.is_file() else None


def _curve(session: Session, run: Run, checkpoint: Checkpoint) -> list[tuple[float, float]]:
    """Return the mean returns of training episodes by frames, up to the checkpoint."""
    series = session.scalar(select(MetricSeries).where(MetricSeries.run_id == run.id, MetricSeries.name == RETURNS))
    if series is None:
        return []
    window = Window(axis="frames", high=checkpoint.frames, buckets=MAX_POINTS)
    curve = read_curve(session, series, load_run_views(session, [run.id])[run.id], window)
    drawn = np.isfinite(curve.mean)
    return list(zip(curve.x[drawn].tolist(), curve.mean[drawn].tolist(), strict=True))


def _replay(session: Session, checkpoint: Checkpoint) -> Path | None:
    """Return the video of the checkpoint's newest replay."""
    of_checkpoint = (Replay.run_id == checkpoint.run_id, Replay.checkpoint == checkpoint.file)
    query = select(Replay.file_id).where(*of_checkpoint, Replay.file_id.is_not(None))
    return _path(session, session.scalar(query.order_by(Replay.id.desc()).limit(1)))
