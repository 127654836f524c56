"""Reviews of replays: a job finds the decisions of the episode at which the agent lost, on request."""

from collections.abc import Sequence

from fastapi import APIRouter, Response
from pydantic import ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.database import tables
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Checkpoint, Job, Replay
from arcadia_backend.doorbell import Bell
from arcadia_backend.errors import Conflict, FieldError, Invalid
from arcadia_backend.jobs import JobFields, JobType, find_with_job, job_fields, read_queue, row_of_job
from arcadia_backend.replays.players import find_player, read_track
from arcadia_backend.replays.service import find_replay
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, find_run, refuse_without_agent
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.jobs import ReviewParameters
from arcadia_workers.contract.review import ReviewDocument, ReviewOptions
from arcadia_workers.contract.tracks import Track


class Review(JobFields, ReviewOptions):
    """A review of a replay, with what it has found so far.

    NaN and infinity are strings.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    id: int
    replay_id: int
    run_id: int = Field(description="The run of the replay.")
    step: int = Field(description="The step of the checkpoint that played the replay.")
    document: ReviewDocument | None = Field(description="Null until the first decision has been simulated.")


# Limit per run.
MAX_WAITING_JOBS = 10


def request(session: Session, replay_id: int, options: ReviewOptions) -> tuple[tables.Review, Job]:
    """Queue a review of a replay, or continue an earlier one with more decisions."""
    replay = find_replay(session, replay_id)
    run = find_run(session, replay.run_id, lock=True)
    # Read it again: it may have changed before the lock.
    replay = find_replay(session, replay_id, lock=True)
    refuse_without_agent(run, "review replays of")
    track = read_track(session, replay)
    _check(track)
    review = session.scalar(select(tables.Review).where(tables.Review.replay_id == replay.id))
    earlier = session.get(Job, review.job_id) if review else None
    if earlier and earlier.state in jobs.UNFINISHED:
        raise Conflict(f"A review of replay {replay.id} is in progress. Wait until it is done, or cancel it first.")
    known = review.document if review else None
    if known and known["horizon"] != options.horizon:
        message = f"the review so far looks {known['horizon']} decisions ahead: continue with that, or delete it first"
        raise Invalid(FieldError(field="horizon", message=message))
    jobs.check_room(session, run, "review", MAX_WAITING_JOBS, "reviews")
    checkpoint = find_player(session, run, track)
    parameters = ReviewParameters(
        **options.model_dump(),
        protocol=track.head.protocol,
        seed=track.head.seed,
        episode=track.head.episode,
        actions=track.columns["action"].tolist(),
    )
    total = min(options.decisions, len(track)) if options.every is None else -(-len(track) // options.every)
    job = jobs.enqueue(session, run, checkpoint, "review", parameters.model_dump(mode="json"), total)
    if review is None:
        review = tables.Review(replay_id=replay.id)
        session.add(review)
    review.job_id, review.options = job.id, options.model_dump(mode="json")
    session.flush()
    if earlier:
        jobs.remove(session, earlier)
    return review, job


def _check(track: Track) -> None:
    """Raise Invalid if the replay cannot be reviewed."""
    if track.head.numbers_kind == "gaussian":
        message = "only discrete actions can be reviewed, and those of this replay are numbers"
        raise Invalid(FieldError(field="replay_id", message=message))


def find(session: Session, review_id: int, *, lock: bool = False) -> tuple[tables.Review, Job]:
    """Return a review with its job. Raise NotFound if it does not exist. With `lock`, lock the job's run first."""
    return find_with_job(session, tables.Review, review_id, lock=lock)


def load(session: Session, replay: Replay) -> list[Review]:
    """Return the reviews of a replay."""
    query = select(tables.Review, Job).join(Job, Job.id == tables.Review.job_id)
    rows = session.execute(query.where(tables.Review.replay_id == replay.id)).all()
    return _to_schemas(session, [(review, job) for review, job in rows])


def to_schema(session: Session, review: tables.Review, job: Job) -> Review:
    """Convert a review to its API schema."""
    return _to_schemas(session, [(review, job)])[0]


def _to_schemas(session: Session, rows: Sequence[tuple[tables.Review, Job]]) -> list[Review]:
    queue = read_queue(session, (job for _, job in rows))
    at = Checkpoint.id.in_([job.checkpoint_id for _, job in rows])
    steps: dict[int | None, int] = dict(session.execute(select(Checkpoint.id, Checkpoint.step).where(at)).all())
    return [
        Review.model_validate(
            review.options
            | job_fields(job, queue)
            | {
                "id": review.id,
                "replay_id": review.replay_id,
                "run_id": job.run_id,
                "step": steps[job.checkpoint_id],
                "document": review.document,
            }
        )
        for review, job in rows
    ]


def _continue(session: Session, job: Job) -> None:
    """Let a new attempt continue from what an earlier one found. It is kept, not discarded."""
    job.parameters = job.parameters | {"known": row_of_job(session, tables.Review, job).document}


def _advance(_session: Session, job: Job, event: ev.Advanced) -> None:
    # A continued review has the decisions of the earlier one too.
    job.total = event.total
    job.done = event.done


JOB = JobType(
    "review",
    {ev.Advanced: _advance, ev.ReviewEvent: jobs.store_document(tables.Review)},
    jobs.has_document(tables.Review),
    _continue,
)

router = APIRouter(tags=["files"])
WAIT = jobs.wait_for("review_id", lambda session, number: find(session, number)[1])


@router.post("/replays/{replay_id}/reviews", status_code=201)
def request_review(db: Db, bell: Bell, once: Idempotent, replay_id: PathId, options: ReviewOptions) -> Review:
    """Queue a review that finds the decisions at which the agent lost. An earlier review is continued."""
    with once.write(db) as session:
        review, job = request(session, replay_id, options)
        bell.ring_after_commit(session, job)
        return once.store(session, to_schema(session, review, job))


@router.get("/replays/{replay_id}/reviews")
def list_reviews(db: Db, replay_id: PathId) -> list[Review]:
    """List the reviews of a replay: none or one."""
    with db.read() as session:
        return load(session, find_replay(session, replay_id))


@router.get("/reviews/{review_id}", dependencies=[WAIT])
def read_review(db: Db, review_id: PathId) -> Review:
    """Return a review, immediately or once it has ended."""
    with db.read() as session:
        return to_schema(session, *find(session, review_id))


@router.post("/reviews/{review_id}/cancel")
def cancel_review(db: Db, review_id: PathId) -> Review:
    """Stop a queued or running review. What it has found is kept and valid, and it can be continued."""
    with db.write() as session:
        review, job = find(session, review_id, lock=True)
        jobs.cancel(session, job)
        return to_schema(session, review, job)


@router.delete("/reviews/{review_id}", status_code=204)
def delete_review(db: Db, review_id: PathId) -> Response:
    """Delete a review with its practice. One in progress is canceled. The runs of a practice are kept."""
    with db.write() as session:
        review, job = find(session, review_id, lock=True)
        of_practice = select(tables.Practice.job_id).where(tables.Practice.replay_id == review.replay_id)
        for each in [job, *session.scalars(select(Job).where(Job.id.in_(of_practice)))]:
            jobs.remove(session, each)
    return Response(status_code=204)
