"""/runs/…/replays and /replays: list replays, and tell what the agent thought in one."""

from fastapi import APIRouter

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.replays import service, thinning, tracks
from backend.replays.schemas import EditReplay, Replay, Track
from backend.web.lookup import PathId, PathRun

router = APIRouter(tags=["files"])


@router.get("/runs/{run_id}/replays")
def list_replays(db: Db, run: PathRun) -> list[Replay]:
    """Replays by the step of the checkpoint that played them."""
    with db.read() as session:
        return [Replay.model_validate(row) for row in thinning.list_replays(session, run)]


@router.patch("/replays/{replay_id}")
def edit_replay(db: Db, replay_id: PathId, changes: EditReplay) -> Replay:
    """Pin a replay, so that it is never thinned out, or unpin it; it then goes by the rule with the next one."""
    with db.write() as session:
        return Replay.model_validate(service.pin(session, replay_id, changes.pinned))


@router.get("/replays/{replay_id}/track")
def read_track(db: Db, settings: CurrentSettings, replay_id: PathId) -> Track:
    """What the agent thought, decision by decision, in a replay."""
    with db.read() as session:
        file = service.find_track(session, replay_id)
    return tracks.read(file, settings.files_dir)
