"""/practices, and the practices of a review."""

from fastapi import APIRouter

from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Practice
from arcadia_backend.doorbell import Bell
from arcadia_backend.job_kinds import reviews
from arcadia_backend.job_kinds.practices import queries, schemas, service
from arcadia_backend.job_kinds.result_routes import add_job_routes
from arcadia_backend.jobs import JobType
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.practice import PracticeOptions

router = APIRouter(tags=["files"])
JOB = JobType("practice", router, {ev.PracticeEvent: service.store_result}, service.has_result, table=Practice)
add_job_routes(
    JOB,
    schemas.Practice,
    queries.to_schema,
    pending=queries.in_progress,
    cancel=service.cancel,
    cancel_text="Stop a practice with its runs. It can be continued.",
    delete=service.delete,
    delete_text="Delete a practice. Its runs are kept. Those in progress are stopped.",
)


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
