"""Reviews of replays and of kept games: a job finds the decisions at which points were lost, on request."""

from collections.abc import Sequence

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.checkpoints.availability import CheckpointChoice, find_chosen
from arcadia_backend.database import tables
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Checkpoint, Job, Replay, Run
from arcadia_backend.doorbell import Bell
from arcadia_backend.errors import Conflict, FieldError, Invalid
from arcadia_backend.job_kinds import kept_games
from arcadia_backend.job_kinds.result_routes import add_job_routes
from arcadia_backend.jobs import JobFields, document_job, find_with_job, job_fields, read_queue, row_of_job
from arcadia_backend.projects.service import require_editor
from arcadia_backend.replays.players import episode_of, find_player, read_track
from arcadia_backend.replays.service import find_replay
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, find_run, refuse_without_agent
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.jobs import ReviewParameters
from arcadia_workers.contract.review import ReviewDocument, ReviewOptions
from arcadia_workers.contract.tracks import Track
from arcadia_workers.contract.values import Id


class Review(JobFields, ReviewOptions):
    """A review of a replay or of a kept game, with what it has found so far.

    NaN and infinity are strings.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    id: int
    replay_id: int | None = Field(description="Null if it reviews a kept game.")
    kept_game_id: int | None = Field(description="Null if it reviews a replay.")
    run_id: int = Field(description="The run of the replay, or of the agent that reviews a kept game.")
    step: int = Field(description="The step of the checkpoint that played the replay, or that reviews a kept game.")
    document: ReviewDocument | None = Field(description="Null until the first decision has been simulated.")


class ReviewKeptGame(ReviewOptions):
    """The decisions to review, and the agent that plays on after each."""

    run_id: Id = Field(description="A run of the same environment.")
    checkpoint: CheckpointChoice | None = Field(
        default=None,
        description="An id, newest, best or an alias. By default the checkpoint of the earlier review, or the best.",
    )


def request(session: Session, replay_id: int, options: ReviewOptions) -> tuple[tables.Review, Job]:
    """Queue a review of a replay, or continue an earlier one with more decisions."""
    replay = find_replay(session, replay_id)
    run = find_run(session, replay.run_id, lock=True)
    # Read it again: it may have changed before the lock.
    replay = find_replay(session, replay_id, lock=True)
    refuse_without_agent(run, "review replays of")
    track = read_track(session, replay)
    _check(track)
    checkpoint = find_player(session, run, track)
    parameters = ReviewParameters(
        **options.model_dump(),
        **episode_of(track),
    )
    return _queue(session, run, checkpoint, parameters, options, len(track), replay_id=replay.id)


def request_of_kept_game(session: Session, kept_id: int, wanted: ReviewKeptGame) -> tuple[tables.Review, Job]:
    """Queue a review of a kept game by an agent, or continue an earlier one with more decisions."""
    kept = kept_games.find_kept(session, kept_id, whole=True)
    require_editor(session, "kept_games", kept.id)
    run = find_run(session, wanted.run_id, lock=True)
    require_editor(session, "runs", run.id)
    refuse_without_agent(run, "review a game with the agent of")
    actions = kept_games.actions_of(kept)
    if run.env != kept.env:
        message = f"run {run.id} plays {run.env}, and the kept game is of {kept.env}: choose a run of it"
        raise Invalid(FieldError(field="run_id", message=message))
    of_game = select(Job).join(tables.Review, tables.Review.job_id == Job.id)
    earlier = session.scalar(of_game.where(tables.Review.kept_game_id == kept.id, Job.run_id == run.id))
    choice = wanted.checkpoint or (earlier.checkpoint_id if earlier else None) or "best"
    checkpoint = find_chosen(session, run, choice, action="review a game")
    options = ReviewOptions.model_validate(wanted.model_dump(include=set(ReviewOptions.model_fields)))
    parameters = ReviewParameters(**options.model_dump(), seed=kept.seed, kept=actions)
    decisions = -(-kept.frames // ENVIRONMENTS[kept.env].frames_per_step)
    return _queue(session, run, checkpoint, parameters, options, decisions, kept_game_id=kept.id)


def _queue(
    session: Session,
    run: Run,
    checkpoint: Checkpoint,
    parameters: ReviewParameters,
    options: ReviewOptions,
    decisions: int,
    **reviewed: int,
) -> tuple[tables.Review, Job]:
    """Queue a review of a replay or of a kept game, which continues what an earlier one has found."""
    review = session.scalar(select(tables.Review).filter_by(**reviewed))
    earlier = session.get(Job, review.job_id) if review else None
    if earlier and earlier.state in jobs.UNFINISHED:
        noun = " ".join(f"{name.removesuffix('_id')} {number}".replace("_", " ") for name, number in reviewed.items())
        raise Conflict(f"A review of {noun} is in progress. Wait until it is done, or cancel it first.")
    known = review.document if review else None
    if known and known["horizon"] != options.horizon:
        message = f"the review so far looks {known['horizon']} decisions ahead: continue with that, or delete it first"
        raise Invalid(FieldError(field="horizon", message=message))
    if earlier and earlier.checkpoint_id != checkpoint.id:
        raise Conflict("Another agent has reviewed this game. Delete that review first.")
    jobs.check_room(session, run, "review")
    total = min(options.decisions, decisions) if options.every is None else -(-decisions // options.every)
    job = jobs.enqueue(session, run, checkpoint, "review", parameters, total)
    if review is None:
        review = tables.Review(**reviewed)
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


def replay_of(session: Session, review: tables.Review, *, lock: bool = False) -> Replay:
    """Return the replay of a review. Raise Conflict if it reviews a kept game."""
    if review.replay_id is None:
        raise Conflict("This review is of a game that a person played. Agents practice what they did: review a replay.")
    return find_replay(session, review.replay_id, lock=lock)


def load(session: Session, *reviewed: ColumnElement[bool]) -> list[Review]:
    """Return the reviews that a condition selects."""
    query = select(tables.Review, Job).join(Job, Job.id == tables.Review.job_id)
    rows = session.execute(query.where(*reviewed)).all()
    return _to_schemas(session, [(review, job) for review, job in rows])


def to_schema(session: Session, review: tables.Review, job: Job) -> Review:
    """Convert a review to its API schema."""
    return _to_schemas(session, [(review, job)])[0]


def delete(session: Session, review: tables.Review, job: Job) -> None:
    """Delete a review with its practice."""
    of_practice = select(tables.Practice.job_id).where(tables.Practice.replay_id == review.replay_id)
    for each in [job, *session.scalars(select(Job).where(Job.id.in_(of_practice)))]:
        jobs.remove(session, each)


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
                "kept_game_id": review.kept_game_id,
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


router = APIRouter(tags=["files"])
JOB = document_job("review", tables.Review, router, discard=_continue)
add_job_routes(
    JOB,
    Review,
    to_schema,
    cancel_text="Stop a queued or running review. What it has found is kept and valid, and it can be continued.",
    delete=delete,
    delete_text="Delete a review with its practice. One in progress is canceled. The runs of a practice are kept.",
)


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
        return load(session, tables.Review.replay_id == find_replay(session, replay_id).id)


@router.post("/kept-games/{kept_id}/reviews", status_code=201)
def review_kept_game(db: Db, bell: Bell, once: Idempotent, kept_id: PathId, wanted: ReviewKeptGame) -> Review:
    """Queue a review that finds the decisions at which a person lost points. An earlier review is continued."""
    with once.write(db) as session:
        review, job = request_of_kept_game(session, kept_id, wanted)
        bell.ring_after_commit(session, job)
        return once.store(session, to_schema(session, review, job))


@router.get("/kept-games/{kept_id}/reviews")
def list_reviews_of_kept_game(db: Db, kept_id: PathId) -> list[Review]:
    """List the reviews of a kept game: none or one."""
    with db.read() as session:
        return load(session, tables.Review.kept_game_id == kept_games.find_kept(session, kept_id).id)
