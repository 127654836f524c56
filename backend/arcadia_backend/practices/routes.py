"""/practices, and the practices of a review."""

from fastapi import APIRouter, Depends, Request, Response

from arcadia_backend import reviews
from arcadia_backend.database.engine import Db
from arcadia_backend.doorbell import Bell
from arcadia_backend.practices import queries, schemas, service
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import DEFAULT_TIMEOUT, PathId, Timeout, Wait, wait_while
from arcadia_workers.contract.practice import PracticeOptions

router = APIRouter(tags=["files"])


async def wait_for_practice(
    request: Request, practice_id: PathId, wait: Wait = None, timeout: Timeout = DEFAULT_TIMEOUT
) -> None:
    """Wait until a practice has ended, if requested."""

    if wait is not None:
        await wait_while(lambda session: queries.in_progress(session, practice_id), request, timeout)


@router.post("/reviews/{review_id}/practices/preview")
def preview_practice(db: Db, review_id: PathId, options: PracticeOptions) -> schemas.PracticeCostPreview:
    """Return what a practice would cost without starting it."""
    with db.read() as session:
        return queries.preview(session, review_id, options)


@router.post("/reviews/{review_id}/practices", status_code=201)
def start_practice(
    db: Db, bell: Bell, once: Idempotent, review_id: PathId, options: PracticeOptions
) -> schemas.Practice:
    """Train on from the mistakes of a review, and compare that with training on without them.

    It uses all finished reviews of the checkpoint. A practice that was stopped continues, with the same options.
    """
    with once.write(db) as session:
        practice, queued = service.start(session, review_id, options)
        for each in queued:
            bell.ring_after_commit(session, each)
        return once.store(session, queries.to_schema(session, *queries.find(session, practice.id)))


@router.get("/reviews/{review_id}/practices")
def list_practices(db: Db, review_id: PathId) -> list[schemas.Practice]:
    """List the practices of a review: none or one."""
    with db.read() as session:
        review, _ = reviews.find(session, review_id)
        return queries.load(session, reviews.replay_of(session, review))


@router.get("/practices/{practice_id}", dependencies=[Depends(wait_for_practice)])
def read_practice(db: Db, practice_id: PathId) -> schemas.Practice:
    """Return a practice, immediately or once it has ended."""
    with db.read() as session:
        return queries.to_schema(session, *queries.find(session, practice_id))


@router.post("/practices/{practice_id}/cancel")
def cancel_practice(db: Db, practice_id: PathId) -> schemas.Practice:
    """Stop a practice with its runs. It can be continued."""
    with db.write() as session:
        return queries.to_schema(session, *service.cancel(session, practice_id))


@router.delete("/practices/{practice_id}", status_code=204)
def delete_practice(db: Db, practice_id: PathId) -> Response:
    """Delete a practice. Its runs are kept. Those in progress are stopped."""
    with db.write() as session:
        service.delete(session, practice_id)
    return Response(status_code=204)
