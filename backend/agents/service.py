"""Import of an agent as a run with one checkpoint, so that evaluations, replays and live games work as for others."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.agents.opening import OpenedAgent
from backend.database.columns import utc_now
from backend.database.tables import Attempt, Checkpoint, Job, Run
from backend.files import service as files
from backend.files.service import Maker
from backend.files.storage import new_incoming_path
from backend.logs.service import note
from backend.projects.lookup import resolve_or_create
from backend.recordings import service as recordings
from backend.recordings.schemas import RecordingRequest
from backend.runs.notices import announce_run
from workers.contract import layout
from workers.contract.agents import weights
from workers.contract.checkpoint_metadata import METADATA, CheckpointMetadata
from workers.contract.plugins.needs import needed_plugins

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
