"""Facts about a checkpoint for its agent file, read from the database."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.choice import find_chosen
from backend.database.tables import Checkpoint, File, Replay, Run
from backend.errors import Conflict
from backend.evaluations.service import list_finished
from backend.files.service import files_root
from backend.files.storage import stored_path
from backend.metrics.curves import Window, read_curve
from backend.metrics.models import MetricSeries
from backend.metrics.visibility import load_run_views
from backend.web.lookup import refuse_without_agent
from workers.contract.agents.curve import MAX_POINTS
from workers.contract.agents.document import SUFFIX
from workers.contract.agents.writing import AgentSource

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
