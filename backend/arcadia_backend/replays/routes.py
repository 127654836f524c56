"""Routes of replays and their tracks."""

from pathlib import Path

import numpy as np
from fastapi import APIRouter
from pydantic import ValidationError

from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import File
from arcadia_backend.errors import NotFound
from arcadia_backend.files.storage import stored_path
from arcadia_backend.replays import service
from arcadia_backend.replays.players import with_actions
from arcadia_backend.replays.service import EditReplay, Replay, Track
from arcadia_backend.web.lookup import PathId, PathRun, find_run
from arcadia_workers.contract import tracks
from arcadia_workers.contract.archives import Column

COLUMNS = ("picture", "action", "numbers", "value", "obtained", "reward", "score", "lives", "life_lost")
SIGNIFICANT_DIGITS = 6


def read(file: File, root: Path) -> Track:
    """Read the track of a replay, or raise NotFound."""
    try:
        track = tracks.read(stored_path(root, file.stored_path))
        columns = {name: _as_list(track.columns[name]) for name in COLUMNS}
        return Track.model_validate({"head": track.head, **columns})
    except (tracks.TrackError, ValidationError) as error:
        raise NotFound(f"The track of this replay cannot be read: {error}") from error


def _as_list(column: Column) -> object:
    """Return a column as lists, with numbers rounded to SIGNIFICANT_DIGITS significant digits."""
    if np.issubdtype(column.dtype, np.floating):
        return _short(column.astype(np.float64))
    return column.tolist()


def _short(numbers: Column) -> object:
    with np.errstate(all="ignore"):
        lengths = np.where((numbers == 0) | ~np.isfinite(numbers), 0, np.floor(np.log10(np.abs(numbers))))
        factor = 10.0 ** (SIGNIFICANT_DIGITS - 1 - lengths)
        return np.where(np.isfinite(numbers), np.round(numbers * factor) / factor, numbers).tolist()


router = APIRouter(tags=["files"])


@router.get("/runs/{run_id}/replays")
def list_replays(db: Db, run: PathRun) -> list[Replay]:
    """List the replays of a run by the step of their checkpoints."""
    with db.read() as session:
        return with_actions(session, run, service.list_replays(session, run))


@router.patch("/replays/{replay_id}")
def edit_replay(db: Db, replay_id: PathId, changes: EditReplay) -> Replay:
    """Pin or unpin a replay. Pruning never deletes a pinned replay."""
    with db.write() as session:
        replay = service.pin(session, replay_id, changes.pinned)
        (shown,) = with_actions(session, find_run(session, replay.run_id), [replay])
        return shown


@router.get("/replays/{replay_id}/track")
def read_track(db: Db, settings: CurrentSettings, replay_id: PathId) -> Track:
    """Return the track of a replay: what the agent computed at each decision."""
    with db.read() as session:
        file = service.find_track(session, replay_id)
    return read(file, settings.files_dir)
