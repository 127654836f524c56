"""Routes of replays and their tracks."""

from fastapi import APIRouter

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.replays import pruning, service, tracks
from backend.replays.players import with_actions
from backend.replays.schemas import EditReplay, Replay, Track
from backend.web.lookup import PathId, PathRun, find_run

router = APIRouter(tags=["files"])


@router.get("/runs/{run_id}/replays")
def list_replays(db: Db, run: PathRun) -> list[Replay]:
    """List the replays of a run by the step of their checkpoints."""
    with db.read() as session:
        return with_actions(session, run, pruning.list_replays(session, run))


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
    return tracks.read(file, settings.files_dir)
