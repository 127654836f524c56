"""/runs/…/recordings and /recordings: ask for, list, read, cancel and remove."""

from fastapi import APIRouter, Response

from backend.database.engine import Db
from backend.doorbell import Bell
from backend.jobs import service as jobs
from backend.recordings import service
from backend.recordings.schemas import AskRecording, Recording
from backend.web.lookup import PathId, PathRun, find_run

router = APIRouter(tags=["files"])


@router.post("/runs/{run_id}/recordings", status_code=201)
def ask_recording(db: Db, bell: Bell, run_id: PathId, wanted: AskRecording) -> Recording:
    """Have a worker record an episode of a checkpoint, beside what it trains; it becomes one of the run's replays."""
    with db.write() as session:
        # Locked, so that the checkpoint is not thinned out meanwhile.
        job = service.ask(session, find_run(session, run_id, lock=True), wanted)
        bell.ring_after_commit(session, job)
        return service.shown(session, [job])[0]


@router.get("/runs/{run_id}/recordings")
def list_recordings(db: Db, run: PathRun) -> list[Recording]:
    """The recordings of a run that were asked for, the latest first."""
    with db.read() as session:
        return service.of_run(session, run)


@router.get("/recordings/{recording_id}")
def read_recording(db: Db, recording_id: PathId) -> Recording:
    """Where a recording stands."""
    with db.read() as session:
        return service.shown(session, [service.find_recording(session, recording_id)])[0]


@router.post("/recordings/{recording_id}/cancel")
def cancel_recording(db: Db, recording_id: PathId) -> Recording:
    """Cancel a recording that waits or is made."""
    with db.write() as session:
        job = service.find_recording(session, recording_id, lock=True)
        jobs.cancel(session, job)
        return service.shown(session, [job])[0]


@router.delete("/recordings/{recording_id}", status_code=204)
def delete_recording(db: Db, recording_id: PathId) -> Response:
    """Remove a recording with its replay for good; one that is made ends."""
    with db.write() as session:
        service.remove(session, service.find_recording(session, recording_id, lock=True))
    return Response(status_code=204)
