"""/runs/…/videos and /videos: list replays, and tell what the agent thought in one."""

from fastapi import APIRouter

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.replays import service, thinning, tracks
from backend.replays.schemas import EditVideo, RunVideo, Track
from backend.web.lookup import PathId, PathRun

router = APIRouter(tags=["files"])


@router.get("/runs/{run_id}/videos")
def list_videos(db: Db, run: PathRun) -> list[RunVideo]:
    """Replays by the step of the checkpoint that played them."""
    with db.read() as session:
        return [RunVideo.model_validate(row) for row in thinning.list_videos(session, run)]


@router.patch("/videos/{video_id}")
def edit_video(db: Db, video_id: PathId, changes: EditVideo) -> RunVideo:
    """Pin a replay, so that it is never thinned out, or unpin it; it then goes by the rule with the next one."""
    with db.write() as session:
        return RunVideo.model_validate(service.pin(session, video_id, changes.pinned))


@router.get("/videos/{video_id}/track")
def read_track(db: Db, settings: CurrentSettings, video_id: PathId) -> Track:
    """What the agent thought, decision by decision, in a replay."""
    with db.read() as session:
        file = service.find_track(session, video_id)
    return tracks.read(file, settings.files_dir)
