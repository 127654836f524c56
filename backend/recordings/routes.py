"""Routes for recordings: request, list, read, cancel and delete them."""

from fastapi import APIRouter, Depends, Request, Response

from backend.database.engine import Db
from backend.doorbell import Bell
from backend.jobs import service as jobs
from backend.recordings import service
from backend.recordings.schemas import Recording, RecordingRequest
from backend.web.idempotency import Idempotent
from backend.web.lookup import PathId, PathRun, find_run
from backend.web.waiting import DEFAULT_TIMEOUT, Timeout, Wait, job_in_progress, wait_while

router = APIRouter(tags=["files"])


@router.post("/runs/{run_id}/recordings", status_code=201)
def request_recording(db: Db, bell: Bell, once: Idempotent, run_id: PathId, wanted: RecordingRequest) -> Recording:
    """Queue the recording of an episode of a checkpoint. It becomes a replay of the run."""
    with once.write(db) as session:
        # Locked, so that the checkpoint is not deleted concurrently.
        job = service.request(session, find_run(session, run_id, lock=True), wanted)
        bell.ring_after_commit(session, job)
        return once.store(session, service.to_schemas(session, [job])[0])


@router.get("/runs/{run_id}/recordings")
def list_recordings(db: Db, run: PathRun) -> list[Recording]:
    """List the requested recordings of a run, newest first."""
    with db.read() as session:
        return service.list_recordings(session, run)


async def wait_for_recording(
    request: Request, recording_id: PathId, wait: Wait = None, timeout: Timeout = DEFAULT_TIMEOUT
) -> None:
    """Wait until the recording has ended, if requested."""
    if wait is not None:
        await wait_while(
            lambda session: job_in_progress(service.find_recording(session, recording_id)), request, timeout
        )


@router.get("/recordings/{recording_id}", dependencies=[Depends(wait_for_recording)])
def read_recording(db: Db, recording_id: PathId) -> Recording:
    """Return the state of a recording, immediately or once it has ended."""
    with db.read() as session:
        return service.to_schemas(session, [service.find_recording(session, recording_id)])[0]


@router.post("/recordings/{recording_id}/cancel")
def cancel_recording(db: Db, recording_id: PathId) -> Recording:
    """Cancel a waiting or active recording."""
    with db.write() as session:
        job = service.find_recording(session, recording_id, lock=True)
        jobs.cancel(session, job)
        return service.to_schemas(session, [job])[0]


@router.delete("/recordings/{recording_id}", status_code=204)
def delete_recording(db: Db, recording_id: PathId) -> Response:
    """Permanently delete a recording with its replay. An active one is canceled."""
    with db.write() as session:
        service.delete(session, service.find_recording(session, recording_id, lock=True))
    return Response(status_code=204)
